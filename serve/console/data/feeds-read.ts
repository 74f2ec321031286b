/** Queries of the feeds in the live generation: how far each has been read, its rows and its rejects. */
import { Frequency, UnknownField } from "@larder/schemas"
import { type DuckDb, type FreshnessRow, timestampColumn } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { type Filters, type PageLimit, readPage, toParameters } from "../web/query.ts"
import { matchesFeedSql } from "./rejects-read.ts"

const Feed = Schema.Struct({
  pipeline: Schema.String,
  feed: Schema.String,
  read_to: Schema.NullOr(Schema.String),
  fetched_at: Schema.NullOr(Schema.String),
  payloads: Schema.Int,
  bytes: Schema.Finite,
  rows_read: Schema.Int,
  rejects: Schema.Int
})
/**
 * Counts rejects in `ingest.live_reject`: a payload counts only the rows that were rejected while it was read, not
 * those that were rejected later.
 */
const feedsAfter = `
  with payload as (
    select pipeline, feed, max(fetched_at) as fetched_at, count(*) as payloads, sum(bytes) as bytes,
      sum(rows_read) as rows_read
    from ingest.live_raw_file
    group by pipeline, feed
  ), page as (
    select *
    from payload
    full join (select pipeline, feed, read_to from ingest.live_cursor) using (pipeline, feed)
    where ($pipeline::varchar is null or pipeline = $pipeline)
      and ($after::varchar is null or $after_pipeline::varchar is null
        or (pipeline, feed) > ($after_pipeline::varchar, $after::varchar))
    order by pipeline, feed
    limit $limit
  ), rejected as (
    select page.pipeline, page.feed, sum(reject.entries) as rejects
    from page
    join (select pipeline, feed, count(*) as entries from ingest.live_reject group by pipeline, feed) reject
      on reject.pipeline = page.pipeline and ${matchesFeedSql("reject.feed", "page.feed")}
    group by page.pipeline, page.feed
  )
  select pipeline, feed, read_to, ${timestampColumn("fetched_at")}, coalesce(payloads, 0)::integer as payloads,
    coalesce(bytes, 0)::double as bytes, coalesce(rows_read, 0)::integer as rows_read,
    coalesce(rejects, 0)::integer as rejects
  from page
  left join rejected using (pipeline, feed)
  order by pipeline, feed`

/**
 * `gov-mpr/2993` from `gov-mpr/2993/Butter Prices and Sales`: all sections of a report share one title and one
 * frequency.
 */
const extractReportSql = (feed: string) => `split_part(${feed}, '/', 1) || '/' || split_part(${feed}, '/', 2)`
const Report = Schema.Struct({ number: Schema.String, title: Schema.String, frequency: Frequency })
const reports = `
  select ${extractReportSql("feed")} as number, min(report) as title, min(frequency) as frequency
  from commodity.metric
  group by number`
const latestUnknownFields = `
  select pipeline, feed, field, run_id, example from ingest.live_unknown_field
  order by run_id desc, pipeline, feed, field
  limit 100`

/** `after` and `after_pipeline` identify the last feed on the previous page. */
export type FeedsQuery = Filters<"after" | "after_pipeline" | "pipeline"> & PageLimit

/** The states of what is judged by each feed, without repetition. */
const listStates = (freshness: ReadonlyArray<FreshnessRow>) => {
  const states = new Map<string, Set<FreshnessRow["state"]>>()
  for (const { feed, pipeline, state } of freshness) {
    const name = `${pipeline} ${feed}`
    states.set(name, (states.get(name) ?? new Set()).add(state))
  }
  return states
}

/** Feeds of reports have a title and a frequency. */
export const readFeeds = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  { after, after_pipeline, limit, pipeline }: FeedsQuery,
  commodities: DuckDb["Service"] | undefined,
  freshness: ReadonlyArray<FreshnessRow>
) {
  const filters = toParameters({ after, after_pipeline, pipeline })
  const { last, rows } = yield* readPage(limit, (limit) => db.all(Feed, feedsAfter, { ...filters, limit }))
  const found = commodities === undefined ? [] : yield* commodities.all(Report, reports)
  const byNumber = new Map(found.map((report) => [report.number, report]))
  const states = listStates(freshness)
  const described = rows.map((row) => {
    const number = row.feed.split("/", 2).join("/")
    const { frequency, title } = (row.pipeline === "commodities" && byNumber.get(number)) || {}
    return { ...row, frequency, title, states: [...(states.get(`${row.pipeline} ${row.feed}`) ?? [])] }
  })
  return { last, rows: described }
})

export const readUnknownFields = (db: DuckDb["Service"]) =>
  db.all(Schema.Struct({ ...UnknownField.fields }), latestUnknownFields)
