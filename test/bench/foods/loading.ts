/**
 * How fast releases become generations: JSON against `unzip` of the same file to nowhere, CSV against DuckDB reading the
 * same files into plain tables. Each pair in turns, each load into an empty home, all with warm files.
 */
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import path from "node:path"
import { rounded } from "../statistics.ts"
import { measureNotebook } from "./notebook.ts"
import { csvRelease, jsonRelease } from "./releases.ts"
import { bytesOf, megabytes, sizesOf } from "./sizes.ts"
import { middleOf, type Timed, timed, timedIngest, timedScript } from "./timed.ts"

const rounds = 3
/** Labels, over which the notebook is asked: more may not fit into its memory. */
const mostAsked = 500_000

const hasUnzip = spawnSync("unzip", ["-v"], { stdio: "ignore" }).status === 0
export const unzipper = hasUnzip ? "unzip -p" : "Node's zlib (there is no unzip here)"
const unpack = (zip: string) =>
  hasUnzip
    ? timed("unzip", () => spawn("unzip", ["-p", zip], { stdio: ["ignore", "ignore", "pipe"] }))
    : timedScript("inflate.ts", { zip })

/** Runs two subjects in turns. */
const inTurns = async <A extends Timed, B extends Timed>(first: () => Promise<A>, second: () => Promise<B>) => {
  const measured: [Array<A>, Array<B>] = [[], []]
  for (let round = 0; round < rounds; round++) {
    measured[0].push(await first())
    measured[1].push(await second())
  }
  return [middleOf(measured[0]), middleOf(measured[1])] as const
}

/** Each time into a new home, which is gone when the next one begins, save the last. */
const ingestInto = (home: string, file: string) => () => {
  rmSync(home, { recursive: true, force: true })
  return timedIngest(home, file)
}

export const measureJson = async (folder: string, foods: number) => {
  const release = await jsonRelease(folder, foods)
  const home = path.join(folder, "home")
  try {
    const [unzip, ingest] = await inTurns(() => unpack(release.zip), ingestInto(home, release.zip))
    return {
      foods: release.foods,
      "zip, MB": megabytes(bytesOf(release.zip)),
      "unzip, s": unzip.seconds,
      "published, s": ingest.seconds,
      "ended, s": ingest.whole,
      "published ÷ unzip": rounded(ingest.seconds / unzip.seconds, 2),
      "foods/s": Math.round(release.foods / ingest.seconds),
      "peak memory, MB": ingest.peak_mb
    }
  } finally {
    for (const left of [release.zip, home]) rmSync(left, { recursive: true, force: true })
  }
}

export const measureCsv = async (folder: string, labels: number) => {
  const release = await csvRelease(folder, labels)
  const home = path.join(folder, "home")
  const plain = path.join(folder, "plain")
  const database = path.join(plain, "plain.duckdb")
  let tablesBytes = 0
  const readTables = async () => {
    mkdirSync(plain)
    try {
      const read = await timedScript("plain-tables.ts", { folder: release.unpacked, database })
      tablesBytes = bytesOf(database)
      return read
    } finally {
      rmSync(plain, { recursive: true, force: true })
    }
  }
  try {
    const fromZip = await ingestInto(home, release.zip)()
    const [tables, ingest] = await inTurns(readTables, ingestInto(home, release.unpacked))
    return {
      times: {
        labels: release.foods,
        "files, MB": megabytes(bytesOf(release.unpacked)),
        "DuckDB read_csv, s": tables.seconds,
        "published, s": ingest.seconds,
        "ended, s": ingest.whole,
        "published ÷ DuckDB": rounded(ingest.seconds / tables.seconds, 2),
        "labels/s": Math.round(release.foods / ingest.seconds),
        "peak memory, MB": ingest.peak_mb,
        "from the zip, s": fromZip.whole
      },
      sizes: { labels: release.foods, "plain tables, MB": megabytes(tablesBytes), ...sizesOf(home) },
      notebook: labels <= mostAsked ? await measureNotebook(home) : undefined
    }
  } finally {
    for (const left of [release.unpacked, release.zip, home]) rmSync(left, { recursive: true, force: true })
  }
}
