/**
 * Measures how fast releases become generations. JSON is compared with `unzip` of the same file to `/dev/null`, CSV with
 * DuckDB reading the same files into plain tables. Each pair runs alternately, each load into an empty home, with files in
 * the page cache. Against another checkout, both load the same releases in turns.
 */
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import path from "node:path"
import { type Both, describeBoth, mapBoth } from "../against.ts"
import { countRounds } from "../effort.ts"
import { roundTo } from "../statistics.ts"
import { describeRatios, describeRounds, takeTurns } from "../turns.ts"
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

/** Loads into a new home each time. The next load removes it; the last home stays. */
const ingestInto = (home: string, file: string, checkout?: string) => () => {
  rmSync(home, { recursive: true, force: true })
  return measureIngest(home, file, checkout)
}

/** Writes the same tables with DuckDB alone. Returns the size of the last ones. */
const makePlainTables = (folder: string, release: string) => {
  const plain = path.join(folder, "plain")
  const database = path.join(plain, "plain.duckdb")
  let bytes = 0
  const read = async () => {
    mkdirSync(plain)
    try {
      const cost = await measureScript("plain-tables.ts", { folder: release, database })
      bytes = measureBytes(database)
      return cost
    } finally {
      rmSync(plain, { recursive: true, force: true })
    }
  }
  return { read, getBytes: () => bytes }
}

export const measureJson = async (folder: string, foods: number) => {
  const release = await writeJsonRelease(folder, foods)
  const home = path.join(folder, "home")
  try {
    const measured = await takeTurns(rounds, {
      unzip: () => unpack(release.zip),
      ingest: ingestInto(home, release.zip)
    })
    const [unzip, ingest] = [combineRounds(measured.unzip), combineRounds(measured.ingest)]
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
  const plain = makePlainTables(folder, release.unpacked)
  try {
    const fromZip = await ingestInto(home, release.zip)()
    const measured = await takeTurns(rounds, {
      tables: plain.read,
      ingest: ingestInto(home, release.unpacked)
    })
    const [tables, ingest] = [combineRounds(measured.tables), combineRounds(measured.ingest)]
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
      sizes: { labels: release.foods, "plain tables, MB": toMegabytes(plain.getBytes()), ...measureSizes(home) },
      analysis: labels <= maxAnalysed ? await measureAnalysis(home) : undefined
    }
  } finally {
    for (const file of [release.unpacked, release.zip, home]) rmSync(file, { recursive: true, force: true })
  }
}

interface Loads {
  readonly title: string
  readonly file: string
  /** A program that only reads the file. */
  readonly reader: string
  readonly read: () => Promise<ProcessCost>
}

const compareLoads = async (folder: string, checkouts: Both<string>, { file, read, reader, title }: Loads) => {
  const home = path.join(folder, "home")
  try {
    const loads = await mapBoth(checkouts, async (checkout) => ingestInto(home, file, checkout))
    const measured = await takeTurns(countRounds(5), { read, ...loads })
    console.log(`\n${title}`)
    console.table({
      [reader]: describeRounds(measured.read),
      ...describeBoth(measured),
      [`this ÷ ${reader}`]: describeRatios(measured.this, measured.read)
    })
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

export const compareJson = async (folder: string, checkouts: Both<string>, size: number) => {
  const { foods, zip } = await writeJsonRelease(folder, size)
  try {
    const title = `JSON release of ${foods} foods until it is published`
    await compareLoads(folder, checkouts, { title, file: zip, reader: unzipName, read: () => unpack(zip) })
  } finally {
    rmSync(zip, { force: true })
  }
}

export const compareCsv = async (folder: string, checkouts: Both<string>, size: number) => {
  const { foods, unpacked, zip } = await writeCsvRelease(folder, size)
  try {
    const title = `CSV release of ${foods} labels until it is published`
    const { read } = makePlainTables(folder, unpacked)
    await compareLoads(folder, checkouts, { title, file: unpacked, reader: "DuckDB read_csv", read })
  } finally {
    for (const file of [unpacked, zip]) rmSync(file, { recursive: true, force: true })
  }
}
