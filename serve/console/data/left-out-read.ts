/** Queries of what is missing from the live data: feeds that are left out, and texts that were not understood. */
import { LeftOut, OddValue } from "@larder/schemas"
import { type DuckDb, dropEnded, type FreshnessRow, timestampColumn } from "@larder/warehouse"
import { Effect, Schema } from "effect"

const LeftOutRow = Schema.Struct({ ...LeftOut.fields, started_at: Schema.String })
export type LeftOutRow = typeof LeftOutRow.Type

/** The parts that are missing come first. */
const leftOut = `
  select run_id, pipeline, feed, kind, reason, ${timestampColumn("started_at")}
  from ingest.live_left_out join ingest.run using (run_id, pipeline)
  order by kind <> 'partial', pipeline, feed, run_id`

const latestOddValues = `
  select pipeline, feed, kind, field, said, rows::integer as rows, run_id from ingest.live_odd_value
  order by run_id desc, pipeline, feed, kind, field, said
  limit 100`

/** Without feeds and stores that no run reads any more, by the rows of `ingest.freshness`. */
export const readLeftOut = (db: DuckDb["Service"], freshness: ReadonlyArray<FreshnessRow>) =>
  Effect.map(db.all(LeftOutRow, leftOut), (rows) => dropEnded(rows, freshness))
export const readOddValues = (db: DuckDb["Service"]) => db.all(Schema.Struct({ ...OddValue.fields }), latestOddValues)
