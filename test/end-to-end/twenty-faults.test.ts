/**
 * A day on which twenty of the 39 reports fail, each in another way. The hosts are real servers on this machine, and the
 * time limits are those of the program. Only the clock is replaced: it advances by a second while a server hangs.
 */
import type { ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import type { LivePolicy } from "@larder/pipelines/run/origins/live.ts"
import { ingestFromOrigin } from "@larder/pipelines/run/run.ts"
import { leftOutError, tellLeftOut } from "@larder/pipelines/run/summary.ts"
import { webhookFromSettings } from "@larder/warehouse"
import { Clock, ConfigProvider, Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { bodyOf, everyFeed, feedNamed } from "../support/pipelines/commodity-payloads.ts"
import { feedAt, temporaryHome } from "../support/pipelines/live-commodities.ts"
import { redirectHosts, unpaced } from "../support/pipelines/live-runs.ts"
import { startUpstream, whileClockAdvances } from "../support/pipelines/upstream.ts"
import { startReceiver } from "../support/webhook-receiver.ts"

const bodies = everyFeed()
const names = catalog().feeds.map(({ feed }) => feed)

const redirectTo = (response: ServerResponse, location: string) => response.writeHead(302, { location }).end()
const send = (response: ServerResponse, body: string | Buffer, headers: Readonly<Record<string, string>> = {}) =>
  response.writeHead(200, { "content-type": "application/json", ...headers }).end(body)

const trickle = (response: ServerResponse) => {
  response.write(" ")
  const drip = setInterval(() => response.write(" "), 5)
  response.on("close", () => clearInterval(drip))
}

/** The first ones never end a response by themselves. */
const hanging: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  "no byte": () => undefined,
  "a body that trickles without end": trickle,
  "a body that stalls": (response) => response.write("{")
}
const faults: Readonly<Record<string, (response: ServerResponse, feed: string, host: string) => unknown>> = {
  ...hanging,
  "HTTP 404": (response) => response.writeHead(404).end(),
  "HTTP 410": (response) => response.writeHead(410).end(),
  "HTTP 403": (response) => response.writeHead(403).end(),
  "HTTP 500": (response) => response.writeHead(500).end(),
  "HTTP 503": (response) => response.writeHead(503).end(),
  "HTTP 503 for two hours": (response) => response.writeHead(503, { "retry-after": "7200" }).end(),
  "a redirect to itself": (response, _, host) => redirectTo(response, `${host}${response.req.url}`),
  "a redirect to another scheme": (response) => redirectTo(response, "ftp://reports.example/"),
  "a redirect to a page of another host": (response, _, host) =>
    redirectTo(response, `${host.replace("127.0.0.1", "localhost")}/page`),
  "a connection that is closed at once": (response) => response.socket?.destroy(),
  "a body that breaks off": (response) => {
    response.writeHead(200, { "content-length": "100" })
    response.write("{", () => response.socket?.destroy())
  },
  "a damaged gzip": (response) => send(response, "not gzip", { "content-encoding": "gzip" }),
  "an encoding that was not requested": (response) => send(response, "x", { "content-encoding": "br" }),
  "an HTML page": (response) => send(response, "<!doctype html><title>Sign in</title>"),
  "truncated JSON": (response, feed) => send(response, (bodies[feed] ?? "").slice(0, -9)),
  "an empty body": (response) => send(response, ""),
  "the payload of another report": (response, feed) => {
    const other = names.find((name) => name.startsWith("gov-mars/10") && name !== feed) ?? ""
    send(response, bodies[other] ?? "")
  }
}

/** Every second feed of the catalog has a fault, so each host has ten of them. */
const faultyFeeds = new Map(Object.keys(faults).map((fault, index) => [names[index * 2] ?? "", fault]))
const isHealthy = (feed: string) => names.includes(feed) && !faultyFeeds.has(feed)

/** Intact payloads: one of them under another content type, one compressed. */
const sendIntact = (response: ServerResponse, feed: string) => {
  const index = names.indexOf(feed)
  const body = bodies[feed] ?? bodyOf(feedNamed(feed), [])
  if (index === 1) return send(response, body, { "content-type": "text/html" })
  return index === 3 ? send(response, gzipSync(body), { "content-encoding": "gzip" }) : send(response, body)
}

const startHosts = Effect.gen(function* () {
  const hung = new Set<ServerResponse>()
  const state = { faults: faultyFeeds }
  const behave = (response: ServerResponse, _: number, { url }: { readonly url: string }) => {
    const feed = feedAt(url)
    const fault = state.faults.get(feed)
    if (url === "/page") return void response.writeHead(200, { "content-type": "text/html" }).end("<html>")
    if (fault === undefined) return void sendIntact(response, feed)
    if (fault in hanging) {
      hung.add(response)
      response.on("close", () => hung.delete(response))
    }
    faults[fault]?.(response, feed, `http://${response.req.headers.host}`)
  }
  const [mars, mpr] = [yield* startUpstream(behave), yield* startUpstream(behave)]
  const toAddress = ({ host, pathname, search }: URL) =>
    `${host.startsWith("mars") ? mars.url : mpr.url}/${host}${pathname}${search}`
  return { state, toAddress, servers: [mars, mpr], step: () => (hung.size > 0 ? "1 second" : "1 millis") }
})

const runDay = (home: string, toAddress: (url: URL) => string, limit: Pick<LivePolicy, "maxTime"> = {}) =>
  ingestFromOrigin(commodities, { home, days: undefined, dryRun: false }).pipe(
    // pauses between requests and before second tries would only be waited for
    Effect.provide(redirectHosts(toAddress, { ...unpaced, ...limit })),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({ MARS_API_KEY: "0123456789" }))),
    Effect.provide(Logger.layer([]))
  )

/** Tells the operator about a run, as the program does at its end. */
const tellOf = (result: Effect.Success<ReturnType<typeof runDay>>, settings: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const problem = leftOutError(result, false)
    if (problem !== undefined) yield* tellLeftOut(yield* webhookFromSettings, result, problem)
  }).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(settings))),
    TestClock.withLive // a receiver refuses what was signed at another time
  )

const requestedFeeds = (requests: ReadonlyArray<{ readonly url: string }>) =>
  requests.map(({ url }) => feedAt(url)).filter((feed) => feed !== "")

describe("a day of twenty faults, one feed each", () => {
  it.effect(
    "costs these feeds only, ends within minutes, tells the operator once, and the next day requests them last",
    () =>
      Effect.gen(function* () {
        assert.strictEqual(faultyFeeds.size, 20)
        const home = yield* temporaryHome
        const { servers, state, step, toAddress } = yield* startHosts
        yield* TestClock.setTime(Date.now())

        const startedAt = yield* Clock.currentTimeMillis
        const result = yield* whileClockAdvances(step, runDay(home, toAddress))
        const { left_out, run } = result
        const seconds = ((yield* Clock.currentTimeMillis) - startedAt) / 1000
        assert.strictEqual(run.outcome, "partial")
        assert.sameMembers(
          left_out.map(({ feed }) => feed),
          [...faultyFeeds.keys()],
          left_out.map(({ feed, reason }) => `${feed}: ${reason}`).join("\n")
        )
        // about 300: 100 s for no byte, two minutes each for a body that trickles or stalls; more if this machine is busy
        assert.isBelow(seconds, 900, "without limits in all, one report can take half an hour")
        for (const { requests } of servers) {
          const feeds = requestedFeeds(requests)
          const firstSecondTry = feeds.findIndex((feed, index) => feeds.indexOf(feed) < index && feed !== redirected)
          const tried = new Set(feeds.slice(0, firstSecondTry))
          assert.deepStrictEqual(
            feeds.filter((feed) => !tried.has(feed)),
            [],
            "a second try came before another feed's first"
          )
        }

        const receiver = yield* Effect.promise(() => startReceiver())
        yield* tellOf(result, receiver.settings)
        const notices = receiver.received.map(({ data, id, type }) => ({ id, type, left_out: data.left_out }))
        assert.deepStrictEqual(notices, [{ id: run.run_id, type: "run.left_out", left_out }])

        state.faults = new Map()
        const before = servers.map(({ requests }) => requests.length)
        const next = yield* whileClockAdvances(step, runDay(home, toAddress))
        assert.deepStrictEqual([next.run.outcome, next.left_out], ["published", []])
        yield* tellOf(next, receiver.settings)
        assert.strictEqual(receiver.received.length, 1)
        for (const [index, { requests }] of servers.entries()) {
          const feeds = requestedFeeds(requests.slice(before[index]))
          const firstFaulty = feeds.findIndex((feed) => !isHealthy(feed))
          assert.isFalse(feeds.slice(firstFaulty).some(isHealthy), feeds.join(", "))
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("a day with --max-time 60s", () => {
  it.effect("publishes what was read by then, and the next day requests first what was not requested", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const { servers, state, step, toAddress } = yield* startHosts
      const marsFeeds = names.filter((name) => name.startsWith("gov-mars/"))
      const [slow = "", ...waiting] = marsFeeds.slice(-4)
      state.faults = new Map([[slow, "a body that trickles without end"]])
      yield* TestClock.setTime(Date.now())
      const { left_out, run } = yield* whileClockAdvances(step, runDay(home, toAddress, { maxTime: "60 seconds" }))
      assert.strictEqual(run.outcome, "partial")
      const reasons = new Map(left_out.map(({ feed, reason }) => [feed, reason]))
      assert.sameMembers([...reasons.keys()], [slow, ...waiting])
      assert.match(reasons.get(slow) ?? "", /^GET \S+ was aborted: the run had used its time \(--max-time 1m\)\.$/)
      for (const feed of waiting) {
        assert.strictEqual(reasons.get(feed), "It was not requested: the run had used its time (--max-time 1m).")
      }

      state.faults = new Map()
      const [mars] = servers
      const before = mars?.requests.length
      const next = yield* whileClockAdvances(step, runDay(home, toAddress))
      assert.deepStrictEqual([next.run.outcome, next.left_out], ["published", []])
      const feeds = requestedFeeds(mars?.requests.slice(before) ?? [])
      assert.deepStrictEqual([...feeds.slice(0, 3), feeds.at(-1)], [...waiting, slow])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

/** Its redirects are further requests of one try. */
const redirected = [...faultyFeeds].find(([, fault]) => fault === "a redirect to itself")?.[0]
