/** Pauses that responses require, over real HTTP and with the policy of the program. Only the clock is replaced. */
import { assert, describe, it } from "@effect/vitest"
import { live, readText, startUpstream, whileClockJumps } from "@larder/test/support/pipelines/upstream.ts"
import { Clock, Effect, Result } from "effect"
import { probePolicy } from "../../probe/probe.ts"
import type { LivePolicy } from "./live.ts"

interface Refusal {
  readonly status: number
  readonly retryAfter?: number | undefined
  /** How often the address is refused before it responds. */
  readonly times?: number
}

const now = Effect.map(Clock.currentTimeMillis, (ms) => ms / 1000)

/** Reads all paths at once from one host that refuses some of them. Returns the result, and the second of it, by path. */
const readAll = (
  paths: ReadonlyArray<string>,
  refusals: Readonly<Record<string, Refusal>>,
  policy: Partial<LivePolicy> = {}
) =>
  live(
    Effect.gen(function* () {
      const counts = new Map<string, number>()
      const upstream = yield* startUpstream((response, _, { url }) => {
        const count = (counts.get(url) ?? 0) + 1
        counts.set(url, count)
        const { retryAfter, status = 200, times = Number.POSITIVE_INFINITY } = refusals[url] ?? {}
        if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter)
        if (status === 200 || count > times) response.end("fine")
        else response.writeHead(status).end()
      })
      const readOne = (path: string) =>
        Effect.gen(function* () {
          const result = yield* Effect.result(readText({ url: upstream.url + path }))
          const told = Result.isSuccess(result) ? result.success.text : result.failure.message
          return [path, { told, at: yield* now }] as const
        })
      const reading = Effect.forEach(paths, readOne, { concurrency: "unbounded" })
      const ended = new Map(yield* whileClockJumps((sent) => sent === 0, reading))
      return { ended, seconds: yield* now, requests: upstream.requests.map(({ url }) => url) }
    }),
    policy
  )

const others = Array.from({ length: 38 }, (_, n) => `/${n}`)
const requestsTo = (path: string, requests: ReadonlyArray<string>) => requests.filter((url) => url === path).length

describe("an address that responds with 503", () => {
  it.effect("is read after the pause that it requires, and the host is free meanwhile", () =>
    Effect.gen(function* () {
      const { ended } = yield* readAll(["/busy", ...others], { "/busy": { status: 503, retryAfter: 60, times: 1 } })
      assert.isBelow(Math.max(...others.map((path) => ended.get(path)?.at ?? 0)), 45, "38 requests, one a second")
      assert.strictEqual(ended.get("/busy")?.told, "fine")
      assert.isAtLeast(ended.get("/busy")?.at ?? 0, 60)
    })
  )

  it.effect.each([
    { retryAfter: 50, tries: 3, left: 20 },
    { retryAfter: 300, tries: 1, left: 120 }
  ])("has two minutes in all, pauses of $retryAfter s included", ({ left, retryAfter, tries }) =>
    Effect.gen(function* () {
      const { ended, requests, seconds } = yield* readAll(["/busy"], { "/busy": { status: 503, retryAfter } })
      const { told = "" } = ended.get("/busy") ?? {}
      assert.include(told, `failed after ${tries === 1 ? "1 try" : `${tries} tries`}: HTTP 503`)
      assert.match(
        told,
        new RegExp(`requires a pause of ${retryAfter} s, and its tries have (${left}|${left - 1}) s left`)
      )
      assert.lengthOf(requests, tries)
      assert.isBelow(seconds, 125)
    })
  )

  it.effect("gets five tries within half a minute if it requires no pause", () =>
    Effect.gen(function* () {
      const { requests, seconds } = yield* readAll(["/busy"], { "/busy": { status: 503 } })
      assert.lengthOf(requests, 5)
      assert.isBelow(seconds, 45)
    })
  )
})

describe("one address that always responds with 429", () => {
  it.effect.each([undefined, 59, 119, 7200])(
    "holds the others for at most three minutes, if it requires a pause of %s s",
    (retryAfter) =>
      Effect.gen(function* () {
        const limited = { status: 429, retryAfter }
        const flaky = { status: 500, times: 3 }
        const paths = ["/limited", ...others]
        const { ended, seconds } = yield* readAll(paths, { "/limited": limited, "/3": flaky, "/5": flaky })
        for (const path of others) assert.strictEqual(ended.get(path)?.told, "fine", path)
        assert.include(ended.get("/limited")?.told, "HTTP 429")
        assert.isBelow(seconds, 38 + 180 + 30)
      })
  )
})

describe("a probe", () => {
  it.effect("waits at most 30 seconds for a host that limits one address, and reads the others", () =>
    Effect.gen(function* () {
      const limited = { "/limited": { status: 429, retryAfter: 60 } }
      const { ended, requests, seconds } = yield* readAll(["/limited", ...others], limited, probePolicy)
      for (const path of others) assert.strictEqual(ended.get(path)?.told, "fine", path)
      assert.strictEqual(requestsTo("/limited", requests), 1)
      assert.isBelow(seconds, 38 + 30 + 10)
    })
  )
})

describe("a host that limits its callers", () => {
  it.effect("is asked by three feeds, and then no more, if it requires a pause of hours", () =>
    Effect.gen(function* () {
      const limited = Object.fromEntries(others.map((path) => [path, { status: 429, retryAfter: 7200 }]))
      const { ended, requests, seconds } = yield* readAll(others, limited)
      assert.deepStrictEqual(requests, ["/0", "/1", "/2"])
      assert.match(ended.get("/9")?.told ?? "", /^GET \S+ failed after 1 try: \S+ requires a pause until 1970-01-01T02/)
      assert.isBelow(seconds, 130)
    })
  )

  it.effect("is not waited for after pauses of five minutes in all", () =>
    Effect.gen(function* () {
      const limited = Object.fromEntries(others.map((path) => [path, { status: 429, retryAfter: 50 }]))
      const { requests, seconds } = yield* readAll(others, limited)
      assert.isAtMost(requests.length, 12, "seven pauses of 50 s; no request is sent after the last")
      assert.isBelow(seconds, 420)
    })
  )

  it.effect("is read to the end if it responds after each pause", () =>
    Effect.gen(function* () {
      const isLimited = (path: string) => Number(path.slice(1)) % 10 === 9
      const limited = Object.fromEntries(
        others.filter(isLimited).map((path) => [path, { status: 429, retryAfter: 30, times: 2 }])
      )
      const { ended, requests } = yield* readAll(others, limited)
      for (const path of others) assert.strictEqual(ended.get(path)?.told, "fine", path)
      assert.strictEqual(requestsTo("/9", requests), 3)
    })
  )
})
