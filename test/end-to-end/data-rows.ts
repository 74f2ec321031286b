/** All rows of the data sets of a home, so that a test can say that a run changed none, or which. */
import { dataSets } from "@larder/warehouse/tables.ts"
import { query } from "./ingesting.ts"

const tables = dataSets.flatMap((dataSet) => dataSet.tables.map(({ name, schema }) => `${schema}.${name}`))

/** Of each table that the home has, the hashes of its rows, in an order of their own. */
export const dataRowsOf = async (home: string): Promise<ReadonlyMap<string, ReadonlyArray<string>>> => {
  const [found = []] = await query(
    home,
    "select schema_name || '.' || view_name as name from duckdb_views() where database_name = 'larder'"
  )
  const there = tables.filter((table) => found.some(({ name }) => name === table))
  const rows = await query(home, ...there.map((table) => `select md5(t::varchar) as row from ${table} t order by row`))
  return new Map(there.map((table, index) => [table, (rows[index] ?? []).map(({ row }) => String(row))]))
}

type DataRows = Awaited<ReturnType<typeof dataRowsOf>>

/** Rows that are new or gone, by their table; a row that changed is both. */
export const changesBetween = (before: DataRows, now: DataRows): Readonly<Record<string, ReadonlyArray<string>>> => {
  const changes = [...now].flatMap(([table, rows]) => {
    const [had, has] = [new Set(before.get(table)), new Set(rows)]
    const changed = [
      ...rows.filter((row) => !had.has(row)).map((row) => `+ ${row}`),
      ...[...had].filter((row) => !has.has(row)).map((row) => `- ${row}`)
    ]
    const isLonger = rows.length !== (before.get(table)?.length ?? 0)
    return changed.length > 0 || isLonger ? [[table, changed] as const] : []
  })
  return Object.fromEntries(changes)
}
