/**
 * Where upstream bytes come from: the network, recordings, a given file, or the bundled samples. A pipeline asks for addresses and
 * never knows which. One `open` is one try; `retrying` is the origin's own policy, and goes around opening *and* reading the
 * body, because a body that breaks off in the middle has to be asked for again.
 */
import { Context, type Duration, Effect, type Redacted, Schema, type Scope, type Stream } from "effect"
import type { Held } from "./conditional.ts"

export interface Ask {
  /** Full address with its query. It is logged and archived as it is, so it never holds a secret. */
  readonly url: string
  /** Media types, as the `Accept` header wants them. */
  readonly accept: string
  /** User name of HTTP Basic with an empty password. Sent to the origin of `url` alone, never along a redirect. */
  readonly basicUser?: Redacted.Redacted
  /** Environment variable that holds the key of this upstream, whether it is set or not: a refusal names it. */
  readonly keyVariable?: string
  /** Hosts asked under one lane take turns with each other, for platforms that throttle across their hosts. */
  readonly lane?: string
  /** Time from this request to the next one of its host and lane, where that is more than the usual. */
  readonly interval?: Duration.Input
  /** A file so large that a download that broke off goes on from there, in this run or in a later one. */
  readonly resumable?: true
  /** More bytes of payload than this, after decompression, are an error: a compressed bomb, or a body without an end. */
  readonly longest?: number
  /** For the whole body, where that is another time than the usual. */
  readonly within?: Duration.Input
  /** What else the answer shall tell: header fields in lower case, and values of cookies as `set-cookie:<name>`. */
  readonly wants?: ReadonlyArray<string>
  /** Judges where a redirect leads before anything is asked there, and says at which interval. Absent: all are followed. */
  readonly mayFollow?: (to: URL) => Effect.Effect<Pick<Ask, "interval">, GivenUp>
  /** A payload that is here already: the answer may be 304, which says that it is still the one. */
  readonly held?: Held
  /** For all tries together, and what it means that they took longer. */
  readonly patience?: { readonly left: Duration.Input; readonly over: GivenUp }
}

/** What there is of a payload already. */
export interface Resume {
  /** Where to go on. */
  readonly from: number
  /** Strong `ETag` or `Last-Modified` of what there is: another one means another payload. */
  readonly validator: string
}

export interface Answer {
  readonly status: number
  /** The address that answered in the end, without its query where a redirect led there: it may be signed. */
  readonly final_url: string
  readonly content_type: string | null
  readonly etag: string | null
  readonly last_modified: string | null
  /** False where a recording without a query answered an address that has one: the window asked for was not applied. */
  readonly exact: boolean
  /** Where in the payload the body begins: more than 0 only where the ask was to resume there. */
  readonly from: number
  /** Length of the whole payload; null where nobody said. */
  readonly total: number | null
  /** What it told of `wants`, by the same names. Absent where it told nothing. */
  readonly told?: Readonly<Record<string, string>>
  /** The payload without content encoding. It is read once, inside the scope of `open`. */
  readonly body: Stream.Stream<Uint8Array, UpstreamUnavailable | RecordingUnreadable | AnswerTooLarge>
  /** Where the payload is a file of this machine: copying it takes a third of the time of its `body`. */
  readonly file?: string
}

/** The source did not answer, or not to the end. */
export class UpstreamUnavailable extends Schema.TaggedError<UpstreamUnavailable>()("UpstreamUnavailable", {
  url: Schema.String,
  problem: Schema.String,
  status: Schema.NullOr(Schema.Int).pipe(Schema.withConstructorDefault(Effect.succeed(null))),
  /** How many tries of this run it took. */
  tries: Schema.Int.pipe(Schema.withConstructorDefault(Effect.succeed(1))),
  /** Whether another try of this run makes sense. */
  may_pass: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(true))),
  /** Set where the host is paused for everybody: the next `open` waits by itself. */
  pause_ms: Schema.NullOr(Schema.Int).pipe(Schema.withConstructorDefault(Effect.succeed(null))),
  /** What to do about it, as a sentence. Absent where only time helps. */
  advice: Schema.optionalKey(Schema.String),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    const tries = this.tries === 1 ? "1 try" : `${this.tries} tries`
    return `GET ${this.url} failed after ${tries}: ${this.problem}. ${this.advice ?? "Run the same command again later."}`
  }
}

/** 401 or 403. Asking again does not help. */
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
    if (this.key_variable === null) return "This source does not let us read that address."
    if (!this.key_sent) return `This source wants a key: set ${this.key_variable} and run again.`
    return `Check the key in ${this.key_variable}: it may be incomplete, expired or not meant for this source.`
  }
}

/** Any other answer that is not 200 and will not change by asking again. A 404 or 410 says that the thing is gone. */
export class RefusedByUpstream extends Schema.TaggedError<RefusedByUpstream>()("RefusedByUpstream", {
  url: Schema.String,
  status: Schema.Int,
  problem: Schema.String
}) {
  override get message() {
    return `GET ${this.url} was refused: ${this.problem}. The address may have changed or the data is gone.`
  }
}

/** It is longer than whoever asked is ready to take. */
export class AnswerTooLarge extends Schema.TaggedError<AnswerTooLarge>()("AnswerTooLarge", {
  url: Schema.String,
  longest: Schema.Int
}) {
  override get message() {
    return `GET ${this.url} was given up: the answer is longer than ${this.longest.toLocaleString("en-US")} bytes.`
  }
}

/** Whoever asks leaves it at that: its time is over, or it does not follow a redirect. */
export class GivenUp extends Schema.TaggedError<GivenUp>()("GivenUp", {
  url: Schema.String,
  /** In the words of whoever asks: it tells its reasons apart by this. */
  reason: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `GET ${this.url} was given up: ${this.problem}.`
  }
}

/** An address that is not asked, whoever wrote it into a list or redirected to it. */
export class ForbiddenAddress extends Schema.TaggedError<ForbiddenAddress>()("ForbiddenAddress", {
  url: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `GET ${this.url} was not sent: ${this.problem}.`
  }
}

/** The folder of recordings has no file for this address. */
export class NotRecorded extends Schema.TaggedError<NotRecorded>()("NotRecorded", {
  url: Schema.String,
  kind: Schema.Literals(["replay", "sample"]),
  folder: Schema.String,
  looked_for: Schema.Array(Schema.String)
}) {
  override get message() {
    return this.kind === "sample"
      ? `The bundled samples do not answer GET ${this.url}. Set LARDER_SOURCES=live to ask the network.`
      : `No recording answers GET ${this.url}. Looked in ${this.folder} for:\n  ${this.looked_for.join("\n  ")}`
  }
}

/** A recording is there and cannot be read: no permission, or its `.gz` is damaged. */
export class RecordingUnreadable extends Schema.TaggedError<RecordingUnreadable>()("RecordingUnreadable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The recording ${this.file} cannot be read: ${reason}. Record it again or remove it.`
  }
}

export type OriginError =
  | UpstreamUnavailable
  | AccessDenied
  | RefusedByUpstream
  | AnswerTooLarge
  | GivenUp
  | ForbiddenAddress
  | NotRecorded
  | RecordingUnreadable

interface Opens {
  readonly kind: "live" | "replay" | "sample"
  /** One try. Holds the host's turn until the scope closes; answers are 200, 206 to go on, or 304 for what is held; all else is an error. */
  open(ask: Ask, resume?: Resume): Effect.Effect<Answer, OriginError, Scope.Scope>
  /** The addresses held that begin like this, sorted. Undefined: cannot tell, as the network cannot. */
  listing(prefix: string): Effect.Effect<ReadonlyArray<string> | undefined, RecordingUnreadable>
  /** Repeats a whole attempt, open and body, while `UpstreamUnavailable` says that this may help. */
  retrying<A, E, R>(attempt: Effect.Effect<A, E | UpstreamUnavailable, R>): Effect.Effect<A, E | UpstreamUnavailable, R>
}

export class Origin extends Context.Service<Origin, Opens>()("larder/pipelines/Origin") {}
