/**
 * Reads the newest release: fetches what is not known yet into the archive, loads its forms into the staging file, and
 * accounts for every row. A release that cannot be trusted as a whole fails the run.
 */
import { literal } from "@larder/warehouse/duckdb.ts"
import { nutrientTable, rawFileTable, unknownFieldTable } from "@larder/warehouse/tables.ts"
import { Effect, Path, Schema } from "effect"
import { mixtureOf } from "../run/mixture.ts"
import { Origin } from "../run/origin.ts"
import { NothingRead, ReadFailed, type ReadResult, type RunContext } from "../run/pipeline.ts"
import { Progress } from "../run/progress.ts"
import { stageDictionaries, unitOf } from "./dictionaries.ts"
import { type FormToLoad, fetchRelease, type Recognised } from "./fetch-release.ts"
import type { Loaded } from "./load.ts"
import { feedOf, loadForm } from "./load-release.ts"
import { mappingHash, normalising } from "./mapping.ts"
import { completeWithJson, setJsonAside } from "./merge-forms.ts"
import { newestRelease } from "./newest-release.ts"
import { readPrevious } from "./previous.ts"

const advice = "Nothing of this run was published; the previous generation stays live."

const failed = (...faults: ReadonlyArray<string>) => new ReadFailed({ faults: [...faults, advice] })

const Count = Schema.Struct({ rows: Schema.Int })

type Staged = Loaded & Omit<FormToLoad, "form"> & { readonly form: "json" | "csv" }

/** Payload rows of each file that were rejected. A record of a CSV file may have several lines; the header is record 1. */
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

/** What the run leaves behind beside the foods. */
const tell = Effect.fnUntraced(function* (
  run: RunContext,
  staged: ReadonlyArray<Staged>,
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
    const rows_rejected = rejected.filter((of) => of.feed.startsWith(feed)).reduce((sum, of) => sum + of.rows, 0)
    yield* staging.add(
      rawFileTable,
      files.map(({ bytes, content_type, fetched_at, sha256: raw_sha256, url }, position) => ({
        ...about,
        raw_sha256,
        url,
        fetched_at,
        bytes,
        content_type,
        // the files of a folder are one release: it is accounted for as a whole, with its first file
        rows_read: position === 0 ? rows_read : 0,
        rows_rejected: position === 0 ? rows_rejected : 0,
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

/** Notes where the source has what was loaded from a file, with the numbers of that load. */
const noteAddresses = ({ run_id, staging }: RunContext, recognised: ReadonlyArray<Recognised>) =>
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

const NewNutrient = Schema.Struct({
  nutrient_id: Schema.Int,
  number: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String),
  unit: Schema.NullOr(Schema.String)
})

/** Nutrients that the releases name and the dictionary does not know. */
const stageNewNutrients = Effect.fnUntraced(function* ({ staging: { add, db } }: RunContext) {
  const found = yield* db.all(
    NewNutrient,
    "select distinct on (nutrient_id) nutrient_id, number, name, unit from release.nutrient order by nutrient_id, name"
  )
  yield* add(
    nutrientTable,
    found.map((nutrient) => ({ ...nutrient, unit: nutrient.unit === null ? null : unitOf(nutrient.unit) }))
  )
})

const load = Effect.fnUntraced(function* (
  run: RunContext,
  forms: Effect.Success<ReturnType<typeof fetchRelease>>["forms"]
) {
  const path = yield* Path.Path
  const progress = yield* Progress
  const { run_id, staging } = run
  const folder = path.dirname(staging.file)
  yield* staging.db.run(`attach ${literal(path.join(folder, "release.duckdb"))} as release`)
  yield* staging.db.run(normalising)
  yield* stageDictionaries(staging)
  const advance = (rows: number) => progress.advance({ rows })
  const staged: Array<Staged> = []
  for (const form of forms) {
    // JSON comes first where both are there
    if (staged.length > 0) yield* setJsonAside(staging.db)
    const loaded = yield* loadForm(form, { staging, run_id, folder, advance })
    staged.push({ ...form, ...loaded })
    yield* progress.advance({ feed: feedOf(loaded.form) })
  }
  if (staged.length > 1) yield* completeWithJson(staging.db)
  yield* stageNewNutrients(run)
  return staged
})

export const readBrandedFoods = Effect.fn("brandedFoods.read")(
  function* (run: RunContext) {
    const progress = yield* Progress
    const { kind } = yield* Origin
    const previous = yield* readPrevious(run)
    const mixture = mixtureOf(previous.origins, kind, "labels")
    if (mixture !== undefined) return yield* failed(mixture)
    const release = yield* newestRelease()
    yield* progress.start([release.json, release.csv, release.zip].filter((form) => form !== undefined).length)
    const { forms, known, recognised } = yield* fetchRelease(release, previous)
    yield* noteAddresses(run, recognised)
    const staged = forms.length === 0 ? [] : yield* load(run, forms)
    const rows_rejected = yield* tell(run, staged, previous.unknownFields)
    const [foods] = yield* run.staging.db.all(Count, "select count(*)::integer as rows from branded_food.food")
    if (staged.length > 0 && foods?.rows === 0) {
      const [example] = yield* run.staging.db.all(RejectedOf, rejectedOf)
      const why = example === undefined ? "it is empty" : `all of its rows were rejected, such as ${example.first}`
      return yield* failed(`The release ${release.released_on ?? ""} holds no label: ${why}.`.replace("  ", " "))
    }
    const knownRejected = known.reduce((sum, payload) => sum + payload.rows_rejected, 0)
    const knownRead = known.reduce((sum, payload) => sum + payload.rows_read, 0)
    return {
      rows_read: knownRead + staged.reduce((sum, form) => sum + form.rows_read, 0),
      rows_silent: knownRead - knownRejected + staged.reduce((sum, form) => sum + form.rows_silent, 0),
      rows_rejected: knownRejected + rows_rejected,
      left_out: []
    } satisfies ReadResult as ReadResult
  },
  Effect.catchTags({
    ZipUnusable: (error) => Effect.fail(failed(error.message)),
    MemberMissing: (error) => Effect.fail(failed(error.message)),
    FoodListUnusable: (error) => Effect.fail(failed(error.message)),
    HeaderUnreadable: (error) => Effect.fail(failed(error.message)),
    RecordsLost: (error) => Effect.fail(failed(error.message)),
    FileUnwritable: (error) => Effect.fail(failed(error.message)),
    RecordingUnreadable: (error) => Effect.fail(failed(error.message)),
    ReleaseUnknown: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    UpstreamUnavailable: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    AccessDenied: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    RefusedByUpstream: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    AnswerTooLarge: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    GivenUp: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    ForbiddenAddress: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    NotRecorded: (error) => Effect.fail(new NothingRead({ reasons: [error.message] }))
  }),
  Effect.scoped
)
