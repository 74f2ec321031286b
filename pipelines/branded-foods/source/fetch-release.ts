/** Fetches new payloads of a release into the archive. If one form cannot be fetched, the other is loaded. */
import type { FeedLeftOut } from "@larder/schemas"
import { Effect, Schema } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import type { FetchedPayload } from "../../run/archive/fetch-list.ts"
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

/** Releases are immutable, so payloads in `loaded`, which this mapping has read, are not requested again. */
export const fetchRelease = Effect.fnUntraced(function* (release: Release, loaded: ReadonlyArray<KnownPayload>) {
  const { kind } = yield* Origin
  const progress = yield* Progress
  const addressesOfForms = [
    { form: undefined, addresses: [release.zip ?? []].flat() },
    { form: "json" as const, addresses: [release.json ?? []].flat() },
    { form: "csv" as const, addresses: [release.csv ?? []].flat() }
  ].filter(({ addresses }) => addresses.length > 0)

  const forms: Array<FormToLoad> = []
  /** Payloads that were loaded before, with the same mapping. */
  const known: Array<KnownPayload> = []
  /** Known payloads with a new URL. It is recorded, so that the next live run does not download them again. */
  const moved: Array<MovedPayload> = []
  const left_out: Array<FeedLeftOut> = release.missing.map((form) => ({
    feed: formFeed(form),
    kind: "unreachable",
    reason: `the download page does not list the ${form.toUpperCase()} form of the release of ${release.released_on}`
  }))
  for (const { addresses, form } of addressesOfForms) {
    const byAddress = addresses.flatMap((address) => loaded.find(({ url }) => url === address) ?? [])
    if (kind === "live" && byAddress.length === addresses.length) {
      known.push(...byAddress)
      yield* progress.advance({ finished: formFeed(form) })
      continue
    }
    yield* progress.advance({ started: formFeed(form) })
    const fetched = yield* fetchForm(form, addresses)
    if ("left_out" in fetched) {
      left_out.push(fetched.left_out)
      yield* progress.advance({ finished: formFeed(form) })
      continue
    }
    const { files } = fetched
    const byContent = files.flatMap((file) => {
      const payload = loaded.find(({ raw_sha256 }) => raw_sha256 === file.sha256)
      return payload === undefined ? [] : [{ payload, file }]
    })
    if (byContent.length < files.length) {
      forms.push({ form, released_on: release.released_on, files })
      continue
    }
    known.push(...byContent.map(({ payload }) => payload))
    yield* progress.advance({ finished: formFeed(form) })
    const isNew = ({ url }: FetchedPayload) =>
      url.startsWith(datasetsUrl) && !loaded.some((payload) => payload.url === url)
    moved.push(...byContent.filter(({ file }) => isNew(file)))
  }
  return { forms, known, moved, left_out }
})
