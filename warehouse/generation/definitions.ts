/**
 * Whether the live generation was built with the same definitions. Both databases are open: the staging file, which this
 * version has just defined, and the live generation, attached as `live`.
 */
import { Effect, Schema } from "effect"
import { sampleMark } from "../data-sets.ts"
import { type DuckDb, literal } from "../duckdb.ts"
import { type DataSet, tablesOf, viewsOf } from "../tables.ts"

type Db = DuckDb["Service"]

/** The live generation has a table of ours with other columns. There is no migration: the warehouse is built anew. */
export class TablesDiffer extends Schema.TaggedError<TablesDiffer>()("TablesDiffer", {
  file: Schema.String,
  differences: Schema.Array(Schema.String)
}) {
  override get message() {
    const shown = this.differences.slice(0, 3).join("; ")
    return `${this.file} was built by another version of Larder: ${shown}. Nothing was published, and the file is as it was. Move its folder aside and run again: a first run reads everything anew.`
  }
}

const columnsOf = (database: string) => `
  select schema_name || '.' || table_name as "table", column_name, column_index || ': ' || data_type || if(is_nullable, '', ' not null') as definition
  from duckdb_columns() semi join duckdb_tables() using (database_name, schema_name, table_name)
  where database_name = ${database}`

const Difference = Schema.Struct({
  table: Schema.String,
  column_name: Schema.String,
  wanted: Schema.NullOr(Schema.String),
  found: Schema.NullOr(Schema.String)
})

/** Fails where a table of the data set, or of `ingest`, has other columns in the live generation. */
export const requireSameTables = Effect.fnUntraced(function* (db: Db, dataSet: DataSet, liveFile: string) {
  const names = tablesOf(dataSet).map(({ name, schema }) => literal(`${schema}.${name}`))
  const differences = yield* db.all(
    Difference,
    `with wanted as (${columnsOf("current_database()")}), found as (${columnsOf("'live'")})
     select "table", column_name, wanted.definition as wanted, found.definition as found
     from wanted full join found using ("table", column_name)
     where wanted.definition is distinct from found.definition
       and "table" in (${names.join(", ")}) and "table" in (select "table" from found)
     order by all`
  )
  if (differences.length === 0) return
  return yield* new TablesDiffer({
    file: liveFile,
    differences: differences.map(
      ({ column_name, found, table, wanted }) =>
        `column ${table}.${column_name} is ${found ?? "missing"} there, and ${wanted ?? "missing"} here`
    )
  })
})

/** What a comment says of samples is of the generation, not of the definition. */
const comment = `replace(comment, ${literal(sampleMark)}, '') as comment`

const macros = (ours: string) => `
  union all select database_name, schema_name, function_name, null, macro_definition, ${comment}
    from duckdb_functions() where ${ours}`

/** Each is listed once for both databases. DuckDB lists the thousands of functions that it brings along, too, in 20 ms. */
const definitions = (schemas: string, hasMacros: boolean) => {
  const ours = `database_name in (current_database(), 'live') and schema_name in (${schemas})`
  return `
  select database_name, schema_name, table_name as name, column_name as part, data_type as definition, ${comment}
    from duckdb_columns() where ${ours}
  union all select database_name, schema_name, table_name, null, 'table', ${comment} from duckdb_tables() where ${ours}
  union all select database_name, schema_name, view_name, null, sql, ${comment} from duckdb_views() where ${ours}
  ${hasMacros ? macros(ours) : ""}`
}

/** Whether this version defines a table, a view or a comment that the live generation does not have. */
export const haveDefinitionsChanged = Effect.fnUntraced(function* (db: Db, dataSet: DataSet) {
  const schemas = ["ingest", dataSet.schema].map(literal).join(", ")
  const hasMacros = viewsOf(dataSet).some(({ record }) => record === undefined)
  const changed = yield* db.rows(
    `with defined as materialized (${definitions(schemas, hasMacros)})
     select * exclude (database_name) from defined where database_name <> 'live'
     except select * exclude (database_name) from defined where database_name = 'live'
     limit 1`
  )
  return changed.length > 0
})
