/**
 * Reads every row of every table and view of DuckDB files: `node read-all.ts PACKAGE FILE…`. This is a separate
 * program because a process can load only one version of DuckDB.
 */
import type { DuckDBInstance } from "duckdb-1.4"

const [driver = "", ...files] = process.argv.slice(2)
const { DuckDBInstance: Instance }: { readonly DuckDBInstance: typeof DuckDBInstance } = await import(driver)
const db = await (await Instance.create(":memory:")).connect()
const rows = async (sql: string) => (await db.runAndReadAll(sql)).getRows()

const read: Record<string, Record<string, number>> = {}
for (const file of files) {
  const counts: Record<string, number> = {}
  await db.run(`attach '${file.replaceAll("'", "''")}' as larder (read_only)`)
  await db.run("use larder")
  const names = await rows(`
    select schema_name || '.' || table_name as name from duckdb_tables() where database_name = 'larder'
    union all
    select schema_name || '.' || view_name from duckdb_views() where database_name = 'larder' and not internal
    order by name`)
  for (const [name] of names) {
    const [[count] = []] = await rows(`select count(hash(r))::integer from ${name} r`)
    counts[String(name)] = Number(count)
  }
  await db.run("use memory")
  await db.run("detach larder")
  read[file] = counts
}
const [[version] = []] = await rows("select version()")
console.log(JSON.stringify({ version, read }))
