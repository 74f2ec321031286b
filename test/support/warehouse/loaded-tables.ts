/**
 * The tables and views of a warehouse, with their comments, keys and references. Each view is read once, into a table under
 * its name: most of them take longer than all queries of a test over the tables.
 */
import path from "node:path"
import { DuckDb, identifier, literal } from "@larder/warehouse"
import { Effect } from "effect"

export interface Constraint {
  readonly schema_name: string
  readonly table_name: string
  readonly kind: string
  readonly columns: ReadonlyArray<string>
  readonly referenced_table: string | null
  readonly referenced_columns: ReadonlyArray<string> | null
}
export interface Relation {
  readonly name: string
  readonly comment: string
  readonly columns: ReadonlyArray<{ readonly column: string; readonly type: string; readonly comment: string }>
}

export const quoteName = (name: string) => name.split(".").map(identifier).join(".")

const selectRelations = (schemas: ReadonlyArray<string>) => `
  select c.schema_name || '.' || table_name as name, any_value(v.comment) as comment,
    list({'column': column_name, 'type': data_type, 'comment': c.comment} order by column_index) as columns
  from duckdb_columns() c
  join duckdb_views() v on (c.database_name, c.schema_name, c.table_name) = (v.database_name, v.schema_name, view_name)
  where c.database_name = 'larder' and not v.internal and c.schema_name in (${schemas.map(literal).join(", ")})
  group by all order by name`

/** Attaches the `larder.duckdb` of a home, and loads these schemas. `larder` stays attached. */
export const loadTables = Effect.fnUntraced(function* (home: string, schemas: ReadonlyArray<string>) {
  const db = yield* DuckDb.memory
  const file = path.join(home, "warehouse/larder.duckdb")
  yield* db.run(`attach ${literal(file)} as larder (read_only); use larder`)
  const constraints = (yield* db.rows("from ingest.table_constraint")) as unknown as ReadonlyArray<Constraint>
  const relations = (yield* db.rows(selectRelations(schemas))) as unknown as ReadonlyArray<Relation>
  const here = new Set(relations.map(({ name }) => name))
  yield* db.run(schemas.map((schema) => `create schema memory.${identifier(schema)}`).join("; "))
  for (const name of here) yield* db.run(`create table memory.${quoteName(name)} as from ${quoteName(name)}`)
  yield* db.run("use memory")
  return { db, constraints: constraints.filter((one) => here.has(nameOfTable(one))), relations }
})

export const nameOfTable = ({ schema_name, table_name }: Constraint) => `${schema_name}.${table_name}`

const listColumns = (columns: ReadonlyArray<string>) => columns.map(identifier).join(", ")

/** Queries for a row that contradicts a constraint. */
const violationQueries = (constraint: Constraint): ReadonlyArray<string> => {
  const { columns, kind, referenced_columns, referenced_table } = constraint
  const name = quoteName(nameOfTable(constraint))
  const key = listColumns(columns)
  if (kind === "foreign key") {
    const referenced = `select ${listColumns(referenced_columns ?? [])} from ${quoteName(referenced_table ?? "")}`
    return [`select ${key} from ${name} where ${key} is not null and ${key} not in (${referenced}) limit 1`]
  }
  const duplicate = `select ${key} from ${name} group by ${key} having count(*) > 1 limit 1`
  const isNull = columns.map((column) => `${identifier(column)} is null`).join(" or ")
  return kind === "unique" ? [duplicate] : [duplicate, `select ${key} from ${name} where ${isNull} limit 1`]
}

/** Rows that contradict a constraint, each with the query that found it. References to tables that are not loaded are left out. */
export const findViolations = Effect.fnUntraced(function* ({
  constraints,
  db,
  relations
}: Effect.Success<ReturnType<typeof loadTables>>) {
  const here = new Set(relations.map(({ name }) => name))
  const checked = constraints.filter((one) => one.referenced_table === null || here.has(one.referenced_table))
  const found = []
  for (const query of checked.flatMap(violationQueries)) {
    for (const row of yield* db.rows(query)) found.push({ query, row })
  }
  return { checked: checked.length, found }
})

/** The same for some schemas of a home, such as after a rollback. */
export const findViolationsIn = (home: string, ...schemas: ReadonlyArray<string>) =>
  Effect.runPromise(loadTables(home, schemas).pipe(Effect.flatMap(findViolations), Effect.scoped))
