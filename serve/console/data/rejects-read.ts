/** Rejected payload rows. */
import { Reject } from "@larder/schemas"
import type { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { pageOf } from "./rows.ts"

/** Characters of a payload row that are shown. */
export const shownOfPayload = 1000
const { payload: _, ...rejectFields } = Reject.fields
const RejectRow = Schema.Struct({
  place: Schema.String,
  ...rejectFields,
  payload: Schema.String,
  payload_length: Schema.Int
})
/** A reject names its feed or a part of it, such as the file `gov-fdc/csv/food.csv` of `gov-fdc/csv`. */
export const isOfFeed = (rejects: string, feed: string) =>
  `(${rejects} = ${feed} or starts_with(${rejects}, ${feed} || '/'))`
/** A reason with its values, the words with digits, replaced by `…`: a thousand duplicate rows have one reason. */
const kindOf = (reason: string) => `regexp_replace(${reason}, '\\S*\\d[^\\s,;:]*', '…', 'g')`
/**
 * Across all runs only live rejects are shown, not those of a payload that was read again or of a run that was rolled
 * back.
 */
const counts = `
  ($run_id::varchar is not null or (run_id, raw_sha256, feed, position, reason) in (
    select (run_id, raw_sha256, feed, position, reason) from ingest.live_reject
  ))`
/**
 * The cursor of a page. It identifies a row by its content, not by its location, because a rebuild writes the rejects
 * of its runs again.
 */
export const placeForm = /^larder-\d+ \S+ \d{15} [0-9a-f]{32}$/
const rejectsBefore = `
  with placed as (
    select reject.*, concat_ws(
      ' ', run.recorded_in, run_id, printf('%015d', position), md5(concat_ws(' ', feed, raw_sha256, reason))
    ) as place
    from ingest.reject join ingest.run using (run_id)
  )
  select place, pipeline, feed, run_id, raw_sha256, position::integer as position, reason,
    left(payload, ${shownOfPayload}) as payload, length(payload)::integer as payload_length
  from placed
  where ($before::varchar is null or place < $before)
    and ($pipeline::varchar is null or pipeline = $pipeline)
    and ($feed::varchar is null or ${isOfFeed("feed", "$feed")})
    and ($run_id::varchar is null or run_id = $run_id)
    and ${counts}
    and ($reason::varchar is null or ${kindOf("reason")} = ${kindOf("$reason")})
  order by place desc
  limit $limit`
const RejectGroup = Schema.Struct({
  pipeline: Schema.String,
  /** With its values replaced by `…`. */
  reason: Schema.String,
  /** One original reason. */
  example: Schema.String,
  feeds: Schema.Int,
  rejects: Schema.Int
})
/** Limit of listed reasons. A value without digits stays in the reason, so there can be as many reasons as rows. */
export const shownReasons = 20
const rejectGroups = `
  select pipeline, ${kindOf("reason")} as reason, min(reason) as example,
    count(distinct feed)::integer as feeds, count(*)::integer as rejects
  from ingest.reject
  where ($pipeline::varchar is null or pipeline = $pipeline)
    and ($feed::varchar is null or ${isOfFeed("feed", "$feed")})
    and ($run_id::varchar is null or run_id = $run_id)
    and ${counts}
  group by pipeline, ${kindOf("reason")}
  order by rejects desc, example
  limit ${shownReasons}`

export interface ReasonsWanted {
  readonly pipeline: string | undefined
  readonly feed: string | undefined
  readonly run_id: string | undefined
}
export interface RejectsWanted extends ReasonsWanted {
  readonly reason: string | undefined
  /** The `place` of the last row on the previous page. */
  readonly before: string | undefined
  readonly limit: number
}
export type ShownReject = typeof RejectRow.Type
export type RejectGroup = typeof RejectGroup.Type

export const rejects = (db: DuckDb["Service"], wanted: RejectsWanted) => {
  const { before = null, feed = null, limit, pipeline = null, reason = null, run_id = null } = wanted
  const params = { before, feed, pipeline, reason, run_id, limit: limit + 1 }
  return Effect.map(db.all(RejectRow, rejectsBefore, params), (rows) => pageOf(rows, limit))
}

export const reasonsOfRejects = (db: DuckDb["Service"], wanted: ReasonsWanted) => {
  const { feed = null, pipeline = null, run_id = null } = wanted
  return db.all(RejectGroup, rejectGroups, { feed, pipeline, run_id })
}

/** More feeds than anyone would scroll through in a drop-down list. */
const mostFeeds = 500
const feedsThatHave = `
  select distinct feed from ingest.live_reject
  where $pipeline::varchar is null or pipeline = $pipeline
  order by feed
  limit ${mostFeeds}`
export const feedsWithRejects = (db: DuckDb["Service"], pipeline: string | undefined) =>
  Effect.map(db.all(Schema.Struct({ feed: Schema.String }), feedsThatHave, { pipeline: pipeline ?? null }), (rows) =>
    rows.map(({ feed }) => feed)
  )
