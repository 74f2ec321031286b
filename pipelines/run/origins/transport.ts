/** The body of a response: decoded, and with limits on its time and size. */
import { createGunzip } from "node:zlib"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Duration, Effect, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import { describeFault } from "./connection-faults.ts"
import { AnswerTooLarge, type SourceRequest, type SourceResponse, UpstreamUnavailable } from "./origin.ts"

/** Takes the cause, not the client's error: that error holds the request, and with it the key. */
export const connectionError = (url: string, cause: unknown, fault = describeFault(cause, url)) =>
  new UpstreamUnavailable({ url, ...fault, cause })

export const timeoutError = (url: string, what: string, limit: Duration.Input) => {
  const problem = `${what} within ${Duration.format(Duration.fromInputUnsafe(limit))}`
  return new UpstreamUnavailable({ url, problem })
}

export interface BodyLimits {
  /** Longest time between two chunks of a body. */
  readonly idle: Duration.Input
  /** Longest time for a whole body: a source that sends a trickle for hours counts as down. */
  readonly body: Duration.Input
}

/** JSON and XML of real sources shrink to a 60th at most; zeros to a 1,000th. Up to `alwaysFine` there is no limit. */
const mostGrowth = 250
const alwaysFine = 16 << 20

/** Fails if a compressed body grows as only a decompression bomb does: nothing of it is kept. */
const withoutBombs = <E, R>(
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
      const longest = Math.max(alwaysFine, packed * mostGrowth)
      return unpacked > longest ? Effect.fail(new AnswerTooLarge({ url, longest })) : Effect.void
    })
  })

/** The payload without its content encoding. Requests ask only for gzip. */
export const decodeBody = (url: string, response: HttpClientResponse.HttpClientResponse, limits: BodyLimits) => {
  const wire = response.stream.pipe(
    Stream.mapError((error) => connectionError(url, error.reason.cause)),
    Stream.timeoutOrElse({
      duration: limits.idle,
      orElse: () => Stream.fail(timeoutError(url, "the body stalled: nothing came", limits.idle))
    }),
    Stream.interruptWhen(Effect.delay(Effect.fail(timeoutError(url, "the body did not end", limits.body)), limits.body))
  )
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() || "identity"
  if (encoding === "identity") return wire
  if (encoding === "gzip" || encoding === "x-gzip") {
    return withoutBombs(url, wire, (packed) =>
      NodeStream.pipeThroughDuplex(packed, {
        evaluate: () => createGunzip(),
        onError: (cause) => connectionError(url, cause)
      })
    )
  }
  const problem = `the body is encoded as ${encoding}, which was not requested`
  return Stream.fail(new UpstreamUnavailable({ url, problem, status: response.status, may_pass: false }))
}

/** The same answer, with a body that fails if it gets longer than the request allows. */
export const limitBody = ({ longest, url }: SourceRequest, whole: SourceResponse): SourceResponse => {
  if (longest === undefined) return whole
  const { file: _file, ...answer } = whole // a file may grow while it is copied
  const tooLarge = Effect.suspend(() => new AnswerTooLarge({ url, longest }))
  if (answer.total !== null && answer.total > longest) return { ...answer, body: Stream.fromEffect(tooLarge) }
  const body = Stream.limitBytes(answer.body, longest - answer.from, () => Stream.fromEffect(tooLarge))
  return { ...answer, body }
}

/** Fails if a payload is not as long as announced. */
export const requireWhole = <A extends { readonly bytes: number }>(url: string, total: number | null, received: A) =>
  total === null || received.bytes === total
    ? Effect.succeed(received)
    : Effect.fail(
        new UpstreamUnavailable({
          url,
          problem: `the body has ${received.bytes} bytes, and ${total} were announced`
        })
      )

/** Limits for reading an error response, in bytes and time. */
const excerptBytes = 8192
const excerptPatience = "10 seconds"

/** The start of an error response as text. It is empty if the body cannot be read: the status says enough. */
export const readExcerpt = (body: Stream.Stream<Uint8Array, UpstreamUnavailable | AnswerTooLarge>) =>
  body.pipe(
    Stream.mapAccum(
      () => 0,
      (before, bytes) => [before + bytes.length, [{ bytes, total: before + bytes.length }]]
    ),
    Stream.takeUntil(({ total }) => total >= excerptBytes),
    Stream.runCollect,
    Effect.map((parts) => Buffer.concat(parts.map(({ bytes }) => bytes)).toString("utf8", 0, excerptBytes)),
    Effect.timeout(excerptPatience),
    Effect.orElseSucceed(() => "")
  )
