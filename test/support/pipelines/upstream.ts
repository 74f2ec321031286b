/** A real HTTP server on this machine that behaves as a test requires, and records its requests. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { type LivePolicy, liveOrigin } from "@larder/pipelines/run/origins/live.ts"
import { Origin, type SourceRequest } from "@larder/pipelines/run/origins/origin.ts"
import { ConfigProvider, type Duration, Effect, Fiber, Stream } from "effect"
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

/** One live origin per test, on the real clock, without the environment of the person who runs the tests. */
export const live = <A, E, R>(test: Effect.Effect<A, E, R>, policy: Partial<LivePolicy> = quick) =>
  Effect.scoped(test).pipe(
    Effect.provide(liveOrigin(policy)),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({})))
  )
