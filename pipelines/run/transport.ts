/** The body of an answer: decoded, and with a limit on how long it may take. */
import { createGunzip } from "node:zlib"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Duration, Effect, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import { faultOf } from "./connection-faults.ts"
import { type Answer, AnswerTooLarge, type Ask, UpstreamUnavailable } from "./origin.ts"

/** Takes the cause, not the client's error: that one holds the request, and with it the key. */
export const broken = (url: string, cause: unknown, fault = faultOf(cause, url)) =>
  new UpstreamUnavailable({ url, ...fault, cause })

export const late = (url: string, what: string, limit: Duration.Input) => {
  const problem = `${what} within ${Duration.format(Duration.fromInputUnsafe(limit))}`
  return new UpstreamUnavailable({ url, problem })
}

export interface BodyLimits {
  /** Between two pieces of a body. */
  readonly idle: Duration.Input
  /** A whole body: a source that drips for hours is a source that is down. */
  readonly body: Duration.Input
}

/** JSON and XML of real sources shrink to a 60th at most; zeros to a 1,000th. Small answers may do as they like. */
const mostGrowth = 250
const alwaysFine = 16 << 20

/** Fails where a compressed body grows as only one does that was made for it: nothing of it is kept. */
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

/** The payload as it was before compression for the way. Only gzip is asked for. */
export const bodyOf = (url: string, response: HttpClientResponse.HttpClientResponse, limits: BodyLimits) => {
  const wire = response.stream.pipe(
    Stream.mapError((error) => broken(url, error.reason.cause)),
    Stream.timeoutOrElse({
      duration: limits.idle,
      orElse: () => Stream.fail(late(url, "the body stalled: nothing came", limits.idle))
    }),
    Stream.interruptWhen(Effect.delay(Effect.fail(late(url, "the body did not end", limits.body)), limits.body))
  )
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() || "identity"
  if (encoding === "identity") return wire
  if (encoding === "gzip" || encoding === "x-gzip") {
    return withoutBombs(url, wire, (packed) =>
      NodeStream.pipeThroughDuplex(packed, {
        evaluate: () => createGunzip(),
        onError: (cause) => broken(url, cause)
      })
    )
  }
  const problem = `the body is encoded as ${encoding}, which was not asked for`
  return Stream.fail(new UpstreamUnavailable({ url, problem, status: response.status, may_pass: false }))
}

/** The same answer, whose body fails where it gets longer than the ask allows. */
export const atMost = ({ longest, url }: Ask, whole: Answer): Answer => {
  if (longest === undefined) return whole
  const { file: _file, ...answer } = whole // a file may grow while it is copied
  const tooLarge = Effect.suspend(() => new AnswerTooLarge({ url, longest }))
  if (answer.total !== null && answer.total > longest) return { ...answer, body: Stream.fromEffect(tooLarge) }
  const body = Stream.limitBytes(answer.body, longest - answer.from, () => Stream.fromEffect(tooLarge))
  return { ...answer, body }
}

/** Of an error answer no more than this is read, and not for long. */
const excerptBytes = 8192
const excerptPatience = "10 seconds"

/** The start of an error answer as text. What cannot be read is left out: the status says enough. */
export const startOf = (body: Stream.Stream<Uint8Array, UpstreamUnavailable | AnswerTooLarge>) =>
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
