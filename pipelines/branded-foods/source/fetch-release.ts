/** Fetches new payloads of a release into the archive. If a form cannot be fetched, the other one is read. */
import type { FeedLeftOut } from "@larder/schemas"
import { Effect, Schema } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import type { FetchedPayload } from "../../run/archive/fetch-list.ts"
import { Origin } from "../../run/origins/origin.ts"
import { Progress } from "../../run/progress.ts"
import { datasets, type Release } from "./newest-release.ts"

export type ReleaseForm = "json" | "csv"

/** The feed of a form, or the source alone if the form of a file is not known yet. */
export const formFeed = (form: ReleaseForm | undefined) => (form === undefined ? "gov-fdc" : `gov-fdc/${form}`)

export interface FormToLoad {
  /** Undefined for a zip whose name does not say its form. */
  readonly form: ReleaseForm | undefined
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

/** A payload that was loaded before, and now has another address. */
export interface Recognised {
  readonly payload: KnownPayload
  readonly file: FetchedPayload
}

/** Errors of an address that returned no response, or none that is a payload. */
export const unreachable = [
  "UpstreamUnavailable",
  "AccessDenied",
  "RefusedByUpstream",
  "AnswerTooLarge",
  "GivenUp",
  "ForbiddenAddress",
  "NotRecorded"
] as const

const fetchForm = (form: ReleaseForm | undefined, addresses: ReadonlyArray<string>) => {
  const leftOut = (kind: FeedLeftOut["kind"]) => (error: Error) =>
    Effect.succeed({ left_out: { feed: formFeed(form), kind, reason: error.message } })
  return Effect.forEach(addresses, (url) =>
    Archive.use((archive) => archive.fetch({ url, accept: "application/zip, */*", resumable: true }))
  ).pipe(
    Effect.map((files) => ({ files })),
    Effect.catchTag(unreachable, leftOut("unreachable")),
    Effect.catchTag("RecordingUnreadable", leftOut("untrusted"))
  )
}

/** A release never changes under its name, so payloads that this mapping has read, `loaded`, are not requested again. */
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
  /** Those of them with a new address at the source: the next live run need not fetch them. */
  const recognised: Array<Recognised> = []
  const left_out: Array<FeedLeftOut> = []
  for (const { addresses, form } of addressesOfForms) {
    const byAddress = addresses.flatMap((address) => loaded.find(({ url }) => url === address) ?? [])
    if (kind === "live" && byAddress.length === addresses.length) {
      known.push(...byAddress)
      yield* progress.advance({ feed: formFeed(form) })
      continue
    }
    yield* progress.advance({ reading: formFeed(form) })
    const fetched = yield* fetchForm(form, addresses)
    if ("left_out" in fetched) {
      left_out.push(fetched.left_out)
      yield* progress.advance({ feed: formFeed(form) })
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
    yield* progress.advance({ feed: formFeed(form) })
    const isNew = ({ url }: FetchedPayload) =>
      url.startsWith(datasets) && !loaded.some((payload) => payload.url === url)
    recognised.push(...byContent.filter(({ file }) => isNew(file)))
  }
  return { forms, known, recognised, left_out }
})
