/** Measures the questions of `examples/analysis.sql` over many labels, on several files compared with one file. */
import { rmSync } from "node:fs"
import path from "node:path"
import { start } from "../../support/programs.ts"
import { roundTo } from "../statistics.ts"
import type { Analysis, Warehouses } from "./analysis-session.ts"
import { measureProcess, runScript } from "./processes.ts"

const ingest = (home: string, args: ReadonlyArray<string>) =>
  measureProcess(`larder-ingest ${args.join(" ")}`, () => start("larder-ingest", args, { LARDER_HOME: home }))

/** Adds the bundled samples of the other data sets to a home with foods, and measures. */
export const measureAnalysis = async (home: string) => {
  for (const pipeline of ["commodities", "storefronts"]) await ingest(home, [pipeline])
  const warehouses: Warehouses = {
    catalogue: path.join(home, "warehouse", "larder.duckdb"),
    snapshot: path.join(home, "snapshot.duckdb")
  }
  try {
    await ingest(home, ["snapshot", "--to", warehouses.snapshot])
    return await runScript<Analysis>("analysis-session.ts", warehouses)
  } finally {
    rmSync(warehouses.snapshot, { force: true })
  }
}

export const printAnalysis = (labels: number, { peak_mb, times }: Analysis) => {
  console.log(`${times.length} questions of examples/analysis.sql over ${labels} labels, peak memory ${peak_mb} MB`)
  const rows = times.map(({ catalogue, question, snapshot }) => [
    question,
    {
      "larder.duckdb, ms": roundTo(catalogue),
      "one file, ms": roundTo(snapshot),
      ratio: roundTo(catalogue / snapshot, 2)
    }
  ])
  console.table(Object.fromEntries(rows))
}
