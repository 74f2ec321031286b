/**
 * Columns that a version of Larder added to tables which warehouses already had, and columns of such tables that may be null since
 * then. A publication changes its copy of an older generation; every other difference between tables still means that the
 * warehouse is built anew.
 */
import { Effect, Schema } from "effect"
import { DuckDb, identifier, literal } from "./duckdb.ts"
import { metricTable, rawFileTable, runTable, type Table } from "./tables.ts"

interface AddedColumn {
  readonly table: Pick<Table, "schema" | "name">
  readonly column: string
  readonly type: string
  /** What rows from before have there: an expression over the row `t`, never null. */
  readonly value: string
}

/** Of metrics from before there was a column of it: a row of `commodity.metric` that is called `t`. */
export const earlierLicence = "case t.market_level when 'exchange_spot' then 'cme_group' else 'public_domain' end"

/** The oldest first: a warehouse may lack several columns of a table, and new ones come last. */
export const addedColumns: ReadonlyArray<AddedColumn> = [
  {
    table: rawFileTable,
    column: "origin",
    type: "varchar",
    value: "(select origin from ingest.run where run_id = t.run_id)"
  },
  { table: metricTable, column: "licence", type: "varchar", value: earlierLicence }
]

/** Counts of runs: those of a run that failed are not known. */
const nullable = ["rows_read", "rows_loaded", "rows_unchanged", "rows_rejected"]

const Missing = Schema.Struct({ position: Schema.Int })

const missing = `
  with added (position, schema_name, table_name, column_name) as (
    values ${addedColumns
      .map(({ column, table }, index) => `(${[String(index), ...[table.schema, table.name, column].map(literal)]})`)
      .join(", ")}
  )
  select position::integer as position
  from added
  semi join (from duckdb_tables() where database_name = 'live') t using (schema_name, table_name)
  anti join (from duckdb_columns() where database_name = 'live') c using (schema_name, table_name, column_name)
  order by position`

const Strict = Schema.Struct({ column_name: Schema.String })

const strict = `
  select column_name from duckdb_columns()
  where database_name = 'live' and schema_name = ${literal(runTable.schema)} and table_name = ${literal(runTable.name)}
    and not is_nullable and column_name in (${nullable.map(literal).join(", ")})`

const relax = ({ column_name }: typeof Strict.Type) =>
  `alter table ${identifier(runTable.schema)}.${identifier(runTable.name)} alter column ${identifier(column_name)} drop not null`

const statementsFor = ({ column, table, type, value }: AddedColumn): ReadonlyArray<string> => {
  const name = `${identifier(table.schema)}.${identifier(table.name)}`
  return [
    `alter table ${name} add column ${identifier(column)} ${type}`,
    `update ${name} t set ${identifier(column)} = ${value}`,
    `alter table ${name} alter column ${identifier(column)} set not null`
  ]
}

/** What gives a copy of the generation that is attached as `live` the columns of this version; nothing where it has them. */
export const columnChanges = Effect.fnUntraced(function* (db: DuckDb["Service"]) {
  const lacking = (yield* db.all(Missing, missing)).flatMap(({ position }) => addedColumns[position] ?? [])
  return [...lacking.flatMap(statementsFor), ...(yield* db.all(Strict, strict)).map(relax)]
})

/** Makes them in that copy. */
export const changeColumns = Effect.fnUntraced(function* (file: string, statements: ReadonlyArray<string>) {
  const db = yield* DuckDb.readWrite(file)
  yield* Effect.forEach(statements, (sql) => db.run(sql), { discard: true })
  yield* db.run("checkpoint")
}, Effect.scoped)
