/**
 * Fetches the payloads of a release into the archive, except known payloads that need no new request. A form that
 * cannot be fetched is left out, and the other one is read.
 */
import type { FeedLeftOut } from "@larder/schemas"
import { Effect, Schema } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import type { RawFile } from "../../run/archive/fetch-list.ts"
import { Origin } from "../../run/origins/origin.ts"
import { Progress } from "../../run/progress.ts"
import { datasets, type Release } from "./newest-release.ts"

export type Form = "json" | "csv"

/** The feed of a form, or the source alone if the form of a file is not known yet. */
export const feedOf = (form: Form | undefined) => (form === undefined ? "gov-fdc" : `gov-fdc/${form}`)

export interface FormToLoad {
  /** Undefined for a zip whose name does not tell which form it holds. */
  readonly form: Form | undefined
  readonly released_on: string | null
  /** A zip, the unpacked JSON file, or the separate CSV files. */
  readonly files: ReadonlyArray<RawFile>
}

/** A payload that an earlier run loaded, as `ingest.raw_file` records it. */
export const KnownPayload = Schema.Struct({
  raw_sha256: Schema.String,
  url: Schema.String,
  feed: Schema.String,
  mapping_sha256: Schema.String,
  rows_read: Schema.Int,
  rows_rejected: Schema.Int
})
export type KnownPayload = typeof KnownPayload.Type

/** A payload that was loaded before, with its local file and its address at the source. */
export interface Recognised {
  readonly payload: KnownPayload
  readonly file: RawFile
}

const fetchAll = (addresses: ReadonlyArray<string>) =>
  Effect.forEach(addresses, (url) =>
    Archive.use((archive) => archive.fetch({ url, accept: "application/zip, */*", resumable: true }))
  )

/** Errors of an address that gave no answer, or an answer that is not a payload. */
const unreachable = [
  "UpstreamUnavailable",
  "AccessDenied",
  "RefusedByUpstream",
  "AnswerTooLarge",
  "GivenUp",
  "ForbiddenAddress",
  "NotRecorded"
] as const

const fetchForm = (form: Form | undefined, addresses: ReadonlyArray<string>) => {
  const leftOut = (kind: FeedLeftOut["kind"]) => (error: Error) =>
    Effect.succeed({ left_out: { feed: feedOf(form), kind, reason: error.message } })
  return fetchAll(addresses).pipe(
    Effect.map((files) => ({ files })),
    Effect.catchTag(unreachable, leftOut("unreachable")),
    Effect.catchTag("RecordingUnreadable", leftOut("untrusted"))
  )
}

/**
 * A release never changes under its name, so payloads of hundreds of megabytes are not requested again. `current` are
 * the payloads that this mapping has read.
 */
export const fetchRelease = Effect.fnUntraced(function* (release: Release, current: ReadonlyArray<KnownPayload>) {
  const { kind } = yield* Origin
  const progress = yield* Progress
  const asList = (addresses: string | ReadonlyArray<string> | undefined) =>
    typeof addresses === "string" ? [addresses] : (addresses ?? [])
  const wanted = [
    { form: undefined, addresses: asList(release.zip) },
    { form: "json" as const, addresses: asList(release.json) },
    { form: "csv" as const, addresses: asList(release.csv) }
  ].filter(({ addresses }) => addresses.length > 0)

  const forms: Array<FormToLoad> = []
  const known: Array<KnownPayload> = []
  const recognised: Array<Recognised> = []
  const left_out: Array<FeedLeftOut> = []
  for (const { addresses, form } of wanted) {
    const byAddress = addresses.flatMap((address) => current.find(({ url }) => url === address) ?? [])
    if (kind === "live" && byAddress.length === addresses.length) {
      known.push(...byAddress)
      yield* progress.advance({ feed: feedOf(form) })
      continue
    }
    yield* progress.advance({ reading: feedOf(form) })
    const fetched = yield* fetchForm(form, addresses)
    if ("left_out" in fetched) {
      left_out.push(fetched.left_out)
      yield* progress.advance({ feed: feedOf(form) })
      continue
    }
    const { files } = fetched
    const byContent = files.flatMap((file) => {
      const payload = current.find(({ raw_sha256 }) => raw_sha256 === file.sha256)
      return payload === undefined ? [] : [{ payload, file }]
    })
    if (byContent.length < files.length) {
      forms.push({ form, released_on: release.released_on, files })
      continue
    }
    known.push(...byContent.map(({ payload }) => payload))
    yield* progress.advance({ feed: feedOf(form) })
    const isNew = ({ url }: RawFile) => url.startsWith(datasets) && !current.some((payload) => payload.url === url)
    recognised.push(...byContent.filter(({ file }) => isNew(file)))
  }
  return {
    forms,
    /** Payloads that were loaded before, with the same mapping. */
    known,
    /** Those of them with a new address at the source: the next live run need not fetch them. */
    recognised,
    /** Forms that could not be fetched. */
    left_out
  }
})
