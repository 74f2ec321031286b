/** The body of a response: decoded, and with limits on its time and size. */
import { createGunzip } from "node:zlib"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Duration, Effect, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import { describeFault } from "./connection-faults.ts"
import { AnswerTooLarge, type GivenUp, type SourceRequest, type SourceResponse, UpstreamUnavailable } from "./origin.ts"

/** Takes the cause, not the client's error: that error contains the request, and with it the key. */
export const connectionError = (url: string, cause: unknown, fault = describeFault(cause, url)) =>
  new UpstreamUnavailable({ url, ...fault, cause })

export const timeoutError = (url: string, event: string, limit: Duration.Input) => {
  const problem = `${event} within ${Duration.format(Duration.fromInputUnsafe(limit))}`
  return new UpstreamUnavailable({ url, problem })
}

/** A duration in milliseconds, and the error after it. */
export interface TimeLimit {
  readonly ms: number
  readonly error: GivenUp | UpstreamUnavailable
}

export interface BodyLimits {
  /** Between two chunks of a body. */
  readonly idleTimeout: Duration.Input
  /** For the rest of the body. */
  readonly end?: TimeLimit | undefined
}

/** JSON and XML of real sources compress up to 60-fold, zeros 1,000-fold. No limit applies below `minBombBytes`. */
const maxGrowth = 250
const minBombBytes = 16 << 20

/** Fails if a compressed body grows like a decompression bomb. */
const refuseBombs = <E, R>(
  url: string,
  wire: Stream.Stream<Uint8Array, E, R>,
  unpack: (wire: Stream.Stream<Uint8Array, E, R>) => Stream.Stream<Uint8Array, E | UpstreamUnavailable, R>
) =>
  Stream.suspend(() => {
    let [packed, unpacked] = [0, 0]
    const counted = Stream.tap(wire, ({ length }) =>
      Effect.sync(() => {
        packed += length
      })
    )
    return Stream.tap(unpack(counted), ({ length }) => {
      unpacked += length
      const longest = Math.max(minBombBytes, packed * maxGrowth)
      return unpacked > longest ? Effect.fail(new AnswerTooLarge({ url, longest })) : Effect.void
    })
  })

/** Returns the payload without its content encoding. Requests accept only gzip. */
export const decodeBody = (url: string, response: HttpClientResponse.HttpClientResponse, limits: BodyLimits) => {
  const { end, idleTimeout } = limits
  const wire = response.stream.pipe(
    Stream.mapError((error) => connectionError(url, error.reason.cause)),
    Stream.timeoutOrElse({
      duration: idleTimeout,
      orElse: () => Stream.fail(timeoutError(url, "the body stalled: nothing arrived", idleTimeout))
    }),
    (bytes) =>
      end === undefined || end.ms === Number.POSITIVE_INFINITY
        ? bytes
        : Stream.interruptWhen(bytes, Effect.delay(Effect.fail(end.error), end.ms))
  )
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() || "identity"
  if (encoding === "identity") return wire
  if (encoding === "gzip" || encoding === "x-gzip") {
    return refuseBombs(url, wire, (packed) =>
      NodeStream.pipeThroughDuplex(packed, {
        evaluate: () => createGunzip(),
        onError: (cause) => connectionError(url, cause)
      })
    )
  }
  const problem = `the body is encoded as ${encoding}, which was not requested`
  return Stream.fail(new UpstreamUnavailable({ url, problem, status: response.status, may_pass: false }))
}

export const limitBody = ({ maxBytes, url }: SourceRequest, whole: SourceResponse): SourceResponse => {
  if (maxBytes === undefined) return whole
  const { file: _file, ...response } = whole // a file may grow while it is copied
  const tooLarge = Stream.fromEffect(Effect.suspend(() => new AnswerTooLarge({ url, longest: maxBytes })))
  if (response.total !== null && response.total > maxBytes) return { ...response, body: tooLarge }
  return { ...response, body: Stream.limitBytes(response.body, maxBytes - response.from, () => tooLarge) }
}

export const requireComplete = <A extends { readonly bytes: number }>(
  url: string,
  total: number | null,
  received: A
) =>
  total === null || received.bytes === total
    ? Effect.succeed(received)
    : Effect.fail(
        new UpstreamUnavailable({ url, problem: `the body has ${received.bytes} bytes, and ${total} were declared` })
      )

const excerptBytes = 8192
const excerptTimeout = "10 seconds"

/** Ends a stream after this many bytes. */
export const takeBytes = <E, R>(body: Stream.Stream<Uint8Array, E, R>, maxBytes: number) =>
  body.pipe(
    Stream.mapAccum(
      () => maxBytes,
      (left, bytes) => [left - bytes.length, [{ bytes: bytes.subarray(0, left), isLast: bytes.length >= left }]]
    ),
    Stream.takeUntil(({ isLast }) => isLast),
    Stream.map(({ bytes }) => bytes)
  )

/** Reads the start of an error response as text. Empty if the body cannot be read: the status is enough. */
export const readExcerpt = (body: Stream.Stream<Uint8Array, UpstreamUnavailable | AnswerTooLarge | GivenUp>) =>
  Stream.runCollect(takeBytes(body, excerptBytes)).pipe(
    Effect.map((parts) => Buffer.concat(parts).toString("utf8")),
    Effect.timeout(excerptTimeout),
    Effect.orElseSucceed(() => "")
  )
