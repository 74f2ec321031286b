/**
 * Measures how fast releases become generations. JSON is compared with `unzip` of the same file to `/dev/null`, CSV with
 * DuckDB reading the same files into plain tables. Each pair runs alternately, each load into an empty home, with files in
 * the page cache.
 */
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import path from "node:path"
import { countRounds } from "../effort.ts"
import { roundTo } from "../statistics.ts"
import { measureAnalysis } from "./analysis.ts"
import { combineRounds, measureIngest, measureProcess, measureScript, type ProcessCost } from "./processes.ts"
import { writeCsvRelease, writeJsonRelease } from "./releases.ts"
import { measureBytes, measureSizes, toMegabytes } from "./sizes.ts"

const rounds = countRounds(3)
/** Maximum labels for the analysis: more may not fit into its memory. */
const maxAnalysed = 500_000

const hasUnzip = spawnSync("unzip", ["-v"], { stdio: "ignore" }).status === 0
export const unzipName = hasUnzip ? "unzip -p" : "Node's zlib (there is no unzip here)"
const unpack = (zip: string) =>
  hasUnzip
    ? measureProcess("unzip", () => spawn("unzip", ["-p", zip], { stdio: ["ignore", "ignore", "pipe"] }))
    : measureScript("inflate.ts", { zip })

/** Runs two measurements alternately. */
const runAlternately = async <A extends ProcessCost, B extends ProcessCost>(
  first: () => Promise<A>,
  second: () => Promise<B>
) => {
  const measured: [Array<A>, Array<B>] = [[], []]
  for (let round = 0; round < rounds; round++) {
    measured[0].push(await first())
    measured[1].push(await second())
  }
  return [combineRounds(measured[0]), combineRounds(measured[1])] as const
}

/** Loads into a new home each time. The next load removes it; the last home stays. */
const ingestInto = (home: string, file: string) => () => {
  rmSync(home, { recursive: true, force: true })
  return measureIngest(home, file)
}

export const measureJson = async (folder: string, foods: number) => {
  const release = await writeJsonRelease(folder, foods)
  const home = path.join(folder, "home")
  try {
    const [unzip, ingest] = await runAlternately(() => unpack(release.zip), ingestInto(home, release.zip))
    return {
      foods: release.foods,
      "zip, MB": toMegabytes(measureBytes(release.zip)),
      "unzip, s": unzip.seconds,
      "published, s": ingest.seconds,
      "ended, s": ingest.ended,
      "published ÷ unzip": roundTo(ingest.seconds / unzip.seconds, 2),
      "foods/s": Math.round(release.foods / ingest.seconds),
      "peak memory, MB": ingest.peak_mb
    }
  } finally {
    for (const file of [release.zip, home]) rmSync(file, { recursive: true, force: true })
  }
}

export const measureCsv = async (folder: string, labels: number) => {
  const release = await writeCsvRelease(folder, labels)
  const home = path.join(folder, "home")
  const plain = path.join(folder, "plain")
  const database = path.join(plain, "plain.duckdb")
  let tablesBytes = 0
  const readTables = async () => {
    mkdirSync(plain)
    try {
      const read = await measureScript("plain-tables.ts", { folder: release.unpacked, database })
      tablesBytes = measureBytes(database)
      return read
    } finally {
      rmSync(plain, { recursive: true, force: true })
    }
  }
  try {
    const fromZip = await ingestInto(home, release.zip)()
    const [tables, ingest] = await runAlternately(readTables, ingestInto(home, release.unpacked))
    return {
      times: {
        labels: release.foods,
        "files, MB": toMegabytes(measureBytes(release.unpacked)),
        "DuckDB read_csv, s": tables.seconds,
        "published, s": ingest.seconds,
        "ended, s": ingest.ended,
        "published ÷ DuckDB": roundTo(ingest.seconds / tables.seconds, 2),
        "labels/s": Math.round(release.foods / ingest.seconds),
        "peak memory, MB": ingest.peak_mb,
        "from the zip, s": fromZip.ended
      },
      sizes: { labels: release.foods, "plain tables, MB": toMegabytes(tablesBytes), ...measureSizes(home) },
      analysis: labels <= maxAnalysed ? await measureAnalysis(home) : undefined
    }
  } finally {
    for (const file of [release.unpacked, release.zip, home]) rmSync(file, { recursive: true, force: true })
  }
}
