/**
 * Fetches new payloads of a release into the archive. If one form cannot be fetched, the other is loaded: each gets a try
 * before the other gets a second one.
 */
import type { FeedLeftOut } from "@larder/schemas"
import { Effect, Schema } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import type { FetchedPayload } from "../../run/archive/fetch-list.ts"
import { type LastRun, orderFeeds } from "../../run/origins/feed-order.ts"
import { Origin } from "../../run/origins/origin.ts"
import { Progress } from "../../run/progress.ts"
import { datasetsUrl, type Release } from "./newest-release.ts"

export type ReleaseForm = "json" | "csv"

/** Feed name of a form; only the name of the source while the form of a file is unknown. */
export const formFeed = (form: ReleaseForm | undefined) => (form === undefined ? "gov-fdc" : `gov-fdc/${form}`)

export interface FormToLoad {
  /** Undefined for a zip whose name does not state its form. */
  readonly form: ReleaseForm | undefined
  /** The day in the address; the members of a zip may state another one. */
  readonly released_on: string | null
  /** A zip, the unpacked JSON file, or the separate CSV files. */
  readonly files: ReadonlyArray<FetchedPayload>
}

/** A payload that an earlier run loaded, from `ingest.raw_file`. */
export const KnownPayload = Schema.Struct({
  raw_sha256: Schema.String,
  url: Schema.String,
  feed: Schema.String,
  mapping_sha256: Schema.String,
  rows_read: Schema.Int,
  rows_rejected: Schema.Int
})
export type KnownPayload = typeof KnownPayload.Type

/** A payload that an earlier run loaded from another URL. */
export interface MovedPayload {
  readonly payload: KnownPayload
  readonly file: FetchedPayload
}

/** Errors of URLs that did not return a payload. */
export const fetchErrorTags = [
  "UpstreamUnavailable",
  "NotRequested",
  "AccessDenied",
  "RefusedByUpstream",
  "AnswerTooLarge",
  "GivenUp",
  "ForbiddenAddress",
  "NotRecorded"
] as const

const fetchForm = (form: ReleaseForm | undefined, addresses: ReadonlyArray<string>) => {
  const leaveOut = (kind: FeedLeftOut["kind"]) => (error: Error) =>
    Effect.succeed({ left_out: { feed: formFeed(form), kind, reason: error.message } })
  return Effect.forEach(addresses, (url) =>
    Archive.use((archive) => archive.fetch({ url, accept: "application/zip, */*", resumable: true }))
  ).pipe(
    Effect.map((files) => ({ files })),
    Effect.catchTag(fetchErrorTags, leaveOut("unreachable")),
    Effect.catchTag("RecordingUnreadable", leaveOut("untrusted"))
  )
}

interface FetchedForm {
  readonly toLoad?: FormToLoad
  /** Payloads that were loaded before, with the same mapping. */
  readonly known?: ReadonlyArray<KnownPayload>
  /** Known payloads with a new URL. It is recorded, so that the next live run does not download them again. */
  readonly moved?: ReadonlyArray<MovedPayload>
  readonly left_out?: FeedLeftOut
}

interface ListedForm {
  readonly form: ReleaseForm | undefined
  readonly addresses: ReadonlyArray<string>
}

/** Releases are immutable, so payloads in `loaded`, which this mapping has read, are not requested again. */
const fetchUnlessKnown = Effect.fnUntraced(function* (
  { addresses, form }: ListedForm,
  released_on: string | null,
  loaded: ReadonlyArray<KnownPayload>
) {
  const { kind } = yield* Origin
  const progress = yield* Progress
  const end = (fetched: FetchedForm) => Effect.as(progress.advance({ finished: formFeed(form) }), fetched)
  const byAddress = addresses.flatMap((address) => loaded.find(({ url }) => url === address) ?? [])
  if (kind === "live" && byAddress.length === addresses.length) return yield* end({ known: byAddress })
  yield* progress.advance({ started: formFeed(form) })
  const fetched = yield* fetchForm(form, addresses)
  if ("left_out" in fetched) return yield* end(fetched)
  const { files } = fetched
  const byContent = files.flatMap((file) => {
    const payload = loaded.find(({ raw_sha256 }) => raw_sha256 === file.sha256)
    return payload === undefined ? [] : [{ payload, file }]
  })
  if (byContent.length < files.length) return { toLoad: { form, released_on, files } } satisfies FetchedForm
  const isNew = ({ url }: FetchedPayload) =>
    url.startsWith(datasetsUrl) && !loaded.some((payload) => payload.url === url)
  return yield* end({
    known: byContent.map(({ payload }) => payload),
    moved: byContent.filter(({ file }) => isNew(file))
  })
})

/** Both forms wait in the queue of their host. Results are in the order of the forms: without a stated form, JSON, CSV. */
export const fetchRelease = Effect.fnUntraced(function* (
  { csv, json, missing, released_on, zip }: Release,
  loaded: ReadonlyArray<KnownPayload>,
  lastRun: LastRun
) {
  const listed: ReadonlyArray<ListedForm> = [
    { form: undefined, addresses: [zip ?? []].flat() },
    { form: "json", addresses: [json ?? []].flat() },
    { form: "csv", addresses: [csv ?? []].flat() }
  ]
  const forms = listed.filter(({ addresses }) => addresses.length > 0)
  const fetched = yield* Effect.forEach(
    orderFeeds(forms, ({ form }) => formFeed(form), lastRun),
    (form) => Effect.map(fetchUnlessKnown(form, released_on, loaded), (result) => [form, result] as const),
    { concurrency: "unbounded" }
  )
  const unlisted = missing.map(
    (form): FeedLeftOut => ({
      feed: formFeed(form),
      kind: "unreachable",
      reason: `the download page does not list the ${form.toUpperCase()} form of the release of ${released_on}`
    })
  )
  const byForm = new Map(fetched)
  const results = forms.flatMap((form) => byForm.get(form) ?? [])
  return {
    forms: results.flatMap(({ toLoad }) => toLoad ?? []),
    known: results.flatMap(({ known }) => known ?? []),
    moved: results.flatMap(({ moved }) => moved ?? []),
    left_out: [...unlisted, ...results.flatMap(({ left_out }) => left_out ?? [])]
  }
})
