/**
 * The tables of the warehouse. Each has an SQL file, a record that describes its columns, and a rule for merging a
 * run's rows into it. A data set is one schema; a pipeline publishes exactly one. Those of `ingest`, which all data sets
 * share, are here; those of a data set are in the folder of its schema.
 */
import { readFileSync } from "node:fs"
import {
  CheckResult,
  Cursor,
  DataSetRow,
  GenerationRow,
  LeftOut,
  RawFile,
  Reject,
  Run,
  StoreReadRow,
  UnknownField
} from "@larder/schemas/ingest.ts"
import type { Effect, FileSystem, Path, Schema } from "effect"
import type { Cell, DuckDb } from "../duckdb.ts"
import type { KnownStores } from "../storefronts/known.ts"
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
export interface FilesBeside {
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
  /**
   * Views that need `ingest` besides the tables, because they depend on runs. Defined after the other views, in order.
   */
  readonly viewsOverIngest?: ReadonlyArray<View>
  /** Sidecar files, made only from its database. */
  readonly files?: FilesBeside
  /**
   * Statements for the staging file before its tables are merged, for a data set whose reads must be reconciled with
   * the live rows. No other run of the pipeline publishes meanwhile.
   */
  readonly settle?: (stores: KnownStores) => ReadonlyArray<string>
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

/** Version of the tables of `ingest`. Increases whenever their definition changes. */
export const ingestVersion = 1

/** Written by the publisher itself: the records of the run. */
export const generationTable = table("ingest", "generation", GenerationRow, { by: "adding", key: ["generation"] })
export const runTable = table("ingest", "run", Run, { by: "adding", key: ["run_id"] })
export const checkResultTable = table("ingest", "check_result", CheckResult, { by: "adding", key: ["run_id", "name"] })
export const leftOutTable = table("ingest", "left_out", LeftOut, { by: "adding", key: ["run_id", "feed"] })
/** One row for each live data set, rewritten with each generation. */
export const dataSetTable = table("ingest", "data_set", DataSetRow, { by: "replacing", key: ["pipeline"] })

/** Tables that every pipeline adds to. */
export const rejectTable = table("ingest", "reject", Reject, {
  by: "adding",
  key: ["raw_sha256", "feed", "position", "reason"]
})
/**
 * A payload that is read again, with another mapping or with other payloads, keeps only the rejects of that reading.
 */
export const rawFileTable = table(
  "ingest",
  "raw_file",
  RawFile,
  {
    by: "replacing",
    key: ["raw_sha256", "url", "feed"],
    ignoring: ["fetched_at", "origin"],
    owning: {
      table: rejectTable,
      // a release also owns the rejects of its files
      of: "o.raw_sha256 = t.raw_sha256 and (o.feed = t.feed or starts_with(o.feed, t.feed || '/'))"
    }
  },
  "fetched_at"
)
export const cursorTable = table("ingest", "cursor", Cursor, { by: "replacing", key: ["pipeline", "feed"] })
export const unknownFieldTable = table("ingest", "unknown_field", UnknownField, {
  by: "adding",
  key: ["pipeline", "feed", "field"]
})

/**
 * What changes with every read of a store. It is not in the table of stores, which a read without news leaves
 * unchanged.
 */
export const storeReadTable = table(
  "ingest",
  "store_read",
  StoreReadRow,
  { by: "adding", key: ["run_id", "store_id"] },
  "read_at"
)

/** Tables of `ingest` that a run stages besides its data. */
export const stagedIngestTables = [rawFileTable, rejectTable, cursorTable, unknownFieldTable, storeReadTable] as const

/** Tables to which each generation adds its records. */
export const recordTables: ReadonlyArray<Table> = [
  generationTable,
  runTable,
  checkResultTable,
  leftOutTable,
  ...stagedIngestTables
]

/** Views of the records of runs that count for the live data. */
export const ingestViews: ReadonlyArray<View> = [
  view("ingest", "live_run", Run),
  view("ingest", "live_raw_file", RawFile),
  view("ingest", "live_reject", Reject),
  view("ingest", "live_cursor", Cursor),
  view("ingest", "live_unknown_field", UnknownField),
  view("ingest", "live_store_read", StoreReadRow)
]

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

/** The schema `ingest`, which all data sets share. */
export const ingestTables: ReadonlyArray<Table> = [...recordTables, dataSetTable]
