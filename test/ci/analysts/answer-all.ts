/**
 * Answers each question of `examples/analysis.sql`: `node answer-all.ts PACKAGE FILE`. This is a separate program because a
 * process can load only one version of DuckDB.
 */
import type { DuckDBInstance } from "duckdb-1.4"
import { questions } from "../../support/analysis-questions.ts"

const [driver = "", file = ""] = process.argv.slice(2)
const { DuckDBInstance: Instance }: { readonly DuckDBInstance: typeof DuckDBInstance } = await import(driver)
const db = await (await Instance.create(":memory:")).connect()
await db.run(`attach '${file.replaceAll("'", "''")}' as larder (read_only)`)
await db.run("use larder")

const answers: Record<string, unknown> = {}
for (const [number, sql] of questions) {
  const statement = await db.prepare(sql)
  answers[number] = (await statement.runAndReadAll()).getRowObjectsJson()
  statement.destroySync()
}
const [[version] = []] = (await db.runAndReadAll("select version()")).getRows()
console.log(JSON.stringify({ version, answers }))
