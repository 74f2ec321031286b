/** How long engines take over the foods of a lake, beside DuckDB over the file that people open. */
import { isDeepStrictEqual } from "node:util"
import { downloadSparkJars, installPython } from "../lake/engines.ts"
import { done, isInstalled } from "../support/tools.ts"
import { rounded } from "./statistics.ts"

/** With the packages that each is in. */
const engines = [
  ["DuckDB, one file", "file", "duckdb-polars"],
  ["DuckDB, the DuckLake", "ducklake", "duckdb-polars"],
  ["Polars", "polars", "duckdb-polars"],
  ["ClickHouse", "clickhouse", "clickhouse"],
  ["Spark", "spark", "spark"]
] as const

type Answers = Readonly<Record<string, { readonly seconds: number; readonly rows: ReadonlyArray<unknown> }>>

const missing = (engine: string) =>
  (engine === "spark" ? ["python3", "java", "mvn"] : ["python3"]).filter((program) => !isInstalled(program))

/** Prints a table, and says which engines are left out. All others must give the same rows. */
export const measureEngines = async (lake: string, file: string) => {
  const seconds: Array<Readonly<Record<string, string | number>>> = []
  let first: ReadonlyArray<unknown> | undefined
  for (const [name, engine, packages] of engines) {
    const lacks = missing(engine)
    if (lacks.length > 0) {
      console.log(`${name} is left out: ${lacks.join(" and ")} cannot be run here.`)
      continue
    }
    const environment = engine === "spark" ? { LAKE_JARS: await downloadSparkJars() } : {}
    const program = new URL("lake-engines.py", import.meta.url).pathname
    const answered = await done([await installPython(packages), program, engine, lake, file], lake, environment)
    const answers: Answers = JSON.parse(answered)
    const rows = Object.values(answers).map((answer) => answer.rows)
    first ??= rows
    if (!isDeepStrictEqual(rows, first)) throw new Error(`${name} answers otherwise:\n${JSON.stringify([first, rows])}`)
    const times = Object.entries(answers).map(([query, answer]) => [`${query}, s`, rounded(answer.seconds, 2)] as const)
    seconds.push({ engine: name, ...Object.fromEntries(times) })
  }
  console.table(seconds)
}
