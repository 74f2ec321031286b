/**
 * Measures shared depots and lakes: the bytes that a machine pulls, the time until the last of four servers serves a
 * generation, the time and size of the lake, and queries in several engines. Each source (the bundled samples, a release
 * of foods, recorded stores) is published, and then read once more without changes.
 */
import { existsSync, rmSync } from "node:fs"
import { cpus } from "node:os"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { addGeneration } from "../support/more-generations.ts"
import { type Environment, type Server, start, startServer, waitForExit } from "../support/programs.ts"
import { writeCsvRelease } from "./foods/releases.ts"
import { databaseFile, measureBytes, readPublishedAt, toMegabytes } from "./foods/sizes.ts"
import { measureEngines } from "./lake-engines.ts"
import { roundTo } from "./statistics.ts"
import { record } from "./storefronts/recordings.ts"
import { inTemporaryFolder } from "./temporary-folder.ts"

const ingest = async (args: ReadonlyArray<string>, environment: Environment) => {
  const startedAt = performance.now()
  const { code, stderr, stdout } = await waitForExit(start("larder-ingest", args, environment)) // `run` would use a process without optimisation
  if (code !== 0) throw new Error(`larder-ingest ${args.join(" ")} exited with ${code}:\n${stderr}`)
  return { seconds: (performance.now() - startedAt) / 1000, stdout }
}

const measureIfPresent = (folder: string) => (existsSync(folder) ? measureBytes(folder) : 0)

const fetchServed = async ({ console }: Server): Promise<unknown> => {
  const ready = (await (await fetch(`${console}/readyz`)).json()) as { readonly generation: string }
  return ready.generation
}

/** Four servers with separate homes follow the depot. Returns the seconds from the manifest until the last one serves it. */
const measureFollowing = async (folder: string, depot: string, publish: () => Promise<unknown>) => {
  const homes = [1, 2, 3, 4].map((number) => path.join(folder, `server-${number}`))
  const servers = await Promise.all(homes.map((home) => startServer(home, { LARDER_DEPOT: depot })))
  try {
    const before = await Promise.all(servers.map(fetchServed))
    const failure = new AbortController()
    const serving = servers.map(async (server, index) => {
      while (!failure.signal.aborted && (await fetchServed(server)) === before[index]) await setTimeout(50)
      return Date.now()
    })
    await publish().catch((error) => {
      failure.abort()
      throw error
    })
    return (Math.max(...(await Promise.all(serving))) - readPublishedAt(depot)) / 1000
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    for (const home of homes) rmSync(home, { recursive: true, force: true })
  }
}

interface Source {
  readonly name: string
  readonly args: ReadonlyArray<string>
  /** Whether it includes all data sets: then the servers follow one more day of prices. Otherwise they follow this source. */
  readonly hasAllDataSets?: true
}

/** Each number comes from one run. The time of the lake is the difference to a run without it; both found nothing new. */
const measureSource = async (folder: string, { args, hasAllDataSets, name }: Source) => {
  const [home, depot, puller] = ["home", "depot", "puller"].map((part) => path.join(folder, part)) as [
    string,
    string,
    string
  ]
  const publishing = { LARDER_HOME: home, LARDER_DEPOT: depot }
  const withLake = { ...publishing, LARDER_LAKE: "yes" }
  const lake = path.join(depot, "lake")
  const pull = async () => {
    const { stdout } = await ingest(["pull", "--json"], { LARDER_HOME: puller, LARDER_DEPOT: depot })
    return (JSON.parse(stdout) as { readonly bytes: number }).bytes
  }
  try {
    let published = 0
    const publish = async () => {
      published = (await ingest(args, publishing)).seconds
    }
    if (hasAllDataSets) await publish()
    else await ingest(["commodities"], publishing)
    if (!hasAllDataSets) await pull()
    const servedSeconds = await measureFollowing(folder, depot, async () => {
      if (hasAllDataSets) await addGeneration(home, ["2026-09-30"], publishing)
      else await publish()
    })
    const pulled = await pull()
    const unchanged = await ingest(args, publishing)
    const pulledUnchanged = await pull()
    const firstWithLake = await ingest(args, withLake)
    const lakeBytes = measureIfPresent(lake)
    const nextWithLake = await ingest(args, withLake)
    const lakeGrowth = measureIfPresent(lake) - lakeBytes
    if (args[0] === "branded-foods") await measureEngines(lake, databaseFile(home, "branded-foods"))
    return {
      source: name,
      "published, s": roundTo(published),
      "served by the last, s": roundTo(servedSeconds),
      "pulled, MB": toMegabytes(pulled),
      "read again, s": roundTo(unchanged.seconds),
      "pulled after it, kB": Math.round(pulledUnchanged / 1000),
      "lake created, s": roundTo(firstWithLake.seconds - unchanged.seconds),
      "lake, MB": toMegabytes(lakeBytes),
      "lake updated, s": roundTo(nextWithLake.seconds - unchanged.seconds),
      "lake growth, kB": Math.round(lakeGrowth / 1000)
    }
  } finally {
    for (const folder of [home, depot, puller]) rmSync(folder, { recursive: true, force: true })
  }
}

export const measureShared = async (foods: ReadonlyArray<number>, products: ReadonlyArray<number>) => {
  await inTemporaryFolder("shared", async (folder) => {
    console.log(`\nA depot and a lake: ${cpus().length} cores, Node ${process.version}`)
    const rows = [await measureSource(folder, { name: "bundled samples", args: ["all"], hasAllDataSets: true })]
    for (const labels of foods) {
      const release = await writeCsvRelease(folder, labels)
      const args = ["branded-foods", "--file", release.unpacked]
      rows.push(await measureSource(folder, { name: `${labels} labels`, args }))
      for (const file of [release.unpacked, release.zip]) rmSync(file, { recursive: true, force: true })
    }
    for (const count of products) {
      const recordings = path.join(folder, "recordings")
      await record({ folder: recordings, kind: "shopify", products: count })
      rows.push(
        await measureSource(folder, { name: `${count} products`, args: ["storefronts", "--replay", recordings] })
      )
      rmSync(recordings, { recursive: true, force: true })
    }
    console.table(rows)
  })
}
