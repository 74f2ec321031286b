/**
 * Requests to a depot over the network. A request is given up if nothing moves for a while, and is retried while its
 * fault may pass. The client must send the length of a streamed body: undici's client does, the one of `fetch` does
 * not, and S3 then refuses the request.
 */
import { createReadStream } from "node:fs"
import { Clock, Context, Duration, Effect, Schedule, Schema, Stream } from "effect"
import type * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import { DepotUnusable } from "./depot.ts"

/** How long to wait for a depot. */
export const Patience = Context.Reference("larder/warehouse/DepotPatience", {
  defaultValue: () => ({
    /**
     * A request is given up if nothing moves in either direction for this long. A service may be busy with gigabytes
     * that it has just received.
     */
    idle: Duration.seconds(30),
    firstPause: Duration.millis(200),
    longestPause: Duration.seconds(5),
    /** Number of tries, including the first. With these pauses they take 11 seconds. */
    tries: 7
  })
})

/** Why a request failed. If `may_pass` is set, it is unknown whether the request took effect. */
export class RequestFailed extends Schema.TaggedError<RequestFailed>()("RequestFailed", {
  /** Without a full stop. */
  problem: Schema.String,
  /** What to do, as a sentence. */
  advice: Schema.String,
  may_pass: Schema.Boolean
}) {
  override get message() {
    return this.problem
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers.Headers
  readonly text: string
}

/** A body that is sent from a file. */
interface Upload {
  readonly file: string
  readonly bytes: number
}

/** Temporary faults: a service that is busy, restarts, or is behind a proxy that cannot reach it. */
export const passes = (status: number) => [408, 429, 500, 502, 503, 504].includes(status)

const checkNetwork = "Check the network and the service, and run again."

/** In bytes. Manifests have some kilobytes, pages of a listing some hundred kilobytes. */
const longestText = 64 << 20

/** Uses the cause, not the client's error: that error holds the request with its credentials. */
const broken = ({ reason }: HttpClientError) => {
  const cause: { readonly message?: unknown; readonly code?: unknown } = Object(reason.cause)
  const told = [cause.message, cause.code].find((text) => typeof text === "string" && text !== "") // if several addresses failed: only a code
  return new RequestFailed({
    problem: `the connection failed (${told ?? reason._tag})`,
    advice: checkNetwork,
    may_pass: !String(cause.code).includes("CERT")
  })
}

const stalled = (idle: Duration.Duration) =>
  new RequestFailed({ problem: `no data arrived for ${Duration.format(idle)}`, advice: checkNetwork, may_pass: true })

/** Fails if `moved` is not called within the idle time. */
const whileMoving = <A, E, R>(work: (moved: Effect.Effect<void>) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { idle } = yield* Patience
    let last = yield* Clock.currentTimeMillis
    const moved = Effect.map(Clock.currentTimeMillis, (now) => {
      last = now
    })
    const watch = Effect.gen(function* () {
      for (;;) {
        const left = last + Duration.toMillis(idle) - (yield* Clock.currentTimeMillis)
        if (left <= 0) return yield* stalled(idle)
        yield* Effect.sleep(left)
      }
    })
    return yield* Effect.raceFirst(work(moved), watch)
  })

const pauses = Effect.map(Patience, ({ firstPause, longestPause, tries }) =>
  Schedule.min([Schedule.exponential(firstPause), Schedule.spaced(longestPause)]).pipe(
    Schedule.jittered,
    Schedule.upTo({ times: tries - 1 }),
    Schedule.while(({ input }) => input instanceof RequestFailed && input.may_pass)
  )
)

/** Retries while the fault may pass. */
export const again = <A, E, R>(attempt: Effect.Effect<A, E, R>) =>
  Effect.flatMap(pauses, (schedule) => Effect.retry(attempt, schedule))

/** Adds what was attempted, such as "write a name in a place". */
export const trying = (attempt: string) => (failure: RequestFailed) =>
  new DepotUnusable({ attempt, cause: new Error(failure.problem), advice: failure.advice })

/** A host must not encode what it sends: ranges count the bytes of the object itself. */
const isAsItIs = ({ headers }: HttpClientResponse) => (headers["content-encoding"] ?? "identity") === "identity"

const refuse = (problem: string) =>
  new RequestFailed({ problem, advice: "Check the host, and what is between it and this machine.", may_pass: false })

const withoutFirst = <E, R>(count: number, bytes: Stream.Stream<Uint8Array, E, R>) =>
  Stream.mapAccum(
    bytes,
    () => count,
    (left, piece) => [Math.max(0, left - piece.length), left < piece.length ? [piece.subarray(left)] : []]
  )

/** The bytes of an answer from `from` on, whatever the host made of the range; a failure if that is uncertain. */
const restOf = (response: HttpClientResponse, from: number) => {
  const bytes = Stream.mapError(response.stream, broken)
  if (!isAsItIs(response)) return Stream.fail(refuse(`the object is sent as ${response.headers["content-encoding"]}`))
  if (response.status === 200) return withoutFirst(from, bytes) // not every host supports ranges
  if (response.status === 416) return Stream.empty // there are no bytes from there on
  const range = response.headers["content-range"] ?? ""
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range) ?? []
  const isRest = Number(first) === from && (total === "*" || Number(last) + 1 === Number(total))
  return isRest
    ? bytes
    : Stream.fail(refuse(`the bytes from ${from} on were requested, but others were sent (${range})`))
}

type RequestEffect = Effect.Effect<HttpClientRequest.HttpClientRequest>

/**
 * Sends requests. An answer of any status is returned. A failure is a connection that breaks or stalls, or a body that
 * is encoded or too long.
 */
export const makeRequests = Effect.map(HttpClient.HttpClient, (given) => {
  const client = HttpClient.withScope(given)
  const send = (request: HttpClientRequest.HttpClientRequest) =>
    client
      .execute(request)
      .pipe(Effect.provideService(HttpClient.TracerPropagationEnabled, false), Effect.mapError(broken))

  const textOf = (response: HttpClientResponse, moved: Effect.Effect<void>) =>
    response.stream.pipe(
      Stream.mapError(broken),
      Stream.tap(() => moved),
      Stream.limitBytes(longestText, () => Stream.fail(refuse(`the answer is longer than ${longestText} bytes`))),
      Stream.mkUint8Array,
      Effect.map((bytes) => Buffer.from(bytes).toString("utf8"))
    )

  const ask = (asked: RequestEffect, upload?: Upload): Effect.Effect<Answer, RequestFailed> =>
    whileMoving((moved) =>
      Effect.gen(function* () {
        const request = yield* asked
        const response = yield* send(upload === undefined ? request : withFile(request, upload, moved))
        yield* moved
        if (!isAsItIs(response)) return yield* refuse(`the text is sent as ${response.headers["content-encoding"]}`)
        return { status: response.status, headers: response.headers, text: yield* textOf(response, moved) }
      })
    ).pipe(Effect.scoped)

  /** The bytes from `from` on. If the connection breaks, the next one resumes from there. */
  const bytes = (
    asked: (range: Readonly<Record<string, string>>) => RequestEffect,
    from: number,
    refusal: (answer: Answer) => Effect.Effect<never, RequestFailed>
  ): Stream.Stream<Uint8Array, RequestFailed> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const { idle } = yield* Patience
        let at = from
        const opened = Effect.gen(function* () {
          const response = yield* send(yield* asked(at === 0 ? {} : { range: `bytes=${at}-` })).pipe(
            Effect.timeoutOrElse({ duration: idle, orElse: () => Effect.fail(stalled(idle)) })
          )
          const { headers, status } = response
          if (status === 200 || (at > 0 && (status === 206 || status === 416))) return restOf(response, at)
          return yield* refusal({ status, headers, text: yield* whileMoving((moved) => textOf(response, moved)) })
        })
        return Stream.unwrap(opened).pipe(
          Stream.timeoutOrElse({ duration: idle, orElse: () => Stream.fail(stalled(idle)) }),
          Stream.map((piece) => {
            at += piece.length
            return piece
          }),
          Stream.retry(yield* pauses)
        )
      })
    )

  return { ask, bytes }
})

const withFile = (request: HttpClientRequest.HttpClientRequest, { bytes, file }: Upload, moved: Effect.Effect<void>) =>
  HttpClientRequest.bodyStream(
    request,
    Stream.suspend(() => Stream.fromAsyncIterable<Uint8Array, unknown>(createReadStream(file), (cause) => cause)).pipe(
      Stream.tap(() => moved)
    ),
    { contentType: "application/octet-stream", contentLength: bytes }
  )
