import type { ServerResponse } from "node:http"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import {
  hasty,
  type Misbehaviour,
  range,
  readOnce,
  type Shop,
  startShop,
  storeAt,
  type Taken
} from "@larder/test/support/pipelines/store-host.ts"
import { whileClockAdvances } from "@larder/test/support/pipelines/upstream.ts"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import { Archive } from "../../../run/archive/archive.ts"
import { listArchivedRuns, repeatRun } from "../../../run/archive/archived-runs.ts"
import { liveOrigin } from "../../../run/origins/live.ts"
import type { ListedStore } from "../store-list.ts"
import type { StoreOutcome } from "./outcome.ts"
import type { StorePolicy } from "./policy.ts"

const settings = ConfigProvider.layer(ConfigProvider.fromEnvRecord({ LARDER_PRIVATE_HOSTS: "127.0.0.1" }))
const summarize = ({ products, read }: Taken) => ({
  products,
  fetch_status: read.fetch_status,
  outcome: read.outcome,
  detail: read.detail,
  currency: read.currency,
  collections_read: read.collections_read
})

/** Reads a shop over the network, then once more from the archive. */
const readTwice = (
  shop: Shop,
  misbehave?: Misbehaviour,
  policy: Partial<StorePolicy> = {},
  kind: ListedStore["kind"] = "shopify"
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-repeated-" })
    const upstream = yield* startShop(shop, (request) => {
      if (request.path !== "/list") return misbehave?.(request) ?? false
      return request.response.end("the list of stores, which every run has") !== undefined
    })
    const store = storeAt(upstream, { kind })
    const archive = Archive.layer({ folder, run_id: "run-1", pipeline: "storefronts", days: null })
    const live = Layer.provide(liveOrigin(hasty), settings)
    const first = yield* Effect.gen(function* () {
      yield* Archive.use((archive) => archive.fetch({ url: `${upstream.url}/list`, accept: "*/*" }))
      const result = yield* readOnce(store, policy)
      yield* Archive.use((archive) => archive.recordEnd({ published: "generation-1" }))
      return result
    }).pipe(Effect.provide([archive, live]))
    yield* upstream.close
    const [run] = yield* listArchivedRuns(folder, "storefronts")
    assert.isDefined(run)
    const scratch = yield* fs.makeTempDirectoryScoped({ prefix: "larder-repeated-" })
    const toRepeat = { folder, scratch }
    const repeated = yield* readOnce(store, policy).pipe(Effect.provide(repeatRun(toRepeat, run)))
    assert.deepStrictEqual(summarize(repeated), summarize(first))
    return first
  }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)

const onPage =
  (which: number, respond: (response: Parameters<Misbehaviour>[0]["response"], n: number) => boolean): Misbehaviour =>
  ({ n, page, path, response }) =>
    path === "/products.json" && page === which && respond(response, n)

describe("a read that is repeated from the archive", () => {
  it.live("has the same result for a store that was read completely, in the same currency", () =>
    Effect.gen(function* () {
      const pages = [range(1, 250), [], range(251, 262)]
      const headers = { "set-cookie": "cart_currency=NOK" }
      const { read } = yield* readTwice({ pages, collections: { all: [[1, 2]] }, headers })
      assert.deepStrictEqual([read.outcome, read.currency], ["complete", "NOK"])
    })
  )

  it.live("has the same result for a store that refuses the page after the last one", () =>
    Effect.gen(function* () {
      const refuse: Misbehaviour = ({ page, response }) => {
        if (page !== 2) return false
        response.writeHead(400).end('{"code":"rest_post_invalid_page_number"}')
        return true
      }
      const { read } = yield* readTwice({ pages: [range(1, 3)] }, refuse, {}, "woocommerce")
      assert.strictEqual(read.outcome, "complete")
    })
  )

  it.live("has the same result for a store that responded with HTML at first", () =>
    Effect.gen(function* () {
      const { read } = yield* readTwice(
        { pages: [[1]] },
        onPage(1, (response, n) => n === 1 && response.end("<html></html>") !== undefined)
      )
      assert.strictEqual(read.outcome, "complete")
    })
  )

  it.live("has the same result for a read that broke off", () =>
    Effect.gen(function* () {
      const refuse = onPage(2, (response) => response.writeHead(403).end() !== undefined)
      const { read } = yield* readTwice({ pages: [range(1, 250), [251]] }, refuse)
      assert.strictEqual(read.outcome, "broken_off")
    })
  )

  it.live("has the same result for a store with more products than can be paged through", () =>
    Effect.gen(function* () {
      const pages = Array.from({ length: 101 }, (_, n) => [n + 1])
      const errors = "Page * Limit exceeds the 25000 limit."
      const refuse = onPage(101, (response) => response.writeHead(400).end(JSON.stringify({ errors })) !== undefined)
      const { read } = yield* readTwice({ pages }, refuse)
      assert.deepStrictEqual([read.outcome, read.products_read], ["window", 100])
    })
  )

  const html = (response: ServerResponse) => response.end("<html><title>Opening soon</title></html>") !== undefined
  const status =
    (code: number, headers: Record<string, string> = {}) =>
    (response: ServerResponse) =>
      response.writeHead(code, headers).end() !== undefined
  const failures: ReadonlyArray<readonly [StoreOutcome, (response: ServerResponse) => boolean]> = [
    ["blocked", status(403)],
    ["locked", status(402)],
    ["locked", status(302, { location: "/password" })],
    ["not_found", status(404)],
    ["throttled", status(429)],
    ["unreachable", status(500)],
    ["unreachable", (response) => response.destroy() !== undefined],
    ["forbidden", status(302, { location: "/cart/products.json" })],
    ["private_address", status(302, { location: "http://169.254.169.254/" })],
    ["too_large", (response) => response.end(Buffer.alloc(2 << 20)) !== undefined],
    ["html", html]
  ]
  it.live.each(failures)("has the same result for a store that failed as %s (case %#)", ([outcome, respond]) =>
    Effect.gen(function* () {
      const robots = "User-agent: *\nDisallow: /cart"
      const { read } = yield* readTwice({ pages: [[1]], robots }, onPage(1, respond))
      assert.strictEqual(read.outcome, outcome)
    })
  )

  it.live("has the same result for a store whose robots.txt could not be read", () =>
    Effect.gen(function* () {
      const { read } = yield* readTwice({ pages: [[1]] }, ({ path, response }) => {
        if (path === "/robots.txt") response.writeHead(500).end()
        return path === "/robots.txt"
      })
      assert.strictEqual(read.outcome, "unreachable")
      assert.include(read.detail ?? "", "robots.txt")
    })
  )

  it.effect("has the same result for a store that took too long", () =>
    Effect.gen(function* () {
      const pages = [range(1, 250), range(251, 500)]
      let wasRequested = false
      const neverResponding = onPage(2, () => {
        wasRequested = true
        return true
      })
      const reading = readTwice({ pages }, neverResponding, { budget: "30 seconds" })
      const { read } = yield* whileClockAdvances(() => (wasRequested ? "1 second" : "1 millis"), reading)
      assert.deepStrictEqual([read.outcome, read.products_read], ["budget", 250])
    })
  )
})
