/** The questions of `examples/analysis.sql` over so many labels: what they take over several files, against one file. */
import { rmSync } from "node:fs"
import path from "node:path"
import { start } from "../../support/programs.ts"
import { rounded } from "../statistics.ts"
import type { Asked, Warehouses } from "./notebook-session.ts"
import { answered, timed } from "./timed.ts"

const ran = (home: string, args: ReadonlyArray<string>) =>
  timed(`larder-ingest ${args.join(" ")}`, () => start("larder-ingest", args, { LARDER_HOME: home }))

/** In a home with foods. Its other data sets are the bundled samples. */
export const measureNotebook = async (home: string) => {
  for (const pipeline of ["commodities", "storefronts"]) await ran(home, [pipeline])
  const warehouses: Warehouses = {
    catalogue: path.join(home, "warehouse", "larder.duckdb"),
    snapshot: path.join(home, "snapshot.duckdb")
  }
  try {
    await ran(home, ["snapshot", "--to", warehouses.snapshot])
    return await answered<Asked>("notebook-session.ts", warehouses)
  } finally {
    rmSync(warehouses.snapshot, { force: true })
  }
}

export const printNotebook = (labels: number, { peak_mb, took }: Asked) => {
  console.log(`${took.length} questions of examples/analysis.sql over ${labels} labels, ${peak_mb} MB at most`)
  const rows = took.map(({ catalogue, question, snapshot }) => [
    question,
    {
      "larder.duckdb, ms": rounded(catalogue),
      "one file, ms": rounded(snapshot),
      ratio: rounded(catalogue / snapshot, 2)
    }
  ])
  console.table(Object.fromEntries(rows))
}
