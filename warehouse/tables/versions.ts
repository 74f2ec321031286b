/**
 * Reads data that another version of Larder published. Data of an earlier version is read by column name: a missing
 * column is null in every row, and a missing table is empty. If tables differ in any other way, the meaning of their
 * rows is unknown, and the data set must be rebuilt from the raw archive. Data of a newer version is neither read nor
 * replaced: this version would lose the columns and tables that it does not define. Rows that another version of a mapping
 * made are read, but never published together with rows of this one.
 */
import { Effect, Schema } from "effect"
import { dataSets } from "../data-sets.ts"
import { DuckDb, identifier, literal, openError } from "../duckdb.ts"
import { type DataSetEntry, isLoaded, type Manifest } from "../generation/manifest.ts"
import { createUncommentedTables, definitionHash, qualifiedName } from "./dictionary.ts"
import { ingestVersion } from "./ingest-tables.ts"
import type { DataSet, Table } from "./tables.ts"

type Db = DuckDb["Service"]

/** A column that published tables lack, and that the next publication adds. */
export interface AddedColumn {
  readonly table: string
  readonly column: string
  readonly type: string
}

const rebuildAdvice = (pipeline: string) =>
  `Rebuild it from the raw archive with: npx larder-ingest rebuild ${pipeline}`

/** The published tables have other columns, in a way that no publication can repair. */
export class TablesDiffer extends Schema.TaggedError<TablesDiffer>()("TablesDiffer", {
  pipeline: Schema.String,
  differences: Schema.Array(Schema.String)
}) {
  override get message() {
    const shown = this.differences.slice(0, 3).join("; ")
    return `The live data of ${this.pipeline} was published by another version of Larder: ${shown}. This version can neither read it nor add to it. ${rebuildAdvice(this.pipeline)}`
  }
}

const selectColumns = (database: string, schema: string) => `
  select table_name as "table", column_name, column_index, data_type, is_nullable
  from duckdb_columns() semi join duckdb_tables() using (database_name, schema_name, table_name)
  where database_name = ${database} and schema_name = ${literal(schema)}`

const Difference = Schema.Struct({
  table: Schema.String,
  column_name: Schema.String,
  expected: Schema.NullOr(Schema.String),
  found: Schema.NullOr(Schema.String),
  /** The column comes after the existing ones and may be null, so the next publication adds it. */
  is_addable: Schema.Boolean
})

/** A table that the published database lacks is not a difference: the next publication creates it. */
const selectDifferences = (schema: string, published: string) => `
  with expected as (${selectColumns("current_database()", schema)}),
  found as (${selectColumns(literal(published), schema)}),
  counted as (select "table", count(*) as columns from found group by "table")
  select "table", column_name,
    expected.data_type || if(expected.is_nullable, '', ' not null') || ' at position ' || expected.column_index as expected,
    found.data_type || if(found.is_nullable, '', ' not null') || ' at position ' || found.column_index as found,
    coalesce(found.data_type is null and expected.is_nullable and expected.column_index > columns, false) as is_addable
  from expected full join found using ("table", column_name) join counted using ("table")
  where (expected.column_index, expected.data_type, expected.is_nullable)
    is distinct from (found.column_index, found.data_type, found.is_nullable)
  order by "table", coalesce(expected.column_index, found.column_index)`

/**
 * Columns that published tables lack. Fails if the tables differ in any other way. This version's tables are in the
 * session's own database, the published ones in the attached database `published`.
 */
export const columnsToAdd = Effect.fnUntraced(function* (db: Db, { about, schema }: DataSet, published: string) {
  const differing = yield* db.all(Difference, selectDifferences(schema, published))
  const others = differing.filter(({ is_addable }) => !is_addable)
  if (others.length > 0) {
    const differences = others.map(
      ({ column_name, expected, found, table }) =>
        `column ${schema}.${table}.${column_name} is ${found ?? "missing"} in the live data, but ${expected ?? "missing"} in this version`
    )
    return yield* new TablesDiffer({ pipeline: about.pipeline, differences })
  }
  return differing.map(({ column_name, expected, table }): AddedColumn => {
    return { table, column: column_name, type: expected?.replace(/ at position \d+$/, "") ?? "varchar" }
  })
})

const Name = Schema.Struct({ name: Schema.String })

/** Names of the tables of a schema in an attached database. */
export const listTables = Effect.fnUntraced(function* (db: Db, database: string, schema: string) {
  const tables = yield* db.all(
    Name,
    `select table_name as name from duckdb_tables()
     where database_name = ${literal(database)} and schema_name = ${literal(schema)}`
  )
  return new Set(tables.map(({ name }) => name))
})

const OwnColumn = Schema.Struct({ column: Schema.String, type: Schema.String })

/** All columns of a table that is not published yet. */
export const listOwnColumns = Effect.fnUntraced(function* (db: Db, { name, schema }: Table) {
  const columns = yield* db.all(
    OwnColumn,
    `select column_name as "column", data_type as type from duckdb_columns()
     where database_name = current_database() and (schema_name, table_name) = (${literal(schema)}, ${literal(name)})`
  )
  return columns.map((column): AddedColumn => ({ table: name, ...column }))
})

/** The select list for a published table: this version's columns, in their order. */
export const selectList = ({ name, record }: Table, added: ReadonlyArray<AddedColumn>) =>
  Object.keys(record.fields)
    .map((column) => {
      const missing = added.find((addition) => addition.table === name && addition.column === column)
      return missing === undefined ? identifier(column) : `null::${missing.type} as ${identifier(column)}`
    })
    .join(", ")

const published = "published"

/** Readers find rows by their `rowid`, which a view does not have by itself. */
const viewStatements = (table: Table, added: ReadonlyArray<AddedColumn>) => [
  `drop table ${qualifiedName(table)}`,
  `create view ${qualifiedName(table)} as select rowid, ${selectList(table, added)} from ${published}.${qualifiedName(table)}`
]

/** Presents a database of an earlier version in a session with this version's definitions. */
const showAsCurrent = Effect.fnUntraced(function* (db: Db, file: string, dataSet: DataSet) {
  yield* db.run(`set temp_directory = ${literal(`${file}.tmp`)}`) // DuckDB's own choice for a database file that it opens
  yield* db.run(`attach ${literal(file)} as ${published} (read_only)`).pipe(Effect.mapError(openError(file)))
  yield* createUncommentedTables(db, dataSet.tables)
  const added = yield* columnsToAdd(db, dataSet, published)
  const names = yield* listTables(db, published, dataSet.schema)
  const views = dataSet.tables.filter(({ name }) => names.has(name)).flatMap((table) => viewStatements(table, added))
  yield* db.run(["begin", ...views, ...dataSet.views.map(({ ddl }) => ddl), "commit"].join(";\n"))
})

type Published = Pick<DataSetEntry, "definition">

/** Whether a published database has other tables, views or comments than this version defines. */
export const hasOtherDefinition = (dataSet: DataSet, { definition }: Published) =>
  definition !== definitionHash(dataSet)

/** Opens a published database of this or an earlier version for reading. Files, network and settings are locked. */
export const openPublished = (file: string, dataSet: DataSet, entry: Published) =>
  hasOtherDefinition(dataSet, entry) ? DuckDb.views((db) => showAsCurrent(db, file, dataSet)) : DuckDb.readOnly(file)

/** Opens a published database of this or an earlier version to make files from it. */
export const openForFiles = (file: string, dataSet: DataSet, entry: Published) =>
  hasOtherDefinition(dataSet, entry)
    ? Effect.tap(DuckDb.memory, (db) => showAsCurrent(db, file, dataSet))
    : DuckDb.readOnlyWithFiles(file)

/** Tables were published by a newer version than this one. */
export class NewerDataSet extends Schema.TaggedError<NewerDataSet>()("NewerDataSet", {
  /** A pipeline, or the schema `ingest`, which all pipelines share. */
  subject: Schema.String,
  found: Schema.Int,
  supported: Schema.Int
}) {
  override get message() {
    return `${this.subject} was published with tables of version ${this.found}, and this version of Larder supports versions up to ${this.supported}. Update Larder on this machine, servers first.`
  }
}

const findNewerDataSet = ({ about, version }: Pick<DataSet, "about" | "version">, entry: DataSetEntry | undefined) =>
  isLoaded(entry) && entry.schema > version
    ? new NewerDataSet({ subject: about.pipeline, found: entry.schema, supported: version })
    : undefined

const findNewerIngest = (manifest: Manifest | undefined) =>
  manifest !== undefined && manifest.ingest.schema > ingestVersion
    ? new NewerDataSet({ subject: "schema ingest", found: manifest.ingest.schema, supported: ingestVersion })
    : undefined

/** Errors for the data sets of a generation, and for its schema `ingest`, that a newer version published. */
export const findNewer = (manifest: Manifest): ReadonlyArray<NewerDataSet> =>
  [
    ...dataSets.map((dataSet) => findNewerDataSet(dataSet, manifest.data_sets[dataSet.about.pipeline])),
    findNewerIngest(manifest)
  ].filter((newer) => newer !== undefined)

const failWith = (newer: NewerDataSet | undefined) => (newer === undefined ? Effect.void : Effect.fail(newer))

/** Fails if a newer version published this data set. */
export const requireKnown = (dataSet: DataSet, entry: DataSetEntry | undefined) =>
  failWith(findNewerDataSet(dataSet, entry))

/** Fails if a newer version wrote records: those of this version must not replace them. */
export const requireKnownIngest = (manifest: Manifest | undefined) => failWith(findNewerIngest(manifest))

/** Another version of the mapping made the live rows of a data set. */
export class OtherMapping extends Schema.TaggedError<OtherMapping>()("OtherMapping", {
  pipeline: Schema.String,
  found: Schema.Int,
  supported: Schema.Int,
  /** Why a run cannot rebuild the data set itself, in sentences. */
  obstacle: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    const versions = `The live data of ${this.pipeline} was made with version ${this.found} of its mapping. This version of Larder has version ${this.supported}, and never mixes values of two versions. Nothing was published.`
    if (this.found > this.supported) return `${versions} Update Larder on this machine.`
    return [versions, this.obstacle, rebuildAdvice(this.pipeline)].filter(Boolean).join(" ")
  }
}

const otherMapping = ({ about: { pipeline } }: Pick<DataSet, "about">, supported: number, entry: DataSetEntry) =>
  new OtherMapping({ pipeline, found: entry.mapping, supported })

/** Whether an earlier version of the mapping than this one made the live rows. */
export const hasOlderMapping = (entry: DataSetEntry | undefined, supported: number): entry is DataSetEntry =>
  isLoaded(entry) && entry.mapping < supported

/** Fails if a later version of the mapping made the live rows: this one must not replace them. */
export const requireNoNewerMapping = (
  dataSet: Pick<DataSet, "about">,
  supported: number,
  entry: DataSetEntry | undefined
) => (isLoaded(entry) && entry.mapping > supported ? Effect.fail(otherMapping(dataSet, supported, entry)) : Effect.void)

/** Fails if rows of this version of the mapping would be mixed with live rows of another one. */
export const requireMapping = (dataSet: Pick<DataSet, "about">, supported: number, entry: DataSetEntry | undefined) =>
  isLoaded(entry) && entry.mapping !== supported ? Effect.fail(otherMapping(dataSet, supported, entry)) : Effect.void
