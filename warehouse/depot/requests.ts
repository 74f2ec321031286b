/**
 * Sends requests to a depot over the network. A request fails if no data moves for a while, and is retried while its
 * fault may be temporary. The client must send the length of a streamed body, because S3 otherwise rejects the
 * request: undici's client sends it, the client of `fetch` does not.
 */
import { createReadStream } from "node:fs"
import { Context, Duration, Effect, Queue, Schedule, Schema, Stream } from "effect"
import type * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import { DepotUnusable } from "./depot.ts"

export const RequestLimits = Context.Reference("larder/warehouse/DepotRequestLimits", {
  defaultValue: () => ({
    /** Maximum time without data in either direction. A service may be busy with gigabytes that it just received. */
    idleTimeout: Duration.seconds(30),
    firstRetryInterval: Duration.millis(200),
    maxRetryInterval: Duration.seconds(5),
    /** Including the first. With these intervals, all attempts take 11 seconds. */
    maxAttempts: 7
  })
})

/** Why a request failed. If `is_retryable` is set, it is unknown whether the request took effect. */
export class RequestFailed extends Schema.TaggedError<RequestFailed>()("RequestFailed", {
  /** Without a full stop. */
  problem: Schema.String,
  /** What to do, as a sentence. */
  advice: Schema.String,
  is_retryable: Schema.Boolean
}) {
  override get message() {
    return this.problem
  }
}

/** A requested object is missing. */
export const missingObject = new RequestFailed({
  problem: "it does not exist",
  advice: "If its generation has been removed, use a newer one.",
  is_retryable: false
})

export interface DepotResponse {
  readonly status: number
  readonly headers: Headers.Headers
  readonly text: string
}

interface Upload {
  readonly file: string
  readonly bytes: number
}

/** Whether a service is busy, restarts, or is behind a proxy that cannot reach it. */
export const isTemporaryStatus = (status: number) => [408, 429, 500, 502, 503, 504].includes(status)

const networkAdvice = "Check the network and the service, and run again."

/** In bytes. Manifests have a few kilobytes, pages of a listing a few hundred kilobytes. */
const maxTextLength = 64 << 20

/** Uses the cause, not the client's error, which contains the request with its credentials. */
const connectionFailed = ({ reason }: HttpClientError) => {
  const cause: { readonly message?: unknown; readonly code?: unknown } = Object(reason.cause)
  const text = [cause.message, cause.code].find((value) => typeof value === "string" && value !== "") // if several addresses failed: only a code
  return new RequestFailed({
    problem: `the connection failed (${text ?? reason._tag})`,
    advice: networkAdvice,
    is_retryable: !String(cause.code).includes("CERT")
  })
}

const stalled = (timeout: Duration.Duration) =>
  new RequestFailed({
    problem: `no data arrived for ${Duration.format(timeout)}`,
    advice: networkAdvice,
    is_retryable: true
  })

/** Fails if `reportProgress` is not called within the idle timeout. */
const whileActive = <A, E, R>(work: (reportProgress: Effect.Effect<unknown>) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { idleTimeout: duration } = yield* RequestLimits
    const progress = yield* Queue.sliding<void>(1)
    const watch = Queue.take(progress).pipe(
      Effect.timeoutOrElse({ duration, orElse: () => Effect.fail(stalled(duration)) }),
      Effect.forever
    )
    return yield* Effect.raceFirst(work(Queue.offer(progress, undefined)), watch)
  })

const retrySchedule = Effect.map(RequestLimits, ({ firstRetryInterval, maxRetryInterval, maxAttempts }) =>
  Schedule.min([Schedule.exponential(firstRetryInterval), Schedule.spaced(maxRetryInterval)]).pipe(
    Schedule.jittered,
    Schedule.upTo({ times: maxAttempts - 1 }),
    Schedule.while(({ input }) => input instanceof RequestFailed && input.is_retryable)
  )
)

export const withRetry = <A, E, R>(attempt: Effect.Effect<A, E, R>) =>
  Effect.flatMap(retrySchedule, (schedule) => Effect.retry(attempt, schedule))

/** Adds what was attempted, such as "write a name in a bucket". */
export const toDepotError = (attempt: string) => (failure: RequestFailed) =>
  new DepotUnusable({ attempt, cause: new Error(failure.problem), advice: failure.advice })

/** A host must not encode an object: ranges count the bytes of the object itself. */
const isNotEncoded = ({ headers }: HttpClientResponse) => (headers["content-encoding"] ?? "identity") === "identity"

const invalidResponse = (problem: string) =>
  new RequestFailed({
    problem,
    advice: "Check the host, and what is between it and this machine.",
    is_retryable: false
  })

const dropBytes = <E, R>(count: number, bytes: Stream.Stream<Uint8Array, E, R>) =>
  Stream.mapAccum(
    bytes,
    () => count,
    (remaining, piece) => [
      Math.max(0, remaining - piece.length),
      remaining < piece.length ? [piece.subarray(remaining)] : []
    ]
  )

/** The bytes of a response from `from` on, whether or not the host supports ranges. Fails for another range. */
const readRest = (response: HttpClientResponse, from: number) => {
  const bytes = Stream.mapError(response.stream, connectionFailed)
  if (!isNotEncoded(response)) {
    return Stream.fail(invalidResponse(`the object is sent as ${response.headers["content-encoding"]}`))
  }
  if (response.status === 200) return dropBytes(from, bytes) // not every host supports ranges
  if (response.status === 416) return Stream.empty // there are no bytes from there on
  const range = response.headers["content-range"] ?? ""
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range) ?? []
  const isRest = Number(first) === from && (total === "*" || Number(last) + 1 === Number(total))
  return isRest
    ? bytes
    : Stream.fail(invalidResponse(`the bytes from ${from} on were requested, but others were sent (${range})`))
}

type RequestEffect = Effect.Effect<HttpClientRequest.HttpClientRequest>

/** Returns responses of any status. Fails if the connection breaks or stalls, or if the body is encoded or too long. */
export const makeRequests = Effect.map(HttpClient.HttpClient, (unscoped) => {
  const client = HttpClient.withScope(unscoped)
  const send = (request: HttpClientRequest.HttpClientRequest) =>
    client
      .execute(request)
      .pipe(Effect.provideService(HttpClient.TracerPropagationEnabled, false), Effect.mapError(connectionFailed))

  const readText = (response: HttpClientResponse, reportProgress: Effect.Effect<unknown>) =>
    response.stream.pipe(
      Stream.mapError(connectionFailed),
      Stream.tap(() => reportProgress),
      Stream.limitBytes(maxTextLength, () =>
        Stream.fail(invalidResponse(`the response is longer than ${maxTextLength} bytes`))
      ),
      Stream.mkUint8Array,
      Effect.map((bytes) => Buffer.from(bytes).toString("utf8"))
    )

  const fetchText = (makeRequest: RequestEffect, upload?: Upload): Effect.Effect<DepotResponse, RequestFailed> =>
    whileActive((reportProgress) =>
      Effect.gen(function* () {
        const request = yield* makeRequest
        const response = yield* send(upload === undefined ? request : withFile(request, upload, reportProgress))
        yield* reportProgress
        const { headers, status } = response
        if (!isNotEncoded(response)) return yield* invalidResponse(`the text is sent as ${headers["content-encoding"]}`)
        return { status, headers, text: yield* readText(response, reportProgress) }
      })
    ).pipe(Effect.scoped)

  /** The bytes from `from` on. If the connection breaks, the next one resumes from there. */
  const fetchBytes = (
    makeRequest: (range: Readonly<Record<string, string>>) => RequestEffect,
    from: number,
    fail: (response: DepotResponse) => Effect.Effect<never, RequestFailed>
  ): Stream.Stream<Uint8Array, RequestFailed> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const { idleTimeout: duration } = yield* RequestLimits
        let offset = from
        const open = Effect.gen(function* () {
          const response = yield* send(yield* makeRequest(offset === 0 ? {} : { range: `bytes=${offset}-` })).pipe(
            Effect.timeoutOrElse({ duration, orElse: () => Effect.fail(stalled(duration)) })
          )
          const { headers, status } = response
          if (status === 200 || (offset > 0 && (status === 206 || status === 416))) return readRest(response, offset)
          const text = yield* whileActive((reportProgress) => readText(response, reportProgress))
          return yield* fail({ status, headers, text })
        })
        return Stream.unwrap(open).pipe(
          Stream.timeoutOrElse({ duration, orElse: () => Stream.fail(stalled(duration)) }),
          Stream.map((piece) => {
            offset += piece.length
            return piece
          }),
          Stream.retry(yield* retrySchedule)
        )
      })
    )

  return { fetchText, fetchBytes }
})

const withFile = (
  request: HttpClientRequest.HttpClientRequest,
  { bytes, file }: Upload,
  reportProgress: Effect.Effect<unknown>
) =>
  HttpClientRequest.bodyStream(
    request,
    Stream.suspend(() => Stream.fromAsyncIterable<Uint8Array, unknown>(createReadStream(file), (cause) => cause)).pipe(
      Stream.tap(() => reportProgress)
    ),
    { contentType: "application/octet-stream", contentLength: bytes }
  )
