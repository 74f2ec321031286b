import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { type Misbehaviour, range, readShop } from "@larder/test/support/pipelines/store-host.ts"
import { whileClockAdvances } from "@larder/test/support/pipelines/upstream.ts"
import { Effect } from "effect"
import { makeRunTime, RunTime } from "../../../run/origins/tries.ts"
import type { StoreOutcome } from "./outcome.ts"

type Respond = (response: Parameters<Misbehaviour>[0]["response"], n: number) => void

const headers = { "content-type": "application/json" }
const html = (title: string) => `<!DOCTYPE html><html><head><title>${title}</title></head><body></body></html>`
const shop = { pages: [range(1, 250), range(251, 300)] }

/** Misbehaves on this page of products, the first `times` times. */
const onPage =
  (which: number, respond: Respond, times = Number.POSITIVE_INFINITY): Misbehaviour =>
  ({ n, page, path, response }) => {
    if (path !== "/products.json" || page !== which || n > times) return false
    respond(response, n)
    return true
  }

const endless: Respond = (response) => {
  response.writeHead(200, headers)
  const more = () => {
    while (response.write(Buffer.alloc(65_536, 32)));
  }
  response.on("drain", more)
  more()
}
const drip: Respond = (response) => {
  response.writeHead(200, headers)
  const drop = setInterval(() => response.write(" "), 10)
  response.on("close", () => clearInterval(drop))
}
const packed = gzipSync(Buffer.alloc(32 << 20))
const bomb: Respond = (response) => void response.writeHead(200, { ...headers, "content-encoding": "gzip" }).end(packed)
const truncate: Respond = (response) => {
  response.writeHead(200, { ...headers, "content-length": "1000" })
  response.write('{"products":[', () => response.destroy())
}
const status =
  (code: number, more: Record<string, string> = {}, body = ""): Respond =>
  (response) =>
    void response.writeHead(code, more).end(body)

describe("a store that recovers", () => {
  it.live.each([
    ["429 with Retry-After in seconds", status(429, { "retry-after": "0" }), 2],
    ["429 with Retry-After as a date", status(429, { "retry-after": "Fri, 02 Oct 2026 12:00:30 GMT" }), 2],
    ["429 without Retry-After", status(429), 3],
    ["430", status(430), 1],
    ["503", status(503), 3],
    ["500", status(500), 3],
    ["a body that is truncated in the middle", truncate, 1],
    ["a page of HTML with status 200", status(200, {}, html("Loading")), 1],
    ["a bot check with status 200", status(200, {}, html("Just a moment...")), 1]
  ] as const)("is read completely after %s", ([, respond, times]) =>
    Effect.gen(function* () {
      const { products, read } = yield* readShop(shop, onPage(2, respond, times))
      assert.deepStrictEqual([read.outcome, products.length], ["complete", 300])
    })
  )
})

/** A store that does not finish a response, and the time by which the test clock advances per turn of the event loop. */
const hanging = (which: number, respond: Respond) => {
  let openCount = 0
  const misbehave = onPage(which, (response, n) => {
    openCount += 1
    response.on("close", () => {
      openCount -= 1
    })
    respond(response, n)
  })
  return { misbehave, step: () => (openCount > 0 ? "1 second" : "1 millis") }
}
const endlesslySlow = [
  ["no response at all", () => undefined],
  ["a body that arrives one byte at a time", drip]
] as const

/** Responses to the request for a page of products, and the outcome of the read if it is the first page. */
const misbehaviours: ReadonlyArray<readonly [string, Respond, StoreOutcome]> = [
  ["429 every time", status(429), "throttled"],
  ["430 every time", status(430), "throttled"],
  ["503 every time", status(503, {}, html("Just a moment...")), "throttled"],
  ["429 with a pause of hours", status(429, { "retry-after": "7200" }), "throttled"],
  ["500 every time", status(500), "unreachable"],
  ["a body that is always truncated in the middle", truncate, "unreachable"],
  ["a redirect loop", status(302, { location: "/products.json" }), "unreachable"],
  ["a redirect to the password page", status(302, { location: "/password" }), "locked"],
  [
    "a password page with status 200",
    status(200, {}, '<html><form method="post" action="/password"></form>'),
    "locked"
  ],
  ["402", status(402), "locked"],
  ["401", status(401), "blocked"],
  ["403", status(403, {}, html("Attention Required! | Cloudflare")), "blocked"],
  ["a bot check with status 200", status(200, {}, html("Verifying your connection")), "blocked"],
  ["404", status(404), "not_found"],
  ["410", status(410), "not_found"],
  ["a page of HTML with status 200", status(200, {}, html("Some other shop")), "html"],
  ["truncated JSON, with the right length", status(200, headers, '{"products":[{"id":1,'), "unreadable"],
  ["JSON of something else", status(200, headers, '{"items":[]}'), "unreadable"],
  ["nothing, with status 200", status(200, headers), "unreadable"],
  ["an endless body", endless, "too_large"],
  ["a decompression bomb", bomb, "too_large"],
  [
    "a redirect to a private address",
    status(302, { location: "http://169.254.169.254/latest/meta-data" }),
    "private_address"
  ],
  ["a redirect to a name of this machine", status(302, { location: "http://localhost/" }), "private_address"]
]
describe("a store that misbehaves on its first page", () => {
  it.live.each(misbehaviours)("fails with the matching outcome: %s", ([, respond, outcome]) =>
    Effect.gen(function* () {
      const { batches, read } = yield* readShop(shop, onPage(1, respond))
      assert.deepStrictEqual([read.outcome, read.fetch_status], [outcome, "failed"], read.detail ?? "")
      assert.lengthOf(batches, 0)
      assert.match(read.detail ?? "", /^\S.* \(.*\)\.$/s)
    })
  )

  it.effect.each(endlesslySlow)("fails with the matching outcome: %s", ([, respond]) =>
    Effect.gen(function* () {
      const { misbehave, step } = hanging(1, respond)
      const { batches, read } = yield* whileClockAdvances(step, readShop(shop, misbehave))
      assert.deepStrictEqual([read.outcome, read.fetch_status], ["unreachable", "failed"], read.detail ?? "")
      assert.lengthOf(batches, 0)
    })
  )
})

describe("a store that misbehaves on a later page", () => {
  it.live.each(misbehaviours)("is partial and keeps the products read before: %s", ([, respond]) =>
    Effect.gen(function* () {
      const { products, read } = yield* readShop(shop, onPage(2, respond))
      assert.deepStrictEqual([read.outcome, read.fetch_status], ["broken_off", "partial"], read.detail ?? "")
      assert.lengthOf(products, 250)
    })
  )

  it.effect.each(endlesslySlow)("is partial and keeps the products read before: %s", ([, respond]) =>
    Effect.gen(function* () {
      const { misbehave, step } = hanging(2, respond)
      const { products, read } = yield* whileClockAdvances(step, readShop(shop, misbehave))
      assert.deepStrictEqual([read.outcome, read.fetch_status], ["broken_off", "partial"], read.detail ?? "")
      assert.lengthOf(products, 250)
    })
  )
})

describe("a store that takes too long", () => {
  it.effect("is partial if something was read in time", () =>
    Effect.gen(function* () {
      const { misbehave, step } = hanging(2, () => undefined)
      const { products, read } = yield* whileClockAdvances(
        step,
        readShop(shop, misbehave, { policy: { budget: "30 seconds" } })
      )
      assert.deepStrictEqual([read.outcome, read.fetch_status, products.length], ["budget", "partial", 250])
    })
  )

  it.effect("gives up a page that drips for two minutes, long before the budget of the store ends", () =>
    Effect.gen(function* () {
      const { misbehave, step } = hanging(2, drip)
      const policy = { budget: "1 day" } as const
      const { products, read } = yield* whileClockAdvances(
        step,
        readShop(shop, misbehave, { policy, requests: { idleTimeout: "1 day" } })
      )
      assert.deepStrictEqual([read.outcome, products.length], ["broken_off", 250])
      assert.include(read.detail ?? "", "within 2m", read.detail ?? "")
    })
  )

  it.effect.each([
    { page: 2, expected: "budget, partial, 250" },
    { page: 1, expected: "out_of_time, failed, 0" }
  ])("ends with the time of the run, on page $page", ({ expected, page }) =>
    Effect.gen(function* () {
      const { misbehave, step } = hanging(page, drip)
      const { products, read } = yield* whileClockAdvances(
        step,
        readShop(shop, misbehave, {
          policy: { budget: "1 day" },
          requests: { idleTimeout: "1 day" }
        })
      ).pipe(Effect.provideService(RunTime, makeRunTime("30 seconds")))
      assert.strictEqual([read.outcome, read.fetch_status, products.length].join(", "), expected)
      assert.include(read.detail ?? "", "the run had used its time (--max-time 30s)")
    })
  )

  it.effect("fails if nothing was read in time", () =>
    Effect.gen(function* () {
      const { misbehave, step } = hanging(1, () => undefined)
      const { read } = yield* whileClockAdvances(step, readShop(shop, misbehave, { policy: { budget: "30 seconds" } }))
      assert.deepStrictEqual([read.outcome, read.fetch_status], ["unreachable", "failed"])
    })
  )
})

describe("a store that throttles", () => {
  it.live("is requested four times, but only twice if its pauses together take too long", () =>
    Effect.gen(function* () {
      const pages = (requests: ReadonlyArray<string>) =>
        requests.filter((url) => url.startsWith("/products.json")).length
      const tries = yield* readShop(shop, onPage(1, status(429)))
      const pauses = yield* readShop(shop, onPage(1, status(429)), {
        requests: { initialPause: "6 millis", maxTotalPause: "7 millis", maxPause: "6 millis" }
      })
      assert.deepStrictEqual([pages(tries.requests), tries.read.outcome], [4, "throttled"])
      assert.deepStrictEqual([pages(pauses.requests), pauses.read.outcome], [2, "throttled"])
    })
  )

  it.live("gets no request for products if it already throttles meta.json", () =>
    Effect.gen(function* () {
      const throttling: Misbehaviour = ({ path, response }) => {
        if (path !== "/meta.json") return false
        response.writeHead(429).end()
        return true
      }
      const { requests, read } = yield* readShop(shop, throttling)
      assert.strictEqual(read.outcome, "throttled")
      assert.notInclude(requests.join(), "/products.json")
    })
  )
})

describe("an address in the list of stores", () => {
  it.live.each([
    ["http://127.0.0.2:9/", "private_address"],
    ["http://[::1]:9/", "private_address"],
    ["http://2130706434/", "private_address"],
    ["http://localhost:9/", "private_address"],
    ["ftp://shop.example/", "not_found"],
    ["file:///etc/passwd", "not_found"],
    ["../stores/shop", "not_found"]
  ] as const)("%s is not read", ([location, outcome]) =>
    Effect.gen(function* () {
      const { read } = yield* readShop(shop, undefined, { store: { location } })
      assert.deepStrictEqual([read.outcome, read.fetch_status], [outcome, "failed"])
      if (outcome === "private_address") assert.include(read.detail ?? "", "LARDER_PRIVATE_HOSTS")
    })
  )
})
