/** A real HTTP server on this machine that behaves as a test requires, and records its requests. */

import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { type LivePolicy, liveOrigin } from "@larder/pipelines/run/origins/live.ts"
import { Origin, type SourceRequest } from "@larder/pipelines/run/origins/origin.ts"
import { Clock, ConfigProvider, Duration, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"

export interface ReceivedRequest {
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

/** `n` counts the requests from 1. */
type Behaviour = (response: ServerResponse, n: number, request: ReceivedRequest) => void

export const startUpstream = (behave: Behaviour) =>
  Effect.acquireRelease(
    Effect.callback<Upstream>((resume) => {
      const requests: Array<ReceivedRequest> = []
      const load = { current: 0, max: 0 }
      const server = createServer((request, response) => {
        const received = { url: request.url ?? "", headers: request.headers }
        requests.push(received)
        load.current += 1
        load.max = Math.max(load.max, load.current)
        response.on("close", () => {
          load.current -= 1
        })
        behave(response, requests.length, received)
      })
      const close = Effect.callback<void>((done) => {
        server.close(() => done(Effect.void))
        server.closeAllConnections()
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo // a server that listens on a port has one
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, port, requests, load, close }))
      })
    }),
    ({ close }) => close
  )

export interface Upstream {
  readonly url: string
  readonly port: number
  readonly requests: ReadonlyArray<ReceivedRequest>
  /** Number of concurrent requests. */
  readonly load: { readonly current: number; readonly max: number }
  readonly close: Effect.Effect<void>
}

/** Requests an address with the origin's retry policy. Returns the response, and its whole body as text. */
export const readText = (request: Pick<SourceRequest, "url"> & Partial<SourceRequest>) =>
  Origin.use((origin) =>
    origin.retry(
      Effect.scoped(
        Effect.flatMap(origin.open({ accept: "application/json", ...request }), (response) =>
          Effect.map(Stream.mkString(Stream.decodeText(response.body)), (text) => ({ response, text }))
        )
      )
    )
  )

/** Hardly any pauses. */
export const quick = { interval: 0, initialPause: "1 millis", initialBackoff: "1 millis" } as const

/**
 * Advances the test clock in steps while an effect talks to real servers: time limits of minutes elapse immediately,
 * and none elapses because the machine is slow.
 */
export const whileClockAdvances = <A, E, R>(step: () => Duration.Input, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) {
      yield* TestClock.adjust(step())
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)))
    }
    return yield* Fiber.join(fiber)
  })

/** Requests of this process that have been sent and have not ended. */
const watchRequests = Effect.acquireRelease(
  Effect.sync(() => {
    const requests = new Set<unknown>()
    const add = (event: unknown) => void requests.add(requestOf(event))
    const remove = (event: unknown) => void requests.delete(requestOf(event))
    subscribe("undici:request:create", add)
    for (const end of requestEnds) subscribe(end, remove)
    return { requests, add, remove }
  }),
  ({ add, remove }) =>
    Effect.sync(() => {
      unsubscribe("undici:request:create", add)
      for (const end of requestEnds) unsubscribe(end, remove)
    })
)
const requestEnds = ["undici:request:trailers", "undici:request:error"]
const requestOf = (event: unknown) => (event as { readonly request: object }).request // of each event of undici

/** A quarter of the shortest time limit, which therefore does not elapse while a request is about to be sent. */
const maxJump = 5000

/**
 * Advances the test clock to the next moment at which something ends its waiting. `isWaiting` gets the number of requests
 * that have been sent, and returns whether the effect has nothing else to do. So an effect takes as long on that clock as
 * its own pauses and time limits are, however slow this machine is.
 */
export const whileClockJumps = <A, E, R>(isWaiting: (sent: number) => boolean, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const { requests } = yield* watchRequests
    const waiting = new Set<{ readonly until: number }>()
    const sleep = (duration: Duration.Duration) =>
      Effect.suspend(() => {
        const sleeper = { until: clock.currentTimeMillisUnsafe() + Duration.toMillis(duration) }
        waiting.add(sleeper)
        return Effect.ensuring(
          clock.sleep(duration),
          Effect.sync(() => waiting.delete(sleeper))
        )
      })
    const fiber = yield* Effect.forkChild(Effect.provideService(effect, Clock.Clock, { ...clock, sleep }))
    let quietTurns = 0
    while (fiber.pollUnsafe() === undefined) {
      quietTurns = isWaiting(requests.size) ? quietTurns + 1 : 0
      const next = Math.min(...Array.from(waiting, ({ until }) => until))
      // the effect needs some turns of the event loop for what it does after a jump or a response
      if (next < Number.POSITIVE_INFINITY && quietTurns > 3) {
        quietTurns = 0
        yield* TestClock.adjust(Math.min(maxJump, Math.max(0, next - clock.currentTimeMillisUnsafe())))
      }
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)))
    }
    return yield* Fiber.join(fiber)
  }).pipe(Effect.scoped)

/** One live origin per test, on the real clock, without the environment of the person who runs the tests. */
export const live = <A, E, R>(test: Effect.Effect<A, E, R>, policy: Partial<LivePolicy> = quick) =>
  Effect.scoped(test).pipe(
    Effect.provide(liveOrigin(policy)),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({})))
  )
