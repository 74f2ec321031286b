/**
 * The tables of the warehouse. Each has an SQL file, a record that describes its columns, and a rule for merging a
 * run's rows into it. A data set is one schema; a pipeline publishes exactly one. Those of a data set are defined in
 * the folder of its schema, those of `ingest`, which all data sets share, in `ingest-tables.ts`.
 */
import { readFileSync } from "node:fs"
import type { Effect, FileSystem, Path, Schema } from "effect"
import type { Cell, DuckDb } from "../duckdb.ts"
import type { KnownStores } from "../storefronts/last-seen.ts"
import type { About } from "./about.ts"

/**
 * A table whose rows belong to rows of another table. It is merged by adding, directly after its owner. `of` is the SQL
 * condition under which a row `o` belongs to the owner's row `t`.
 */
export interface Owned {
  readonly table: Table
  readonly of: string
}

/** How the rows that a run staged are merged. */
export type Merge =
  /** Rows are only added. A row whose key exists already is not new. */
  | { readonly by: "adding"; readonly key: ReadonlyArray<string> }
  /**
   * A row replaces the row with the same key. It is new if it differs in any column except `run_id` and the `ignoring`
   * ones, or in the rows that it owns. The owned rows that are staged with it replace the earlier ones.
   */
  | {
      readonly by: "replacing"
      readonly key: ReadonlyArray<string>
      readonly ignoring?: ReadonlyArray<string>
      readonly owning?: Owned
    }
  /** The staged rows are the whole table. */
  | { readonly by: "replacing all" }
  /**
   * A row is combined with the live row of the same key. `completed` gives the value of a column, as SQL over the
   * staged row `s` and the live row `l`; without it, the staged value is used. The result is new if it differs from the
   * live row in any column except the `ignoring` ones. `key` is one whole number.
   */
  | {
      readonly by: "completing"
      readonly key: string
      readonly ignoring: ReadonlyArray<string>
      readonly completed: (column: string) => string | undefined
    }
  /** Never staged: rebuilt from the other tables whenever one of them has changed. */
  | { readonly by: "deriving"; readonly from: string }

export interface Table {
  readonly schema: string
  readonly name: string
  readonly record: Schema.Struct<Schema.Struct.Fields>
  readonly ddl: string
  readonly merge: Merge
  /** For tables whose rows stay: the column that dates a row. The lake splits large tables by its months. */
  readonly history?: string
}

export interface View {
  readonly schema: string
  readonly name: string
  /** Absent for macros, which have no columns of their own to describe. */
  readonly record?: Schema.Struct<Schema.Struct.Fields>
  readonly ddl: string
}

/** Sidecar files of a data set's database: published with it, and never changed. */
interface SidecarFiles {
  /** Writes them into a folder that does not exist yet. Nothing else uses the database meanwhile. */
  readonly build: (
    db: DuckDb["Service"],
    folder: string
  ) => Effect.Effect<void, Error, FileSystem.FileSystem | Path.Path>
}

export interface DataSet {
  readonly schema: string
  /** Increases whenever the definition of its tables or of its sidecar files changes. */
  readonly version: number
  readonly about: About
  readonly tables: ReadonlyArray<Table>
  /** Defined after the tables, in this order. */
  readonly views: ReadonlyArray<View>
  /** Views that also read `ingest`, because they depend on runs. Defined after the other views, in this order. */
  readonly viewsOverIngest?: ReadonlyArray<View>
  /** Sidecar files, made only from its database. */
  readonly files?: SidecarFiles
  /**
   * Statements for the staging file before its tables are merged, for a data set whose reads must be reconciled with
   * the live rows. No other run of the pipeline publishes meanwhile.
   */
  readonly reconcile?: (stores: KnownStores) => ReadonlyArray<string>
  /** Counts the payload rows behind the staged rows: all that were stated or, after the reduction, the new ones. */
  readonly countStatedRows: string
}

export const sqlOf = (schema: string, name: string) =>
  readFileSync(new URL(`./${schema}/${name}.sql`, import.meta.url), "utf8").trim()

export const table = (
  schema: string,
  name: string,
  record: Schema.Struct<Schema.Struct.Fields>,
  merge: Merge,
  history?: string
): Table => ({
  schema,
  name,
  record,
  ddl: sqlOf(schema, name),
  merge,
  ...(history === undefined ? {} : { history })
})
export const view = (schema: string, name: string, record?: Schema.Struct<Schema.Struct.Fields>): View => ({
  schema,
  name,
  ddl: sqlOf(schema, name),
  ...(record === undefined ? {} : { record })
})

/** All views of a data set, in the order in which they are defined. */
export const viewsOf = ({ views, viewsOverIngest = [] }: DataSet): ReadonlyArray<View> => [...views, ...viewsOverIngest]

export type Records = ReadonlyArray<Readonly<Record<string, Cell>>>

/**
 * Cells for the appender, in the order of the table's columns. A column that a record omits takes its value from
 * `otherwise`, or null.
 */
export const cellsOf = (
  table: Table,
  records: Records,
  otherwise: Records[number] = {}
): ReadonlyArray<ReadonlyArray<Cell>> => {
  const columns = Object.keys(table.record.fields)
  return records.map((record) => columns.map((column) => record[column] ?? otherwise[column] ?? null))
}
