/** Payload rows that were refused, as the live generation has them. */
import { Reject } from "@larder/schemas/ingest.ts"
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import { pageOf } from "./data-page.ts"

/** How much of a payload row is shown. */
export const shownOfPayload = 1000
const { payload: _, ...rejectFields } = Reject.fields
const RejectRow = Schema.Struct({
  row: Schema.Int,
  ...rejectFields,
  payload: Schema.String,
  payload_length: Schema.Int
})
/** Rejects name what they are of: the feed, or a part of it, such as the file `gov-fdc/csv/food.csv` of `gov-fdc/csv`. */
export const isOfFeed = (rejects: string, feed: string) =>
  `(${rejects} = ${feed} or starts_with(${rejects}, ${feed} || '/'))`
/** Rows of a generation never move, so the place in its table is where a page ended. The newest run's stand last. */
const rejectsBefore = `
  select rowid::integer as row, pipeline, feed, run_id, raw_sha256, position::integer as position, reason,
    left(payload, ${shownOfPayload}) as payload, length(payload)::integer as payload_length
  from ingest.reject
  where ($before::integer is null or rowid < $before)
    and ($pipeline::varchar is null or pipeline = $pipeline)
    and ($feed::varchar is null or ${isOfFeed("feed", "$feed")})
    and ($run_id::varchar is null or run_id = $run_id)
    and ($reason::varchar is null or reason = $reason)
  order by rowid desc
  limit $limit`
const RejectGroup = Schema.Struct({
  pipeline: Schema.String,
  reason: Schema.String,
  feeds: Schema.Int,
  rejects: Schema.Int
})
/** How many reasons are listed; a reason may name a value, so there can be as many as rows. */
export const shownReasons = 20
const rejectGroups = `
  select pipeline, reason, count(distinct feed)::integer as feeds, count(*)::integer as rejects
  from ingest.reject
  where ($pipeline::varchar is null or pipeline = $pipeline)
  group by pipeline, reason
  order by rejects desc, pipeline, reason
  limit ${shownReasons}`

export interface RejectsWanted {
  readonly pipeline: string | undefined
  readonly feed: string | undefined
  readonly run_id: string | undefined
  readonly reason: string | undefined
  readonly before: number | undefined
  readonly limit: number
}
export type ShownReject = typeof RejectRow.Type

export const rejects = (db: DuckDb["Service"], wanted: RejectsWanted) => {
  const { before = null, feed = null, limit, pipeline = null, reason = null, run_id = null } = wanted
  const params = { before, feed, pipeline, reason, run_id, limit: limit + 1 }
  return Effect.map(db.all(RejectRow, rejectsBefore, params), (rows) => pageOf(rows, limit))
}

export const reasonsOfRejects = (db: DuckDb["Service"], pipeline: string | undefined) =>
  db.all(RejectGroup, rejectGroups, { pipeline: pipeline ?? null })
