/** Measures two queries over the foods of a lake in several engines, and in DuckDB over the database file. */
import { isDeepStrictEqual } from "node:util"
import { downloadSparkJars, installPython } from "../lake/engines.ts"
import { isInstalled, runCommand } from "../support/tools.ts"
import { roundTo } from "./statistics.ts"

/** Title, engine and the packages with it. */
const engines = [
  ["DuckDB, one file", "file", "duckdb-polars"],
  ["DuckDB, the lake", "delta", "duckdb-polars"],
  ["Polars", "polars", "duckdb-polars"],
  ["ClickHouse", "clickhouse", "clickhouse"],
  ["Spark", "spark", "spark"]
] as const

type Results = Readonly<Record<string, { readonly seconds: number; readonly rows: ReadonlyArray<unknown> }>>

const listMissing = (engine: string) =>
  (engine === "spark" ? ["python3", "java", "mvn"] : ["python3"]).filter((program) => !isInstalled(program))

/** Prints a table, and the engines that cannot run here. All others must return the same rows. */
export const measureEngines = async (lake: string, file: string) => {
  const seconds: Array<Readonly<Record<string, string | number>>> = []
  let first: ReadonlyArray<unknown> | undefined
  for (const [name, engine, packages] of engines) {
    const missing = listMissing(engine)
    if (missing.length > 0) {
      console.log(`${name} is left out: ${missing.join(" and ")} cannot be run here.`)
      continue
    }
    const environment = engine === "spark" ? { LAKE_JARS: await downloadSparkJars() } : {}
    const program = new URL("lake-engines.py", import.meta.url).pathname
    const output = await runCommand([await installPython(packages), program, engine, lake, file], lake, environment)
    const results: Results = JSON.parse(output)
    const rows = Object.values(results).map((result) => result.rows)
    first ??= rows
    if (!isDeepStrictEqual(rows, first))
      throw new Error(`${name} returns different rows:\n${JSON.stringify([first, rows])}`)
    const times = Object.entries(results).map(([query, result]) => [`${query}, s`, roundTo(result.seconds, 2)] as const)
    seconds.push({ engine: name, ...Object.fromEntries(times) })
  }
  console.table(seconds)
}
