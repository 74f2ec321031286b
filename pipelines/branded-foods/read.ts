/**
 * Reads the newest release: fetches unknown payloads into the archive, loads the forms into the staging file, and
 * accounts for every row. A form that cannot be fetched or trusted is left out. The run fails if no form remains.
 */
import type { FeedLeftOut } from "@larder/schemas"
import { rawFileTable, unknownFieldTable } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { NothingRead, ReadFailed, type ReadResult, type RunContext } from "../run/pipeline.ts"
import { Progress } from "../run/progress.ts"
import { mappingHash } from "./mapping-version.ts"
import { checkDictionaries } from "./normalise/dictionaries.ts"
import { readPrevious } from "./previous.ts"
import { type Form, feedOf, fetchRelease, type Recognised } from "./source/fetch-release.ts"
import { newestRelease } from "./source/newest-release.ts"
import { loadForms, type StagedForm } from "./stage/load-forms.ts"

const advice = "Nothing of this run was published; the previous generation stays live."

const failed = (...faults: ReadonlyArray<string>) => new ReadFailed({ faults: [...faults, advice] })

/** Nothing was read: the payloads cannot be trusted, or none could be fetched. */
const nothingRead = (left_out: ReadonlyArray<FeedLeftOut>) => {
  const reasons = [...new Set(left_out.map(({ reason }) => reason))]
  return left_out.some(({ kind }) => kind === "untrusted")
    ? new ReadFailed({ faults: [...reasons, advice], left_out })
    : new NothingRead({ reasons, left_out })
}

const forms: ReadonlyArray<Form> = ["json", "csv"]

/** There is no release to read, so both forms are left out. */
const noneFound = ({ message: reason }: Error) =>
  Effect.fail(nothingRead(forms.map((form) => ({ feed: feedOf(form), kind: "unreachable" as const, reason }))))

/** The rows of all payloads of a form. */
const rowsReadOf = ({ rows_read }: StagedForm) => [...rows_read.values()].reduce((sum, rows) => sum + rows, 0)

/** Rejected payload rows of each file. A record of a CSV file may span several lines; the header is record 1. */
const RejectedOf = Schema.Struct({
  raw_sha256: Schema.String,
  feed: Schema.String,
  rows: Schema.Int,
  first: Schema.String
})
const rejectedOf = `
  select raw_sha256, feed, count(*)::integer as rows, 
    arg_min(if(feed like '%.csv', 'record ', 'line ') || position || ': ' || reason, position) as first
  from ingest.reject group by raw_sha256, feed`

/** Records the run's payloads and unknown fields, logs warnings, and returns the number of rejected rows. */
const recordPayloads = Effect.fnUntraced(function* (
  run: RunContext,
  staged: ReadonlyArray<StagedForm>,
  knownFields: ReadonlyArray<string>
) {
  const { run_id, staging } = run
  const rejected = yield* staging.db.all(RejectedOf, rejectedOf)
  for (const { feed, first, rows } of rejected) {
    yield* Effect.logWarning("rows rejected").pipe(Effect.annotateLogs({ feed, rows, first }))
  }
  for (const { files, form, rows_read, unknown_fields } of staged) {
    const feed = feedOf(form)
    const about = { pipeline: "branded-foods", feed, run_id }
    const rejectedOf = (raw_sha256: string) =>
      rejected
        .filter((of) => of.feed.startsWith(feed) && of.raw_sha256 === raw_sha256)
        .reduce((sum, of) => sum + of.rows, 0)
    yield* staging.add(
      rawFileTable,
      files.map(({ bytes, content_type, fetched_at, sha256: raw_sha256, url }) => ({
        ...about,
        raw_sha256,
        url,
        fetched_at,
        bytes,
        content_type,
        // files that hold no labels, such as dictionaries, have no rows
        rows_read: rows_read.get(url) ?? 0,
        rows_rejected: rows_read.has(url) ? rejectedOf(raw_sha256) : 0,
        mapping_sha256: mappingHash
      }))
    )
    yield* staging.add(
      unknownFieldTable,
      unknown_fields.map((unknown) => ({ ...about, ...unknown }))
    )
    const fields = unknown_fields.map(({ field }) => field).filter((field) => !knownFields.includes(field))
    if (fields.length > 0) {
      yield* Effect.logWarning("upstream has fields that no mapping knows").pipe(Effect.annotateLogs({ feed, fields }))
    }
  }
  return rejected.reduce((sum, { rows }) => sum + rows, 0)
})

/** Records the source's address for payloads that were loaded from another address, with the counts of that load. */
const recordAddresses = ({ run_id, staging }: RunContext, recognised: ReadonlyArray<Recognised>) =>
  staging.add(
    rawFileTable,
    recognised.map(({ file: { bytes, content_type, fetched_at, url }, payload }) => ({
      ...payload,
      pipeline: "branded-foods",
      run_id,
      url,
      fetched_at,
      bytes,
      content_type
    }))
  )

export const readBrandedFoods = Effect.fn("brandedFoods.read")(
  function* (run: RunContext) {
    yield* checkDictionaries
    const progress = yield* Progress
    const previous = yield* readPrevious(run)
    const release = yield* newestRelease()
    yield* progress.expect([release.json, release.csv, release.zip].filter((form) => form !== undefined).length)
    const fetched = yield* fetchRelease(release, previous.payloads)
    const { known, recognised } = fetched
    yield* recordAddresses(run, recognised)
    const { left_out: faulty, staged } = yield* loadForms(run, fetched.forms, previous.nutrientNumbers)
    const left_out = [...fetched.left_out, ...faulty]
    if (staged.length + known.length === 0) return yield* nothingRead(left_out)
    const rows_rejected = yield* recordPayloads(run, staged, previous.unknownFields)
    const knownRejected = known.reduce((sum, payload) => sum + payload.rows_rejected, 0)
    const knownRead = known.reduce((sum, payload) => sum + payload.rows_read, 0)
    return {
      rows_read: knownRead + staged.reduce((sum, form) => sum + rowsReadOf(form), 0),
      rows_silent: knownRead - knownRejected + staged.reduce((sum, form) => sum + form.rows_silent, 0),
      rows_rejected: knownRejected + rows_rejected,
      feeds: staged.length + known.length + left_out.length,
      left_out
    } satisfies ReadResult as ReadResult
  },
  Effect.catchTags({
    FileUnwritable: (error) => Effect.fail(failed(error.message)),
    RecordingUnreadable: (error) => Effect.fail(failed(error.message)),
    ReleaseUnknown: noneFound,
    UpstreamUnavailable: noneFound,
    AccessDenied: noneFound,
    RefusedByUpstream: noneFound,
    AnswerTooLarge: noneFound,
    GivenUp: noneFound,
    ForbiddenAddress: noneFound,
    NotRecorded: noneFound
  }),
  Effect.scoped
)
