/**
 * Reads the newest release: fetches new payloads into the archive, loads the forms into the staging file, and accounts
 * for every row. A form that cannot be fetched or trusted is left out, and a form of which too much was rejected is left
 * out in part. The run fails if no form remains.
 */
import type { FeedLeftOut } from "@larder/schemas"
import { rawFileTable, unknownFieldTable } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { FetchedPayload } from "../run/archive/fetch-list.ts"
import { readLastRun } from "../run/origins/feed-order.ts"
import { NothingRead, ReadFailed, type ReadResult, type RunContext } from "../run/pipeline.ts"
import { Progress } from "../run/progress.ts"
import { readEarlierRuns } from "./earlier-runs.ts"
import { labelMappingHash } from "./mapping-hash.ts"
import { checkDictionaries } from "./normalise/dictionaries.ts"
import { fetchErrorTags, fetchRelease, formFeed, type MovedPayload } from "./source/fetch-release.ts"
import { findNewestRelease } from "./source/newest-release.ts"
import { loadForms, type StagedForm } from "./stage/load-forms.ts"

const advice = "This run published nothing; the previous generation stays live."

const makeNothingReadError = (left_out: ReadonlyArray<FeedLeftOut>) => {
  const reasons = [...new Set(left_out.map(({ reason }) => reason))]
  return left_out.some(({ kind }) => kind === "untrusted")
    ? new ReadFailed({ faults: [...reasons, advice], left_out })
    : new NothingRead({ reasons, left_out })
}

/** There is no release to read, so both forms are left out. */
const failWithoutRelease = ({ message: reason }: Error) => {
  const left_out = (["json", "csv"] as const).map((form) => ({
    feed: formFeed(form),
    kind: "unreachable" as const,
    reason
  }))
  return Effect.fail(makeNothingReadError(left_out))
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0)

/** Rejected rows of each file. A record of a CSV file may span several lines; the header is record 1. */
const RejectedRows = Schema.Struct({
  raw_sha256: Schema.String,
  feed: Schema.String,
  rows: Schema.Int,
  first: Schema.String
})
const rejectedRows = `
  select raw_sha256, feed, count(*)::integer as rows,
    arg_min(if(feed like '%.csv', 'record ', 'line ') || position || ': ' || reason, position) as first
  from ingest.reject group by raw_sha256, feed`

const pickPayloadFields = ({ bytes, content_type, fetched_at, url }: FetchedPayload) => ({
  url,
  fetched_at,
  bytes,
  content_type
})

/** Records the run's payloads and unknown fields, logs warnings, and returns the number of rejected rows. */
const recordPayloads = Effect.fnUntraced(function* (
  run: RunContext,
  staged: ReadonlyArray<StagedForm>,
  knownFields: ReadonlyArray<string>
) {
  const { run_id, staging } = run
  const rejected = yield* staging.db.all(RejectedRows, rejectedRows)
  for (const { feed, first, rows } of rejected) {
    yield* Effect.logWarning("rows rejected").pipe(Effect.annotateLogs({ feed, rows, first }))
  }
  for (const { files, form, rows_read, unknown_fields } of staged) {
    const feed = formFeed(form)
    const source = { pipeline: "branded-foods", feed, run_id }
    const countRejected = (sha256: string) =>
      sum(rejected.filter((row) => row.feed.startsWith(feed) && row.raw_sha256 === sha256).map(({ rows }) => rows))
    yield* staging.add(
      rawFileTable,
      files.map((file) => ({
        ...source,
        ...pickPayloadFields(file),
        raw_sha256: file.sha256,
        // files without labels, such as dictionaries, have no rows
        rows_read: rows_read.get(file.url) ?? 0,
        rows_rejected: rows_read.has(file.url) ? countRejected(file.sha256) : 0,
        mapping_sha256: labelMappingHash
      }))
    )
    yield* staging.add(
      unknownFieldTable,
      unknown_fields.map((unknown) => ({ ...source, ...unknown }))
    )
    const fields = unknown_fields.map(({ field }) => field).filter((field) => !knownFields.includes(field))
    if (fields.length > 0) {
      yield* Effect.logWarning("upstream has unmapped fields").pipe(Effect.annotateLogs({ feed, fields }))
    }
  }
  return sum(rejected.map(({ rows }) => rows))
})

/** Records the new addresses of payloads that were loaded from other addresses, with the counts of that load. */
const recordAddresses = ({ run_id, staging }: RunContext, moved: ReadonlyArray<MovedPayload>) =>
  staging.add(
    rawFileTable,
    moved.map(({ file, payload }) => ({ ...payload, pipeline: "branded-foods", run_id, ...pickPayloadFields(file) }))
  )

export const readBrandedFoods = Effect.fn("brandedFoods.read")(
  function* (run: RunContext) {
    yield* checkDictionaries
    const progress = yield* Progress
    const previous = yield* readEarlierRuns(run)
    const release = yield* findNewestRelease()
    yield* progress.expect([release.json, release.csv, release.zip].filter((form) => form !== undefined).length)
    const fetched = yield* fetchRelease(release, previous.payloads, yield* readLastRun(run.layout, "branded-foods"))
    const { known, moved } = fetched
    yield* recordAddresses(run, moved)
    const { left_out: notLoaded, staged } = yield* loadForms(run, fetched.forms, previous.nutrients)
    const left_out = [...fetched.left_out, ...notLoaded]
    if (staged.length + known.length === 0) return yield* makeNothingReadError(left_out)
    const rows_rejected = yield* recordPayloads(run, staged, previous.unknownFields)
    const knownRejected = sum(known.map((payload) => payload.rows_rejected))
    const knownRead = sum(known.map((payload) => payload.rows_read))
    const result: ReadResult = {
      rows_read: knownRead + sum(staged.flatMap((form) => [...form.rows_read.values()])),
      rows_skipped: knownRead - knownRejected + sum(staged.map((form) => form.rows_ignored)),
      rows_rejected: knownRejected + rows_rejected,
      feeds: staged.length + known.length + left_out.filter(({ kind }) => kind !== "partial").length,
      left_out
    }
    return result
  },
  Effect.catchTag(["FileUnwritable", "RecordingUnreadable"], (error) =>
    Effect.fail(new ReadFailed({ faults: [error.message, advice] }))
  ),
  Effect.catchTag(["NoReleaseFound", ...fetchErrorTags], failWithoutRelease),
  Effect.scoped
)
