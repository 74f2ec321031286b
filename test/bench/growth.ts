/**
 * Measures how the CPU time of each step grows with the data: labels, products, keys and entries, each size ten times the
 * one before. Prints Markdown tables for docs/benchmarks.md. The smallest sizes are mostly the start of a program.
 */
import { rmSync } from "node:fs"
import { cpus } from "node:os"
import path from "node:path"
import { run } from "../support/programs.ts"
import { pricesRequest } from "./api.ts"
import { measurePages } from "./console.ts"
import { countRounds, isQuick } from "./effort.ts"
import { measureIngest, measureScript } from "./foods/processes.ts"
import { writeCsvRelease, writeJsonRelease } from "./foods/releases.ts"
import { databaseFile } from "./foods/sizes.ts"
import { type Costs, formatGrowth } from "./growth-table.ts"
import { fillRequestLog } from "./large-request-log.ts"
import { createFundedKey } from "./servers.ts"
import { makeLargeHome, measureStart, type Start } from "./start-up.ts"
import { median } from "./statistics.ts"
import { record } from "./storefronts/recordings.ts"
import { measureRun } from "./storefronts/run-cost.ts"
import { inTemporaryFolder } from "./temporary-folder.ts"
import { takeTurns } from "./turns.ts"

/** Runs several times, in turns with those of the other sizes. */
type Measure = (round: number) => Promise<Costs>

const combineRounds = (rounds: ReadonlyArray<Costs>): Costs =>
  Object.fromEntries(
    Object.keys(rounds[0] ?? {}).map((step) => [step, median(rounds.map((costs) => costs[step] ?? Number.NaN))])
  )

const measureGrowth = async (what: string, smallest: number, prepare: (size: number) => Promise<Measure>) => {
  const sizes = (isQuick ? [0.1, 1] : [1, 10, 100]).map((factor) => factor * smallest)
  const measurements: Record<string, Measure> = {}
  for (const size of sizes) measurements[size] = await prepare(size)
  const measured = await takeTurns<Record<string, Costs>>(countRounds(3), measurements)
  const costs = sizes.map((size) => combineRounds(measured[size] ?? []))
  console.log(`\n${formatGrowth(what, sizes, costs)}`)
}

const removeAll = (folders: ReadonlyArray<string>) => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}

const prepareLabels = (folder: string) => async (labels: number) => {
  const csv = await writeCsvRelease(folder, labels)
  const json = await writeJsonRelease(folder, labels)
  return async (): Promise<Costs> => {
    const [home, homeOfJson, rebuilt] = [`${folder}/csv`, `${folder}/json`, `${folder}/search`]
    try {
      const fromCsv = await measureIngest(home, csv.unpacked)
      const fromJson = await measureIngest(homeOfJson, json.zip)
      const database = databaseFile(home, "branded-foods")
      const search = await measureScript("search-files.ts", { folder: rebuilt, database })
      const key = await createFundedKey(home)
      const start = await measureStart({ home, key, request: "/v1/branded-foods?name=milk" })
      return {
        "run of a CSV release, s": fromCsv.cpu_seconds,
        "run of a JSON release, s": fromJson.cpu_seconds,
        "records and search alone, s": search.cpu_seconds,
        "start to the first search, s": start.cpu_seconds
      }
    } finally {
      removeAll([home, homeOfJson, rebuilt])
    }
  }
}

const prepareProducts = (folder: string) => async (products: number) => {
  const recordings = path.join(folder, `recordings-${products}`)
  await record({ folder: recordings, kind: "shopify", products })
  return async (): Promise<Costs> => {
    const home = path.join(folder, "stores")
    try {
      const { published, staged } = await measureRun(home, recordings)
      return { "until staged, s": staged.cpu_seconds, "until the end, s": published.cpu_seconds }
    } finally {
      removeAll([home])
    }
  }
}

const startLargeHome = (start: Start) => async (): Promise<Costs> => {
  const { cpu_seconds, resident_mb } = await measureStart(start)
  return { "start to the first charged response, s": cpu_seconds, "memory, MB": resident_mb }
}

/** With the same entries. */
const prepareKeys = (folder: string, prices: string) => async (keys: number) => {
  const home = path.join(folder, `keys-${keys}`)
  const size = { entries: isQuick ? 1_000 : 100_000, accounts: keys / 10, keysPerAccount: 10 }
  return startLargeHome({ home, key: await makeLargeHome(home, prices, size), request: pricesRequest })
}

/** With the same keys, which also call the same three endpoints each day. */
const prepareEntries = (folder: string, prices: string) => async (entries: number) => {
  const home = path.join(folder, `entries-${entries}`)
  const key = await makeLargeHome(home, prices, { entries, accounts: 10, keysPerAccount: 10 })
  await fillRequestLog(path.join(home, "ledger"))
  const start = startLargeHome({ home, key, request: pricesRequest })
  return async (round: number): Promise<Costs> => {
    const pages = Object.entries(await measurePages(home, key, `round-${round}@example.com`, {}))
    const times = pages.map(([page, { p50_ms }]) => [`console: ${page}, ms`, p50_ms])
    return { ...(await start()), ...Object.fromEntries(times) }
  }
}

export const measureGrowths = () =>
  inTemporaryFolder("growth", async (folder) => {
    console.log(`\nGrowth: CPU time, and time of the console's pages; ${cpus().length} cores, Node ${process.version}`)
    await measureGrowth("Labels", 4_500, prepareLabels(folder))
    await measureGrowth("Products of Shopify stores", 1_000, prepareProducts(folder))
    const prices = path.join(folder, "prices")
    await run("larder-ingest", ["commodities"], { LARDER_HOME: prices, LARDER_SOURCES: "sample" })
    await measureGrowth("Keys", 1_000, prepareKeys(folder, prices))
    await measureGrowth("Entries", 10_000, prepareEntries(folder, prices))
  })
