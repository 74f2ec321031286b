/**
 * Views of the warehouse schema `ingest`. `live_*` have the rows of the runs on which the live data is based, and of those
 * that several runs added, the one that counts now.
 */
import { Schema } from "effect"
import { described, refersTo } from "./described.ts"
import { Cursor, LeftOut, OddValue, RawFile, Reject, Run, StoreReadRow, UnknownField } from "./ingest.ts"

const live = <S extends Schema.Top>(row: S, name: string, description: string): S["Rebuild"] =>
  row.annotate({ identifier: `ingest.live_${name}`, description })

/** The fields of a row, with a reference to the run as the view has it. */
const withRun = <F extends Schema.Struct.Fields>(fields: F, description: string) => ({
  ...fields,
  run_id: refersTo("ingest.live_run.run_id", described.text(description))
})

/** Every run of the view has read everything, so that these numbers are known. */
const counts = {
  rows_read: described.integer("Payload rows that were read: the sum of loaded, unchanged and rejected."),
  rows_loaded: described.integer("Payload rows with something new."),
  rows_unchanged: described.integer(
    "Payload rows with nothing new: already known, without a value, or of a metric that is not in the catalog."
  ),
  rows_rejected: described.integer("Payload rows that could not be read; each is in `ingest.reject`.")
}

export const LiveRun = live(
  Schema.Struct({
    ...Run.fields,
    ...counts,
    run_id: refersTo("ingest.run.run_id", Run.fields.run_id),
    outcome: described.oneOf(
      ["published", "unchanged", "partial"],
      "`published`: everything was read and new rows went live; `unchanged`: no row was new; `partial`: feeds were left out, all or in part (`ingest.left_out`), and the rest was published. Runs with another outcome are not in this view."
    ),
    rolled_back_by: Schema.NullOr(Schema.String).annotate({
      description: "Always null: a run that was rolled back is not in this view."
    })
  }),
  "run",
  "One row per run on which the live data is based: it published or found nothing new, and was not rolled back."
)
export const LiveRawFile = live(
  Schema.Struct(withRun(RawFile.fields, "Last run that read the payload, of those on which the live data is based.")),
  "raw_file",
  "One row per payload, address and feed from which the live data was built, with the last run that read it."
)
export const LiveReject = live(
  Schema.Struct(withRun(Reject.fields, "Run that recorded the reject, of those on which the live data is based.")),
  "reject",
  "One row per payload, feed, position and reason: a payload row that the last reading of its payload rejected, in a run on which the live data is based."
)
export const LiveCursor = live(
  Schema.Struct(withRun(Cursor.fields, "Last run that read the feed, of those on which the live data is based.")),
  "cursor",
  "One row per pipeline and feed: how far it has been read for the live data. The next run continues there."
)
export const LiveUnknownField = live(
  Schema.Struct(
    withRun(UnknownField.fields, "First run that found the field, of those on which the live data is based.")
  ),
  "unknown_field",
  "One row per pipeline, feed and field that the mapping does not read, with the first run that found it, of those on which the live data is based."
)
export const LiveOddValue = live(
  Schema.Struct(withRun(OddValue.fields, "First run that found the text, of those on which the live data is based.")),
  "odd_value",
  "One row per pipeline, feed, kind, field and text (`said`) that was not understood, with the first run that found it, of those on which the live data is based."
)
export const LiveStoreRead = live(
  Schema.Struct({
    ...withRun(StoreReadRow.fields, "Run that read the store, of those on which the live data is based."),
    store_id: refersTo("storefront.store.store_id", described.text("Store."))
  }),
  "store_read",
  "One row per run and store: a read of the store, including reads that failed, in a run on which the live data is based."
)
export const LiveLeftOut = live(
  Schema.Struct(
    withRun(LeftOut.fields, "Run that left the feed or store out, of those on which the live data is based.")
  ),
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
