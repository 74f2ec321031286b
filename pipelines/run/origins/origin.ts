/**
 * Sources of upstream bytes: the network, recordings, a local file, or the bundled samples. Pipelines request addresses
 * in the same way from each. One `open` is one try. `retry` is the origin's own policy (`tries.ts`), and covers opening
 * *and* reading the body, because a body that breaks off must be requested again.
 */
import { Context, type Duration, Effect, type Redacted, Schema, type Scope, type Stream } from "effect"
import { codeOf, reasonOf } from "../files/causes.ts"

/** What the source said of a payload, for conditional requests. */
export interface Validators {
  readonly etag: string | null
  readonly last_modified: string | null
  /** The address that returned the payload. Only requests to this address get the condition. */
  readonly final_url: string
  readonly extra_values: Readonly<Record<string, string>>
}

export interface SourceRequest {
  /** Full address with its query. It is logged and archived unchanged, so it never contains a secret. */
  readonly url: string
  readonly accept: string
  /** User name of HTTP Basic with an empty password. Sent only to the origin of `url`, never along a redirect. */
  readonly basicUser?: Redacted.Redacted
  /** Environment variable for the key of this upstream, whether it is set or not: the error of a refusal names it. */
  readonly keyVariable?: string
  /** Hosts in the same pool share its limits, for platforms that throttle across their hosts. */
  readonly pool?: string
  /** Time from this request to the next one of its host and pool, if longer than usual. */
  readonly interval?: Duration.Input
  /**
   * The file is so large that a broken download is resumed, in this run or in a later one. Its time is not limited as long
   * as bytes arrive.
   */
  readonly resumable?: true
  /**
   * The service may need longer than usual to its first byte. Only later tries wait for it, up to the limit of all tries:
   * they come after the first ones of all other requests.
   */
  readonly slow?: true
  /** More bytes than this after decompression are an error: a decompression bomb, or an endless body. */
  readonly maxBytes?: number
  /** Further values to return: header fields in lower case, and values of cookies as `set-cookie:<name>`. */
  readonly extraValues?: ReadonlyArray<string>
  /** Checks the target of a redirect before it is requested, and returns its interval. If absent, all are followed. */
  readonly mayFollow?: (to: URL) => Effect.Effect<Pick<SourceRequest, "interval">, GivenUp>
  /** A payload that is already in the archive: the response may be 304, which confirms it. */
  readonly validators?: Validators
  /** Remaining time for all attempts together, and the error after it. */
  readonly timeLimit?: { readonly remaining: Duration.Input; readonly error: GivenUp }
}

export interface Resume {
  readonly from: number
  /** Strong `ETag` or `Last-Modified` of this part: a different one means a different payload. */
  readonly validator: string
}

export interface SourceResponse {
  readonly status: number
  /** The address that finally responded, without its query if a redirect led there: the query may be signed. */
  readonly final_url: string
  readonly content_type: string | null
  readonly etag: string | null
  readonly last_modified: string | null
  /** False if a recording without a query was used for an address with one: the requested window was not applied. */
  readonly exact: boolean
  /** Offset of the body in the payload: more than 0 only if the request was to resume there. */
  readonly from: number
  readonly total: number | null
  /** The existing values of `extraValues`, by name. Absent if there are none. */
  readonly extra_values?: Readonly<Record<string, string>>
  /** The payload without content encoding. It is read once, inside the scope of `open`. */
  readonly body: Stream.Stream<Uint8Array, UpstreamUnavailable | RecordingUnreadable | AnswerTooLarge | GivenUp>
  /** Set if the payload is a local file: copying it is three times as fast as reading `body`. */
  readonly file?: string
}

export class UpstreamUnavailable extends Schema.TaggedError<UpstreamUnavailable>()("UpstreamUnavailable", {
  url: Schema.String,
  problem: Schema.String,
  status: Schema.NullOr(Schema.Int).pipe(Schema.withConstructorDefault(Effect.succeed(null))),
  tries: Schema.Int.pipe(Schema.withConstructorDefault(Effect.succeed(1))),
  may_pass: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(true))),
  /** Set if the host is paused for all requests: the next `open` waits by itself. */
  pause_ms: Schema.NullOr(Schema.Int).pipe(Schema.withConstructorDefault(Effect.succeed(null))),
  /** Set if the response requires a pause before the next try of this request. Its host is free meanwhile. */
  wait_ms: Schema.optionalKey(Schema.Int),
  /** There was no connection to the host: the name, the host or its certificate is at fault, not the address. */
  no_connection: Schema.optionalKey(Schema.Literal(true)),
  /** One sentence. Absent if waiting is the only remedy. */
  advice: Schema.optionalKey(Schema.String),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    const tries = this.tries === 1 ? "1 try" : `${this.tries} tries`
    return `GET ${this.url} failed after ${tries}: ${this.problem}. ${this.advice ?? "Run the same command again later."}`
  }
}

/** No request was sent. Another run may send it. */
export class NotRequested extends Schema.TaggedError<NotRequested>()("NotRequested", {
  url: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${notRequested}: ${this.problem}.`
  }
}
/** How the message of `NotRequested` begins, without the address: many feeds have the same reason. */
export const notRequested = "It was not requested"

/** 401 or 403. A retry does not help. */
export class AccessDenied extends Schema.TaggedError<AccessDenied>()("AccessDenied", {
  url: Schema.String,
  status: Schema.Int,
  problem: Schema.String,
  key_variable: Schema.NullOr(Schema.String),
  key_sent: Schema.Boolean
}) {
  override get message() {
    return `GET ${this.url} was denied: ${this.problem}. ${this.advice}`
  }

  private get advice() {
    if (this.key_variable === null) return "This source does not allow access to that address."
    if (!this.key_sent) return `This source requires a key: set ${this.key_variable} and run again.`
    return `Check the key in ${this.key_variable}: it may be incomplete, expired or not meant for this source.`
  }
}

/** A status other than 200 that a retry will not change. 404 or 410 means that the resource does not exist. */
export class RefusedByUpstream extends Schema.TaggedError<RefusedByUpstream>()("RefusedByUpstream", {
  url: Schema.String,
  status: Schema.Int,
  problem: Schema.String,
  /** Of a JSON body that states one, such as `rest_post_invalid_page_number` of WordPress. */
  code: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `GET ${this.url} was refused: ${this.problem}. The address may have changed, or the data was removed.`
  }
}

export class AnswerTooLarge extends Schema.TaggedError<AnswerTooLarge>()("AnswerTooLarge", {
  url: Schema.String,
  longest: Schema.Int
}) {
  override get message() {
    return `GET ${this.url} was aborted: the response is larger than ${this.longest.toLocaleString("en-US")} bytes.`
  }
}

/** The caller gave up: its time has run out, or it does not follow a redirect. */
export class GivenUp extends Schema.TaggedError<GivenUp>()("GivenUp", {
  url: Schema.String,
  /** The caller's own code for the reason. */
  reason: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `GET ${this.url} was aborted: ${this.problem}.`
  }
}

/** The reason of `GivenUp` if the time of the whole run has run out. */
export const runTimeOver = "run_time_over"

/** An address that is never requested, whether a list names it or a redirect leads to it. */
export class ForbiddenAddress extends Schema.TaggedError<ForbiddenAddress>()("ForbiddenAddress", {
  url: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `GET ${this.url} was not sent: ${this.problem}.`
  }
}

export class NotRecorded extends Schema.TaggedError<NotRecorded>()("NotRecorded", {
  url: Schema.String,
  kind: Schema.Literals(["replay", "sample"]),
  folder: Schema.String,
  looked_for: Schema.Array(Schema.String)
}) {
  override get message() {
    return this.kind === "sample"
      ? `The bundled samples have no recording of GET ${this.url}. Set LARDER_SOURCES=live to read from the network.`
      : `There is no recording of GET ${this.url}. Looked in ${this.folder} for:\n  ${this.looked_for.join("\n  ")}`
  }
}

/** A recording exists and cannot be read: no permission, or its `.gz` is damaged. */
export class RecordingUnreadable extends Schema.TaggedError<RecordingUnreadable>()("RecordingUnreadable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The recording ${this.file} cannot be read: ${reasonOf(this.cause)}. Record it again or remove it.`
  }
}

const RecordedRefusal = Schema.Union([
  UpstreamUnavailable,
  NotRequested,
  AccessDenied,
  RefusedByUpstream,
  AnswerTooLarge,
  GivenUp,
  ForbiddenAddress,
  RecordingUnreadable
])
type RecordedRefusal = typeof RecordedRefusal.Type

export type OriginError = RecordedRefusal | NotRecorded
export const isOriginError: (error: unknown) => error is OriginError = Schema.is(
  Schema.Union([RecordedRefusal, NotRecorded])
)

const isRecordedRefusal = Schema.is(RecordedRefusal)
const encodeRecordedRefusal = Schema.encodeSync(RecordedRefusal)
/** Decodes the JSON of a refusal from `encodeRefusal`. */
export const decodeRefusal = Schema.decodeUnknownEffect(Schema.fromJsonString(RecordedRefusal))

/**
 * A line of the list of fetches for an address that returned no payload: a run that is repeated from the archive gets
 * the same error. A missing recording has no line, because it will be missing the next time, too.
 */
export const RefusedRequest = Schema.Struct({
  run_id: Schema.String,
  pipeline: Schema.String,
  url: Schema.String,
  refused_at: Schema.String,
  refusal: RecordedRefusal
})
export type RefusedRequest = typeof RefusedRequest.Type

/** Removes details of this machine: local paths, and causes, which a spread leaves out. */
const removeLocalDetails = (url: string, error: RecordedRefusal) => {
  if (error._tag === "UpstreamUnavailable") return new UpstreamUnavailable({ ...error })
  if (error._tag !== "RecordingUnreadable") return error
  return new RecordingUnreadable({ file: url, cause: codeOf(error.cause) || "it was unreadable in the original run" })
}

export const encodeRefusal = (url: string, error: unknown) =>
  isRecordedRefusal(error) ? encodeRecordedRefusal(removeLocalDetails(url, error)) : undefined

interface OriginService {
  readonly kind: "live" | "replay" | "sample"
  /**
   * One try. Occupies the host until the scope closes. Succeeds with 200, 206 for a resumed download, or 304 for
   * a payload in the archive; anything else is an error.
   */
  open(request: SourceRequest, resume?: Resume): Effect.Effect<SourceResponse, OriginError, Scope.Scope>
  /** The available addresses with this prefix, sorted. Undefined if they cannot be listed, as for the network. */
  list(prefix: string): Effect.Effect<ReadonlyArray<string> | undefined, RecordingUnreadable>
  /** Retries a whole attempt, including the body, while `UpstreamUnavailable` allows it. */
  retry<A, E, R>(attempt: Effect.Effect<A, E | UpstreamUnavailable, R>): Effect.Effect<A, E | UpstreamUnavailable, R>
}

export class Origin extends Context.Service<Origin, OriginService>()("larder/pipelines/Origin") {}
