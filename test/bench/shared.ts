/**
 * What a generation costs those who share it: how much a machine pulls, when the last of four servers serves it, how long the lake takes and
 * how much it writes, and how long engines take over it. Of the bundled samples, of a release of foods, and of recorded stores, each
 * published first and then read once more unchanged.
 */
import { existsSync, rmSync } from "node:fs"
import { cpus } from "node:os"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { addGeneration } from "../support/more-generations.ts"
import { type Environment, type Server, start, startServer, waitForExit } from "../support/programs.ts"
import { csvRelease } from "./foods/releases.ts"
import { bytesOf, databaseOf, megabytes, publishedAt } from "./foods/sizes.ts"
import { measureEngines } from "./lake-engines.ts"
import { rounded } from "./statistics.ts"
import { record } from "./storefronts/recordings.ts"
import { inTemporaryFolder } from "./temporary-folder.ts"

const ran = async (args: ReadonlyArray<string>, environment: Environment) => {
  const startedAt = performance.now()
  const { code, stderr, stdout } = await waitForExit(start("larder-ingest", args, environment)) // `run` would use the tests' process, without optimisation
  if (code !== 0) throw new Error(`larder-ingest ${args.join(" ")} ended with ${code}:\n${stderr}`)
  return { seconds: (performance.now() - startedAt) / 1000, stdout }
}

const bytesIn = (folder: string) => (existsSync(folder) ? bytesOf(folder) : 0)

const servedBy = async ({ console }: Server): Promise<unknown> => {
  const ready = (await (await fetch(`${console}/readyz`)).json()) as { readonly generation: string }
  return ready.generation
}

/** Four servers with homes of their own follow the depot: seconds from the manifest of what is published until the last of them serves it. */
const followed = async (folder: string, depot: string, publish: () => Promise<unknown>) => {
  const homes = [1, 2, 3, 4].map((number) => path.join(folder, `server-${number}`))
  const servers = await Promise.all(homes.map((home) => startServer(home, { LARDER_DEPOT: depot })))
  try {
    const before = await Promise.all(servers.map(servedBy))
    const isOver = new AbortController()
    const serving = servers.map(async (server, at) => {
      while (!isOver.signal.aborted && (await servedBy(server)) === before[at]) await setTimeout(50)
      return Date.now()
    })
    await publish().catch((error) => {
      isOver.abort()
      throw error
    })
    return (Math.max(...(await Promise.all(serving))) - publishedAt(depot)) / 1000
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    for (const home of homes) rmSync(home, { recursive: true, force: true })
  }
}

interface Source {
  readonly name: string
  readonly args: ReadonlyArray<string>
  /** Servers that follow have commodities, and then this; where it is everything, they have that, and then one more day of prices. */
  readonly isEverything?: true
}

/** Each number is of one run: the lake is what a run with it takes longer than the run before it, which found nothing new either. */
const measureOne = async (folder: string, { args, isEverything, name }: Source) => {
  const [home, depot, puller] = ["home", "depot", "puller"].map((part) => path.join(folder, part)) as [
    string,
    string,
    string
  ]
  const publishing = { LARDER_HOME: home, LARDER_DEPOT: depot }
  const withLake = { ...publishing, LARDER_LAKE: "yes" }
  const lake = path.join(depot, "lake")
  const pull = async () => {
    const { stdout } = await ran(["pull", "--json"], { LARDER_HOME: puller, LARDER_DEPOT: depot })
    return (JSON.parse(stdout) as { readonly bytes: number }).bytes
  }
  try {
    let published = 0
    const publish = async () => {
      published = (await ran(args, publishing)).seconds
    }
    if (isEverything) await publish()
    else await ran(["commodities"], publishing)
    if (!isEverything) await pull()
    const servedAfter = await followed(folder, depot, async () => {
      if (isEverything) await addGeneration(home, ["2026-09-30"], publishing)
      else await publish()
    })
    const first = await pull()
    const idle = await ran(args, publishing)
    const next = await pull()
    const made = await ran(args, withLake)
    const lakeBytes = bytesIn(path.join(lake, "data"))
    const again = await ran(args, withLake)
    const more = bytesIn(path.join(lake, "data")) - lakeBytes
    if (args[0] === "branded-foods") await measureEngines(lake, databaseOf(home, "branded-foods"))
    return {
      what: name,
      "published, s": rounded(published),
      "served by the last, s": rounded(servedAfter),
      "pulled, MB": megabytes(first),
      "read again, s": rounded(idle.seconds),
      "pulled then, kB": Math.round(next / 1000),
      "lake made, s": rounded(made.seconds - idle.seconds),
      "lake, MB": megabytes(lakeBytes),
      "lake then, s": rounded(again.seconds - idle.seconds),
      "more of it, kB": Math.round(more / 1000)
    }
  } finally {
    for (const left of [home, depot, puller]) rmSync(left, { recursive: true, force: true })
  }
}

export const measureShared = async (foods: ReadonlyArray<number>, products: ReadonlyArray<number>) => {
  await inTemporaryFolder("shared", async (folder) => {
    console.log(`\nA depot and a lake: ${cpus().length} cores, Node ${process.version}`)
    const rows = [await measureOne(folder, { name: "bundled samples", args: ["all"], isEverything: true })]
    for (const labels of foods) {
      const release = await csvRelease(folder, labels)
      const args = ["branded-foods", "--file", release.unpacked]
      rows.push(await measureOne(folder, { name: `${labels} labels`, args }))
      for (const left of [release.unpacked, release.zip]) rmSync(left, { recursive: true, force: true })
    }
    for (const count of products) {
      const recordings = path.join(folder, "recordings")
      await record({ folder: recordings, kind: "shopify", products: count })
      rows.push(await measureOne(folder, { name: `${count} products`, args: ["storefronts", "--replay", recordings] }))
      rmSync(recordings, { recursive: true, force: true })
    }
    console.table(rows)
  })
}
