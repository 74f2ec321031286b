/**
 * The types of a table, a view and a data set, and the functions that define them. Each table has an SQL file, a record
 * that describes its columns, and a rule for merging a run's rows into it. A data set is one schema, published by one
 * pipeline, and is defined in the folder of its schema. `ingest-tables.ts` has the schema `ingest`, which all share.
 */
import { readFileSync } from "node:fs"
import type { Effect, FileSystem, Path, Schema } from "effect"
import type { Cell, DuckDb } from "../duckdb.ts"

type RowRecord = Schema.Struct<Schema.Struct.Fields>

/** A table whose rows belong to rows of another table. Its rows are only appended, directly after those of its owner. */
export interface OwnedTable {
  readonly table: Table
  /** The SQL condition under which a row `o` of this table belongs to the owner's row `t`. */
  readonly joinCondition: string
}

/** Columns that the statement `update` fills from other tables of the data set, after each merge. */
export interface DerivedColumns {
  readonly columns: ReadonlyArray<string>
  readonly update: string
}

/** How the rows that a run staged are merged, and the columns that identify a row. */
export type Merge =
  /** A row is added, unless its key exists. */
  | { readonly by: "append"; readonly key: ReadonlyArray<string> }
  /**
   * A row replaces the row with the same key. It is new if its owned rows differ, or any column except `run_id` and the
   * `ignoredColumns`. The owned rows that are staged with it replace the earlier ones.
   */
  | {
      readonly by: "replace"
      readonly key: ReadonlyArray<string>
      readonly ignoredColumns?: ReadonlyArray<string>
      readonly ownedTable?: OwnedTable
    }
  /** The staged rows are the whole table. What they say in the `derived` columns does not count. */
  | { readonly by: "replace all"; readonly key: ReadonlyArray<string>; readonly derived?: DerivedColumns }
  /**
   * A row is combined with the live row of the same key. `expressionFor` returns the SQL expression of a column, over
   * the staged row `s` and the live row `l`; if it returns none, the staged value is used. The result is new if any
   * column except the `ignoredColumns` differs from the live row. `key` is one whole number.
   */
  | {
      readonly by: "complete"
      readonly key: string
      readonly ignoredColumns: ReadonlyArray<string>
      readonly expressionFor: (column: string) => string | undefined
    }
  /** Never staged: rebuilt from the other tables whenever one of them has changed. */
  | { readonly by: "derive"; readonly key: ReadonlyArray<string>; readonly from: string }

export interface Table {
  readonly schema: string
  readonly name: string
  readonly record: RowRecord
  readonly ddl: string
  readonly merge: Merge
  /** The columns that identify a row, if they are not those of `merge`. */
  readonly key?: ReadonlyArray<string> | undefined
  /** For tables whose rows are never removed: their date. The lake partitions large tables by month of this column. */
  readonly dateColumn?: string | undefined
}

export interface View extends Pick<Table, "schema" | "name" | "ddl"> {
  /** Absent for macros, which have no columns of their own to describe. */
  readonly record?: RowRecord | undefined
  /** The columns that identify a row; absent for macros. */
  readonly key?: ReadonlyArray<string> | undefined
  /**
   * Whether the lake has the view as a table, because Delta has no views. Only for views that read nothing but their own
   * data set.
   */
  readonly isInLake?: boolean
}

/** Facts for `ingest.data_set`, in addition to those from runs and rows. */
export interface About {
  /** Pipeline that publishes the data set. */
  readonly pipeline: string
  readonly title: string
  readonly description: string
  /** Licence of rows from the source itself. */
  readonly licence: string
  readonly attribution: string
  /** Null if there are several, which are then in the data set's own tables. */
  readonly source_url: string | null
  /** The table with the newest day, of the data itself or of the reads in `ingest`, and that day as an SQL expression. */
  readonly newest: { readonly in: "data" | "reads"; readonly table: string; readonly day: string }
  /** Days after which a read of the source is late: twice the interval between its runs, so that one run may fail. */
  readonly late_after_days: number
}

/** Maps the name of a table to SQL: the table itself, or a query in its place. */
export type KnownTable = (table: string) => string

/** The live rows of a data set, with which its staged rows are reconciled. */
export interface KnownTables {
  /** Tables of the data set. */
  readonly known: KnownTable
  /** Tables of `ingest`, with the reads that the live rows come from. */
  readonly knownReads: KnownTable
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
  /** Sidecar files, made only from its database, published with it, and never changed. */
  readonly files?: {
    /** Writes them into a folder that does not exist yet. Nothing else uses the database in that time. */
    readonly build: (
      db: DuckDb["Service"],
      folder: string
    ) => Effect.Effect<void, Error, FileSystem.FileSystem | Path.Path>
  }
  /**
   * Statements for the staging file before its tables are merged, for a data set whose reads must be reconciled with
   * the live rows. No other run of the pipeline publishes at the same time.
   */
  readonly reconcile?: (live: KnownTables) => ReadonlyArray<string>
  /** Counts the source rows of the staged rows: before and after the known rows are removed. */
  readonly countSourceRows: string
}

/** The SQL of a file. `parts` are what its `{{names}}` stand for: SQL that several files share. */
export const readSql = (schema: string, name: string, parts: Readonly<Record<string, string>> = {}) =>
  readFileSync(new URL(`./${schema}/${name}.sql`, import.meta.url), "utf8")
    .trim()
    .replaceAll(/\{\{(\w+)\}\}/g, (_, part: string) => {
      const sql = parts[part]
      if (sql === undefined) throw new Error(`${schema}/${name}.sql names the part ${part}, which is not given`)
      return sql
    })

export const defineTable = (
  schema: string,
  name: string,
  record: RowRecord,
  merge: Merge,
  dateColumn?: string
): Table => ({ schema, name, record, ddl: readSql(schema, name), merge, dateColumn })

/** The columns that identify a row of a table or view. */
export const keyOf = (relation: Table | View): ReadonlyArray<string> =>
  relation.key ?? ("merge" in relation ? [relation.merge.key].flat() : [])

export const defineView = (
  schema: string,
  name: string,
  record: RowRecord,
  key: ReadonlyArray<string>,
  parts?: Readonly<Record<string, string>>
): View => ({
  schema,
  name,
  record,
  key,
  ddl: readSql(schema, name, parts)
})

export const inLake = (view: View): View => ({ ...view, isInLake: true })

export const defineMacro = (schema: string, name: string, parts?: Readonly<Record<string, string>>): View => ({
  schema,
  name,
  ddl: readSql(schema, name, parts)
})

/** All views of a data set, in the order in which they are defined. */
export const viewsOf = ({ views, viewsOverIngest = [] }: DataSet): ReadonlyArray<View> => [...views, ...viewsOverIngest]

export type RowValues = Readonly<Record<string, Cell>>

/** Cells for the appender, in the order of the table's columns. A column that a row omits gets its default, or null. */
export const toCells = (
  { record }: Table,
  rows: ReadonlyArray<RowValues>,
  defaults: RowValues = {}
): ReadonlyArray<ReadonlyArray<Cell>> => {
  const columns = Object.keys(record.fields)
  return rows.map((row) => columns.map((column) => row[column] ?? defaults[column] ?? null))
}
