/** The tables of the schema `ingest`, which all data sets share: the records of every run. */
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
} from "@larder/schemas"
import { type Table, table, type View, view } from "./tables.ts"

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

/** Tables of `ingest` that a run stages with its data. */
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

/** All tables of the schema. */
export const ingestTables: ReadonlyArray<Table> = [...recordTables, dataSetTable]
