/** Tries over real HTTP, with the policy of all pipelines. Only the clock is replaced: it advances while a request hangs. */
import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { live, quick, readText, startUpstream, whileClockAdvances } from "@larder/test/support/pipelines/upstream.ts"
import { Clock, Effect, Result } from "effect"
import type { LivePolicy } from "./live.ts"
import { GivenUp, NotRequested, UpstreamUnavailable } from "./origin.ts"
import { makeRunTime, RunTime } from "./tries.ts"

/** Responds by path, and knows how many requests hang. */
const startHost = (behave: (path: string, response: ServerResponse, n: number) => "hangs" | "responds") =>
  Effect.gen(function* () {
    const hanging = new Set<ServerResponse>()
    const counts = new Map<string, number>()
    const upstream = yield* startUpstream((response, _, { url }) => {
      const n = (counts.get(url) ?? 0) + 1
      counts.set(url, n)
      if (behave(url, response, n) === "responds") return
      hanging.add(response)
      response.on("close", () => hanging.delete(response))
    })
    const step = () => (hanging.size > 0 ? "1 second" : "1 millis")
    const paths = () => upstream.requests.map(({ url }) => url)
    return { upstream, step, paths }
  })

const readAll = (url: string, ...paths: ReadonlyArray<string>) =>
  Effect.forEach(paths, (path) => Effect.result(readText({ url: url + path })), { concurrency: "unbounded" })

const describeResult = (result: Result.Result<{ readonly text: string }, Error>) =>
  Result.isSuccess(result) ? result.success.text : result.failure

const policy: Partial<LivePolicy> = quick

describe("requests to one host", () => {
  it.effect("all get their first try before one gets its second, and a hanging one is ended after 20 seconds", () =>
    live(
      Effect.gen(function* () {
        const { paths, step, upstream } = yield* startHost((path, response) => {
          if (path === "/hangs") return "hangs"
          response.end("fine")
          return "responds"
        })
        const startedAt = yield* Clock.currentTimeMillis
        const [hung, ...others] = yield* whileClockAdvances(step, readAll(upstream.url, "/hangs", "/a", "/b", "/c"))
        const seconds = ((yield* Clock.currentTimeMillis) - startedAt) / 1000
        assert.deepStrictEqual(others.map(describeResult), ["fine", "fine", "fine"])
        assert.deepStrictEqual(paths(), ["/hangs", "/a", "/b", "/c", ...Array<string>(4).fill("/hangs")])
        const error = hung && describeResult(hung)
        assert.instanceOf(error, UpstreamUnavailable)
        assert.include(error.message, "failed after 5 tries: no response arrived within 20s")
        assert.isAtLeast(seconds, 100)
      }),
      policy
    )
  )

  it.effect("wait longer for the first byte of a whole history, from the second try on", () =>
    live(
      Effect.gen(function* () {
        const startedAt = yield* Clock.currentTimeMillis
        const { paths, step, upstream } = yield* startHost(() => "hangs")
        const request = { url: `${upstream.url}/history`, slow: true } as const
        const error = yield* whileClockAdvances(step, Effect.flip(readText(request)))
        const seconds = ((yield* Clock.currentTimeMillis) - startedAt) / 1000
        assert.include(error.message, "failed after 2 tries: the response did not end within 2m")
        assert.deepStrictEqual(paths(), ["/history", "/history"])
        assert.isAtLeast(seconds, 120)
      }),
      policy
    )
  )

  it.effect.each([
    ["404", (response: ServerResponse) => response.writeHead(404).end(), 1],
    ["500", (response: ServerResponse) => response.writeHead(500).end(), 5],
    ["a redirect to nowhere", (response: ServerResponse) => response.writeHead(302, { location: "ftp://x" }).end(), 1],
    ["a closed connection", (response: ServerResponse) => response.socket?.destroy(), 5]
  ] as const)("are independent: %s of one address costs that address only", ([, fail, tries]) =>
    live(
      Effect.gen(function* () {
        const { paths, step, upstream } = yield* startHost((path, response, n) => {
          if (path.startsWith("/bad")) fail(response)
          else if (path === "/flaky" && n < 3) response.writeHead(503).end()
          else response.end("fine")
          return "responds"
        })
        const bad = ["/bad1", "/bad2", "/bad3", "/bad4"]
        const results = yield* whileClockAdvances(step, readAll(upstream.url, ...bad, "/good", "/flaky"))
        assert.deepStrictEqual(results.slice(4).map(describeResult), ["fine", "fine"])
        for (const path of bad)
          assert.lengthOf(
            paths().filter((requested) => requested === path),
            tries,
            path
          )
      }),
      policy
    )
  )

  it.effect("have two minutes in all for a report whose bytes trickle", () =>
    live(
      Effect.gen(function* () {
        const { paths, step, upstream } = yield* startHost((_, response) => {
          response.write(".")
          const drip = setInterval(() => response.write("."), 2)
          response.on("close", () => clearInterval(drip))
          return "hangs"
        })
        const [trickled] = yield* whileClockAdvances(step, readAll(upstream.url, "/slow"))
        const error = trickled && describeResult(trickled)
        assert.instanceOf(error, UpstreamUnavailable)
        assert.include(error.message, "failed after 1 try: the response did not end within 2m")
        assert.deepStrictEqual(paths(), ["/slow"])
      }),
      { ...policy, idleTimeout: "1 day" } // a busy machine sends late
    )
  )

  it.effect("have no limit in all for a download that can be resumed, and is tried again after hours", () =>
    live(
      Effect.gen(function* () {
        const startedAt = yield* Clock.currentTimeMillis
        const { paths, step, upstream } = yield* startHost((_, response, n) => {
          if (n === 2) {
            response.end("whole")
            return "responds"
          }
          let bytes = 1
          const drip = setInterval(() => {
            bytes += 1
            if (bytes < 50) response.write(".")
            else response.destroy()
          }, 2)
          response.on("close", () => clearInterval(drip))
          response.write(".")
          return "hangs"
        })
        const download = readText({ url: upstream.url, resumable: true })
        const { text } = yield* whileClockAdvances(() => (step() === "1 second" ? "1 minute" : "1 millis"), download)
        assert.strictEqual(text, "whole")
        assert.lengthOf(paths(), 2)
        assert.isAbove((yield* Clock.currentTimeMillis) - startedAt, 10 * 60_000)
      }),
      { ...policy, responseTimeout: "1 day", idleTimeout: "1 day" }
    )
  )
})

describe("the time of a run", () => {
  it.effect("ends the request on its way, and those that wait for the host", () =>
    live(
      Effect.gen(function* () {
        const { paths, step, upstream } = yield* startHost((path, response) => {
          if (path === "/trickles") {
            response.write(".")
            return "hangs"
          }
          response.end("fine")
          return "responds"
        })
        const results = yield* whileClockAdvances(step, readAll(upstream.url, "/a", "/trickles", "/b"))
        const [read, aborted, waiting] = results.map(describeResult)
        assert.strictEqual(read, "fine")
        assert.instanceOf(aborted, GivenUp)
        assert.include(aborted.message, "/trickles was aborted: the run had used its time (--max-time 30s).")
        assert.instanceOf(waiting, NotRequested)
        assert.deepStrictEqual(paths(), ["/a", "/trickles"])
      }),
      policy
    ).pipe(Effect.provideService(RunTime, makeRunTime("30 seconds")))
  )

  it.effect("ends reading the body of an error, too", () =>
    live(
      Effect.gen(function* () {
        const { step, upstream } = yield* startHost((_, response) => {
          response.writeHead(500).write("no data")
          return "hangs"
        })
        const startedAt = yield* Clock.currentTimeMillis
        const [failed] = (yield* whileClockAdvances(step, readAll(upstream.url, "/fails"))).map(describeResult)
        assert.instanceOf(failed, UpstreamUnavailable)
        assert.include(failed.message, "failed after 1 try: HTTP 500 Internal Server Error")
        assert.isBelow((yield* Clock.currentTimeMillis) - startedAt, 7000)
      }),
      policy
    ).pipe(Effect.provideService(RunTime, makeRunTime("5 seconds")))
  )

  it.effect("is not mentioned for a request that failed before: its own failure is the reason", () =>
    live(
      Effect.gen(function* () {
        const { step, upstream } = yield* startHost((path, response) => {
          if (path === "/hangs") return "hangs"
          response.writeHead(500).end()
          return "responds"
        })
        const results = yield* whileClockAdvances(step, readAll(upstream.url, "/fails", "/hangs"))
        const [failed] = results.map(describeResult)
        assert.instanceOf(failed, UpstreamUnavailable)
        assert.match(failed.message, /failed after \d tr(y|ies): HTTP 500/)
      }),
      policy
    ).pipe(Effect.provideService(RunTime, makeRunTime("15 seconds")))
  )
})
