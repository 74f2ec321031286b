/** Stages what was read from one feed: prices, rejects, unknown fields, its payload and its cursor. Logs oddities. */
import { cursorTable, observationVersionTable, rawFileTable, rejectTable, unknownFieldTable } from "@larder/warehouse"
import { Effect } from "effect"
import type { FetchedPayload } from "../../run/archive/fetch-list.ts"
import { stageOddValues } from "../../run/odd-values.ts"
import type { RunContext } from "../../run/pipeline.ts"
import type { Feed } from "../catalog.ts"
import type { Payload } from "../decode/payload.ts"
import type { EarlierRuns } from "../earlier-runs.ts"
import { newestOf } from "../normalise/dates.ts"
import type { Normalised } from "../normalise/normalise.ts"

const logOddities = Effect.fnUntraced(function* (feed: Feed, read: Normalised, previous: EarlierRuns) {
  const known = previous.unknownFields.flatMap((unknown) => (unknown.feed === feed.feed ? [unknown.field] : []))
  const fields = read.unknown_fields.map(({ field }) => field).filter((field) => !known.includes(field))
  if (fields.length > 0) yield* Effect.logWarning("upstream has unmapped fields").pipe(Effect.annotateLogs({ fields }))
  if (read.metrics_without_rows.length > 0)
    yield* Effect.logWarning("no row of these metrics").pipe(
      Effect.annotateLogs({ metrics: read.metrics_without_rows })
    )
  if (read.emptied_columns.length > 0)
    yield* Effect.logWarning("optional columns have lost their values").pipe(
      Effect.annotateLogs({ columns: read.emptied_columns })
    )
  const [reject] = read.rejects
  if (reject !== undefined) {
    yield* Effect.logWarning("rows rejected").pipe(
      Effect.annotateLogs({ rows: read.rejects.length, first: reject.reason })
    )
  }
})

export const stageFeed = Effect.fnUntraced(function* (
  { run, previous }: { readonly run: RunContext; readonly previous: EarlierRuns },
  feed: Feed,
  raw: FetchedPayload,
  { rows_stated }: Payload,
  read: Normalised
) {
  const { days, run_id, staging } = run
  const { mapping_sha256 } = feed
  const { bytes, content_type, fetched_at, sha256: raw_sha256, url } = raw
  const about = { pipeline: "commodities", feed: feed.feed, run_id }
  const payloadColumns = { run_id, raw_sha256, fetched_at }
  yield* staging.add(
    observationVersionTable,
    read.readings.map((reading) => ({ ...reading, value: reading.value_text, ...payloadColumns }))
  )
  yield* staging.add(
    rejectTable,
    read.rejects.map(({ payload, position, reason }) => ({ ...about, raw_sha256, position, reason, payload }))
  )
  yield* staging.add(
    unknownFieldTable,
    read.unknown_fields.map((unknown) => ({ ...about, ...unknown }))
  )
  yield* stageOddValues(run, about.pipeline, feed.feed, read.odd_values, previous.oddValues)
  const counts = { rows_read: read.rows_read, rows_rejected: read.rejects.length, rows_stated }
  const window = { window_from: days?.from ?? null, window_to: days?.to ?? null }
  yield* staging.add(rawFileTable, [
    { ...about, raw_sha256, url, fetched_at, bytes, content_type, ...counts, mapping_sha256, ...window }
  ])
  const newest = newestOf(read.readings.map(({ observed_on }) => observed_on))
  if (days === undefined && newest !== "") {
    yield* staging.add(cursorTable, [{ ...about, read_to: newest, mapping_sha256 }])
  }
  yield* logOddities(feed, read, previous)
})
