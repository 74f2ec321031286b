/** The tables of the schema `ingest`, which all data sets share: the records of every run. */
import {
  CheckResult,
  Cursor,
  DataSetRow,
  GenerationRow,
  LeftOut,
  LiveCursor,
  LiveLeftOut,
  LiveOddValue,
  LiveRawFile,
  LiveReject,
  LiveRun,
  LiveStoreRead,
  LiveUnknownField,
  OddValue,
  RawFile,
  Reject,
  Run,
  StoreReadRow,
  UnknownField
} from "@larder/schemas"
import { defineTable, defineView, keyOf, type Merge, type Table, type View } from "./tables.ts"

/** Version of the tables of `ingest`. Increases whenever their definition changes. */
export const ingestVersion = 6

/** Written when a generation is published. */
export const generationTable = defineTable("ingest", "generation", GenerationRow, { by: "append", key: ["generation"] })
export const runTable = defineTable("ingest", "run", Run, { by: "append", key: ["run_id"] })
export const checkResultTable = defineTable("ingest", "check_result", CheckResult, {
  by: "append",
  key: ["run_id", "name"]
})
export const leftOutTable = defineTable("ingest", "left_out", LeftOut, { by: "append", key: ["run_id", "feed"] })
/** One row for each live data set, written again with each generation. */
export const dataSetTable = defineTable("ingest", "data_set", DataSetRow, { by: "replace", key: ["pipeline"] })

/**
 * Tables that every pipeline adds to. A run adds only rows that are not live, so `merge.key` identifies a row of the live
 * data, and together with the run a row of the table: a run after a rollback or with another mapping adds it again.
 */
const defineStaged = <M extends Merge & { readonly key: ReadonlyArray<string> }>(
  name: string,
  record: Table["record"],
  merge: M,
  dateColumn?: string
) => {
  const key = [...new Set(["run_id", ...merge.key])].filter((column) => column !== "pipeline") // a run has one
  return { ...defineTable("ingest", name, record, merge, dateColumn), merge, key }
}

export const rejectTable = defineStaged("reject", Reject, {
  by: "append",
  key: ["raw_sha256", "feed", "position", "reason"]
})
/** If a payload is read again, with another mapping or with other payloads, only the new rejects are kept. */
export const rawFileTable = defineStaged(
  "raw_file",
  RawFile,
  {
    by: "replace",
    key: ["raw_sha256", "url", "feed"],
    ignoredColumns: ["fetched_at", "origin"],
    ownedTable: {
      table: rejectTable,
      // a release also owns the rejects of its files
      joinCondition: "o.raw_sha256 = t.raw_sha256 and (o.feed = t.feed or starts_with(o.feed, t.feed || '/'))"
    }
  },
  "fetched_at"
)
export const cursorTable = defineStaged("cursor", Cursor, { by: "replace", key: ["pipeline", "feed"] })
export const unknownFieldTable = defineStaged("unknown_field", UnknownField, {
  by: "append",
  key: ["pipeline", "feed", "field"]
})

/** Each text is kept once, with the run that found it first. */
export const oddValueTable = defineStaged("odd_value", OddValue, {
  by: "append",
  key: ["pipeline", "feed", "kind", "field", "said"]
})

/** Values that change with every read of a store. The table of stores stays unchanged if a read finds nothing new. */
export const storeReadTable = defineStaged(
  "store_read",
  StoreReadRow,
  { by: "append", key: ["run_id", "store_id"] },
  "read_at"
)

/** Tables of `ingest` that a run stages with its data. */
export const stagedIngestTables = [
  rawFileTable,
  rejectTable,
  cursorTable,
  unknownFieldTable,
  oddValueTable,
  storeReadTable
] as const

/** Tables to which each generation adds its records. */
export const recordTables: ReadonlyArray<Table> = [
  generationTable,
  runTable,
  checkResultTable,
  leftOutTable,
  ...stagedIngestTables
]

/** Records of the runs from which the live data descends. */
export const ingestViews: ReadonlyArray<View> = [
  defineView("ingest", "live_run", LiveRun, keyOf(runTable)),
  defineView("ingest", "live_raw_file", LiveRawFile, rawFileTable.merge.key),
  defineView("ingest", "live_reject", LiveReject, rejectTable.merge.key),
  defineView("ingest", "live_cursor", LiveCursor, cursorTable.merge.key),
  defineView("ingest", "live_unknown_field", LiveUnknownField, unknownFieldTable.merge.key),
  defineView("ingest", "live_odd_value", LiveOddValue, oddValueTable.merge.key),
  defineView("ingest", "live_store_read", LiveStoreRead, storeReadTable.merge.key),
  defineView("ingest", "live_left_out", LiveLeftOut, keyOf(leftOutTable))
]

/** All tables of the schema. */
export const ingestTables: ReadonlyArray<Table> = [...recordTables, dataSetTable]
