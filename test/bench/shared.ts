/**
 * What a generation costs those who share it: how much a machine pulls that follows, and how long the lake takes and how much it writes.
 * Of the bundled samples, of a release of foods, and of recorded stores, each published first and then read once more unchanged.
 */
import { existsSync, rmSync } from "node:fs"
import { cpus } from "node:os"
import path from "node:path"
import { type Environment, run } from "../support/programs.ts"
import { csvRelease } from "./foods/releases.ts"
import { bytesOf, megabytes } from "./foods/sizes.ts"
import { rounded } from "./statistics.ts"
import { record } from "./storefronts/recordings.ts"
import { inTemporaryFolder } from "./temporary-folder.ts"

const ran = async (args: ReadonlyArray<string>, environment: Environment) => {
  const startedAt = performance.now()
  const { code, stderr, stdout } = await run("larder-ingest", args, environment)
  if (code !== 0) throw new Error(`larder-ingest ${args.join(" ")} ended with ${code}:\n${stderr}`)
  return { seconds: (performance.now() - startedAt) / 1000, stdout }
}

const bytesIn = (folder: string) => (existsSync(folder) ? bytesOf(folder) : 0)

/** Each number is of one run: the lake is what a run with it takes longer than the run before it, which found nothing new either. */
const measureOne = async (folder: string, name: string, args: ReadonlyArray<string>) => {
  const [home, depot, follower] = ["home", "depot", "follower"].map((part) => path.join(folder, part)) as [
    string,
    string,
    string
  ]
  const publishing = { LARDER_HOME: home, LARDER_DEPOT: depot }
  const withLake = { ...publishing, LARDER_LAKE: "yes" }
  const lake = path.join(depot, "lake/data")
  const pull = async () => {
    const { stdout } = await ran(["pull", "--json"], { LARDER_HOME: follower, LARDER_DEPOT: depot })
    return (JSON.parse(stdout) as { readonly bytes: number }).bytes
  }
  try {
    const published = await ran(args, publishing)
    const first = await pull()
    const idle = await ran(args, publishing)
    const next = await pull()
    const made = await ran(args, withLake)
    const lakeBytes = bytesIn(lake)
    const again = await ran(args, withLake)
    return {
      what: name,
      "published, s": rounded(published.seconds),
      "pulled, MB": megabytes(first),
      "read again, s": rounded(idle.seconds),
      "pulled then, kB": Math.round(next / 1000),
      "lake made, s": rounded(made.seconds - idle.seconds),
      "lake, MB": megabytes(lakeBytes),
      "lake then, s": rounded(again.seconds - idle.seconds),
      "more of it, kB": Math.round((bytesIn(lake) - lakeBytes) / 1000)
    }
  } finally {
    for (const left of [home, depot, follower]) rmSync(left, { recursive: true, force: true })
  }
}

export const measureShared = async (foods: ReadonlyArray<number>, products: ReadonlyArray<number>) => {
  await inTemporaryFolder("shared", async (folder) => {
    console.log(`\nA depot and a lake: ${cpus().length} cores, Node ${process.version}`)
    const rows = [await measureOne(folder, "bundled samples", ["all"])]
    for (const labels of foods) {
      const release = await csvRelease(folder, labels)
      rows.push(await measureOne(folder, `${labels} labels`, ["branded-foods", "--file", release.unpacked]))
      for (const left of [release.unpacked, release.zip]) rmSync(left, { recursive: true, force: true })
    }
    for (const count of products) {
      const recordings = path.join(folder, "recordings")
      await record({ folder: recordings, kind: "shopify", products: count })
      rows.push(await measureOne(folder, `${count} products`, ["storefronts", "--replay", recordings]))
      rmSync(recordings, { recursive: true, force: true })
    }
    console.table(rows)
  })
}
