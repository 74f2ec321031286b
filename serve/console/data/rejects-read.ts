/** Queries of rejected payload rows and their reasons. */
import { Reject } from "@larder/schemas"
import type { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { type Filters, type PageLimit, readPage, toParameters } from "../web/query.ts"

/** In characters. */
export const shownPayloadLength = 1000
const { payload: _, ...rejectFields } = Reject.fields
const RejectRow = Schema.Struct({
  page_cursor: Schema.String,
  ...rejectFields,
  payload: Schema.String,
  payload_length: Schema.Int
})
/** A reject names its feed or a part of it, such as the file `gov-fdc/csv/food.csv` of `gov-fdc/csv`. */
export const matchesFeedSql = (rejects: string, feed: string) =>
  `(${rejects} = ${feed} or starts_with(${rejects}, ${feed} || '/'))`
/** Replaces the words with digits in a reason by `…`, so that a thousand duplicate rows have one reason. */
const generalizeReasonSql = (reason: string) => `regexp_replace(${reason}, '\\S*\\d[^\\s,;:]*', '…', 'g')`
/** Across all runs, rejects of a payload that was read again and of a run that was rolled back do not count. */
const matchesFilters = `
  ($pipeline::varchar is null or pipeline = $pipeline)
    and ($feed::varchar is null or ${matchesFeedSql("feed", "$feed")})
    and ($run_id::varchar is null or run_id = $run_id)
    and ($run_id::varchar is not null or (run_id, raw_sha256, feed, position, reason) in (
      select (run_id, raw_sha256, feed, position, reason) from ingest.live_reject
    ))`
/**
 * The cursor of a page. It identifies a row by its content, not by its location, because a rebuild writes the rejects
 * of its runs again.
 */
export const cursorFormat = /^larder-\d+ \S+ \d{15} [0-9a-f]{32}$/
const rejectsBefore = `
  with reject_with_cursor as (
    select reject.*, concat_ws(
      ' ', run.recorded_in, run_id, printf('%015d', position), md5(concat_ws(' ', feed, raw_sha256, reason))
    ) as page_cursor
    from ingest.reject join ingest.run using (run_id)
  )
  select page_cursor, pipeline, feed, run_id, raw_sha256, position::integer as position, reason,
    left(payload, ${shownPayloadLength}) as payload, length(payload)::integer as payload_length
  from reject_with_cursor
  where ($before::varchar is null or page_cursor < $before)
    and ${matchesFilters}
    and ($reason::varchar is null or ${generalizeReasonSql("reason")} = ${generalizeReasonSql("$reason")})
  order by page_cursor desc
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
/** A value without digits stays in the reason, so there can be as many reasons as rows. */
export const maxReasons = 20
const rejectGroups = `
  select pipeline, ${generalizeReasonSql("reason")} as reason, min(reason) as example,
    count(distinct feed)::integer as feeds, count(*)::integer as rejects
  from ingest.reject
  where ${matchesFilters}
  group by pipeline, ${generalizeReasonSql("reason")}
  order by rejects desc, example
  limit ${maxReasons}`

export type ReasonsFilters = Filters<"feed" | "pipeline" | "run_id">
/** `before` is the `page_cursor` of the last row on the previous page. */
export type RejectsFilters = ReasonsFilters & Filters<"before" | "reason">
export type ShownReject = typeof RejectRow.Type
export type RejectGroup = typeof RejectGroup.Type

export const readRejects = (db: DuckDb["Service"], query: RejectsFilters & PageLimit) => {
  const { before, feed, limit, pipeline, reason, run_id } = query
  const filters = toParameters({ before, feed, pipeline, reason, run_id })
  return readPage(limit, (limit) => db.all(RejectRow, rejectsBefore, { ...filters, limit }))
}

export const readReasons = (db: DuckDb["Service"], { feed, pipeline, run_id }: ReasonsFilters) =>
  db.all(RejectGroup, rejectGroups, toParameters({ feed, pipeline, run_id }))

/** More feeds than anyone would scroll through in a drop-down list. */
const maxFeeds = 500
const feedsWithRejects = `
  select distinct feed from ingest.live_reject
  where $pipeline::varchar is null or pipeline = $pipeline
  order by feed
  limit ${maxFeeds}`
export const readFeedsWithRejects = (db: DuckDb["Service"], pipeline: string | undefined) =>
  Effect.map(db.all(Schema.Struct({ feed: Schema.String }), feedsWithRejects, toParameters({ pipeline })), (rows) =>
    rows.map(({ feed }) => feed)
  )
