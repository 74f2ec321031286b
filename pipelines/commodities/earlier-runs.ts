/** What the live generation records about earlier runs of this pipeline. */
import { Day } from "@larder/schemas"
import { commodity, readLive } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { type KnownOddValues, readKnownOddValues } from "../run/odd-values.ts"
import type { RunContext } from "../run/pipeline.ts"

const FeedCursor = Schema.Struct({ feed: Schema.String, read_to: Day, mapping_sha256: Schema.String })
const KnownPayload = Schema.Struct({
  raw_sha256: Schema.String,
  feed: Schema.String,
  mapping_sha256: Schema.String,
  /** The days whose rows were used; null if all were. */
  window_from: Schema.NullOr(Day),
  window_to: Schema.NullOr(Day),
  rows_read: Schema.Int,
  rows_rejected: Schema.Int,
  rows_stated: Schema.NullOr(Schema.Int)
})
export type KnownPayload = typeof KnownPayload.Type

const Measure = Schema.Struct({
  metric_name: Schema.String,
  measure: Schema.String,
  days: Schema.String,
  published_at: Schema.String
})
const UnknownField = Schema.Struct({ feed: Schema.String, field: Schema.String })

export interface EarlierRuns {
  /** How far live runs have read each feed. Recordings and samples do not count. */
  readonly cursors: ReadonlyArray<typeof FeedCursor.Type>
  readonly payloads: ReadonlyArray<KnownPayload>
  /** Columns that values were read from, the days of these values, separated by commas, and their newest publication. */
  readonly measures: ReadonlyArray<typeof Measure.Type>
  readonly unknownFields: ReadonlyArray<typeof UnknownField.Type>
  readonly oddValues: KnownOddValues
}

const noEarlierRuns = { cursors: [], payloads: [], measures: [], unknownFields: [] }

const cursorsQuery = `
  select feed, read_to, mapping_sha256 from ingest.cursor c join ingest.run r using (run_id)
  where c.pipeline = 'commodities' and r.origin = 'live'`
const payloadsQuery = `
  select raw_sha256, feed, mapping_sha256, window_from::varchar as window_from, window_to::varchar as window_to,
    rows_read::integer as rows_read, rows_rejected::integer as rows_rejected, rows_stated::integer as rows_stated
  from ingest.raw_file where pipeline = 'commodities'`
const measuresQuery = `
  select metric_name, measure, string_agg(distinct observed_on::varchar, ',') as days,
    coalesce(max(published_at) filter (where published_at < fetched_at + interval 2 day), min(published_at))::varchar as published_at
  from commodity.metric join commodity.observation_version using (metric_name) group by all`
const unknownFieldsQuery = "select feed, field from ingest.unknown_field where pipeline = 'commodities'"

export const readEarlierReports = Effect.fnUntraced(function* (run: RunContext) {
  const oddValues = yield* readKnownOddValues(run, commodity)
  const earlier = yield* readLive(run.layout, commodity, noEarlierRuns, (db) =>
    Effect.all({
      cursors: db.all(FeedCursor, cursorsQuery),
      payloads: db.all(KnownPayload, payloadsQuery),
      measures: db.all(Measure, measuresQuery),
      unknownFields: db.all(UnknownField, unknownFieldsQuery)
    })
  )
  const earlierRuns: EarlierRuns = { ...earlier, oddValues }
  return earlierRuns
})
