/** A real HTTP server on this machine that misbehaves as a test tells it to, and remembers what it was asked. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { type LivePolicy, liveOrigin, Origin, type SourceRequest } from "@larder/pipelines"
import { ConfigProvider, type Duration, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"

export interface Seen {
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

/** `n` counts the requests from 1. */
type Behaviour = (response: ServerResponse, n: number, request: Seen) => void

export const startUpstream = (behave: Behaviour) =>
  Effect.acquireRelease(
    Effect.callback<Upstream>((resume) => {
      const seen: Array<Seen> = []
      const load = { now: 0, most: 0 }
      const server = createServer((request, response) => {
        seen.push({ url: request.url ?? "", headers: request.headers })
        load.now += 1
        load.most = Math.max(load.most, load.now)
        response.on("close", () => {
          load.now -= 1
        })
        behave(response, seen.length, { url: request.url ?? "", headers: request.headers })
      })
      const close = Effect.callback<void>((done) => {
        server.close(() => done(Effect.void))
        server.closeAllConnections()
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo // a server that listens on a port has one
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, port, seen, load, close }))
      })
    }),
    ({ close }) => close
  )

export interface Upstream {
  readonly url: string
  readonly port: number
  readonly seen: ReadonlyArray<Seen>
  /** Requests being answered at this moment, and the most that ever were. */
  readonly load: { readonly now: number; readonly most: number }
  readonly close: Effect.Effect<void>
}

/** The whole body as text, with the origin's own policy of trying again. */
export const readText = (ask: Pick<SourceRequest, "url"> & Partial<SourceRequest>) =>
  Origin.use((origin) =>
    origin.retrying(
      Effect.scoped(
        Effect.flatMap(origin.open({ accept: "application/json", ...ask }), (answer) =>
          Effect.map(Stream.mkString(Stream.decodeText(answer.body)), (text) => ({ answer, text }))
        )
      )
    )
  )

/** No pauses to speak of. */
export const quick = { interval: 0, initialPause: "1 millis", initialBackoff: "1 millis" } as const

/**
 * Runs what talks to real servers while the clock of the test goes on by a step after the other: limits of minutes are over in
 * a moment, and none is over because the machine is slow.
 */
export const whileTimePasses = <A, E, R>(step: () => Duration.Input, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) {
      yield* TestClock.adjust(step())
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)))
    }
    return yield* Fiber.join(fiber)
  })

/** One live origin per test, on the real clock, and without the environment of whoever runs the tests. */
export const live = <A, E, R>(test: Effect.Effect<A, E, R>, policy: Partial<LivePolicy> = quick) =>
  Effect.scoped(test).pipe(
    Effect.provide(liveOrigin(policy)),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({})))
  )
