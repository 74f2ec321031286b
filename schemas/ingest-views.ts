/**
 * Views of the warehouse schema `ingest`. `live_*` have the rows of the runs on which the live data is based, and of those
 * that several runs added, the one that counts now.
 */
import { Schema } from "effect"
import { described, refersTo } from "./described.ts"
import { Cursor, LeftOut, OddValue, RawFile, Reject, Run, StoreReadRow, UnknownField } from "./ingest.ts"

const live = <S extends Schema.Top>(row: S, name: string, description: string): S["Rebuild"] =>
  row.annotate({ identifier: `ingest.live_${name}`, description })

export const LiveRun = live(
  Run,
  "run",
  "One row per run on which the live data is based: it published or found nothing new, and was not rolled back."
)
export const LiveRawFile = live(
  RawFile,
  "raw_file",
  "One row per payload, address and feed from which the live data was built, with the last run that read it."
)
export const LiveReject = live(
  Reject,
  "reject",
  "One row per payload, feed, position and reason: a payload row that the last reading of its payload rejected, in a run on which the live data is based."
)
export const LiveCursor = live(
  Cursor,
  "cursor",
  "One row per pipeline and feed: how far it has been read for the live data. The next run continues there."
)
export const LiveUnknownField = live(
  UnknownField,
  "unknown_field",
  "One row per pipeline, feed and field that the mapping does not read, with the first run that found it, of those on which the live data is based."
)
export const LiveOddValue = live(
  OddValue,
  "odd_value",
  "One row per pipeline, feed, kind, field and text (`said`) that was not understood, with the first run that found it, of those on which the live data is based."
)
export const LiveStoreRead = live(
  Schema.Struct({
    ...StoreReadRow.fields,
    store_id: refersTo("storefront.store.store_id", described.text("Store."))
  }),
  "store_read",
  "One row per run and store: a read of the store, including reads that failed, in a run on which the live data is based."
)
export const LiveLeftOut = live(
  LeftOut,
  "left_out",
  "One row per run and feed that the live data lacks: a feed or store of which the last reading was only in part, or that the last run or read could not read or did not trust."
)

export const TableConstraintRow = Schema.Struct({
  schema_name: described.text("Schema of the table or view."),
  table_name: described.text("Name of the table or view."),
  kind: described.oneOf(
    ["primary key", "unique", "foreign key"],
    "`primary key`: the columns identify a row and are never null; `unique`: they identify a row, and null counts as a value; `foreign key`: the values of the column, except null, occur in the referenced column."
  ),
  columns: described.list("The columns, in the order of the key; one for a foreign key."),
  referenced_table: described.textOrNull(
    "Schema and name of the referenced table, which may be in another file; null for a key."
  ),
  referenced_columns: Schema.NullOr(Schema.Array(Schema.Unknown)).annotate({
    description: "The referenced column, which is the whole key there; null for a key."
  })
}).annotate({
  identifier: "ingest.table_constraint",
  description:
    "One row per key and reference of each table and view in this file. DuckDB does not enforce them: a test of Larder does."
})

export type TableConstraintKind = (typeof TableConstraintRow.Type)["kind"]
