/** Queries of what is missing from the live data: feeds that are left out, and texts that were not understood. */
import { LeftOut, OddValue } from "@larder/schemas"
import { type DuckDb, timestampColumn } from "@larder/warehouse"
import { Schema } from "effect"

const LeftOutRow = Schema.Struct({ ...LeftOut.fields, started_at: Schema.String })
export type LeftOutRow = typeof LeftOutRow.Type

/** A store list may have hundreds of stores that cannot be reached. The parts that are missing come first. */
export const maxLeftOut = 100
const leftOut = `
  select run_id, pipeline, feed, kind, reason, ${timestampColumn("started_at")}
  from ingest.live_left_out join ingest.run using (run_id, pipeline)
  order by kind <> 'partial', pipeline, feed, run_id
  limit ${maxLeftOut}`

const LeftOutCount = Schema.Struct({ pipeline: Schema.String, feeds: Schema.Int })
export type LeftOutCount = typeof LeftOutCount.Type
const leftOutCounts = `
  select pipeline, count(distinct feed)::integer as feeds from ingest.live_left_out group by pipeline order by pipeline`

const latestOddValues = `
  select pipeline, feed, kind, field, said, rows::integer as rows, run_id from ingest.live_odd_value
  order by run_id desc, pipeline, feed, kind, field, said
  limit 100`

export const readLeftOut = (db: DuckDb["Service"]) => db.all(LeftOutRow, leftOut)
/** The number of feeds of each pipeline that are left out, all or in part. */
export const readLeftOutCounts = (db: DuckDb["Service"]) => db.all(LeftOutCount, leftOutCounts)
export const readOddValues = (db: DuckDb["Service"]) => db.all(Schema.Struct({ ...OddValue.fields }), latestOddValues)
