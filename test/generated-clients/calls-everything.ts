/**
 * The calls that a generated client makes, in every language. A program prints each response as the client's types
 * represent it, so that lost, rounded and misread fields are noticed.
 */
import { readFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createKey } from "../support/api/operator.ts"
import type { SharedServer } from "../support/api/server.ts"
import { repository } from "../support/repository.ts"
import { type Exchange, startRecordingProxy } from "./recording-proxy.ts"
import { buildClient, type Toolchain } from "./toolchains.ts"

/** The same format for all spellings of a time in UTC. */
const toUtc = (text: string) =>
  /^\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)$/.test(text) ? new Date(text).toISOString() : text
/** A type with an optional `next_cursor` omits it after the last page. */
const normaliseBody = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (name, value) => {
    if (name === "next_cursor" && value === null) return undefined
    return typeof value === "string" ? toUtc(value) : value
  })

/** Path and sorted query, decoded; cursors as `…`. */
const normaliseTarget = (target: string) => {
  const { pathname, searchParams } = new URL(target, "http://api")
  const query = [...searchParams].map(([name, value]) => `${name}=${name === "cursor" ? "…" : value}`)
  return [decodeURIComponent(pathname), ...query.toSorted()].join(" ")
}

const repeatForPages = (count: number, path: string, ...query: ReadonlyArray<string>) =>
  Array.from({ length: count }, (_, page) =>
    [path, ...[...(page === 0 ? [] : ["cursor=…"]), ...query].toSorted()].join(" ")
  )

const listCalls = (food: string, store: string, product: string) => [
  "/v1/commodities commodity=butter",
  "/v1/commodities",
  ...repeatForPages(3, "/v1/commodities", "category=dairy", "limit=8"),
  "/v1/commodities/prices from=2026-08-01 series=cheese-block-sales-price-weekly,milk-class-iii-price-monthly to=2026-09-30",
  "/v1/commodities/metric-values from=2026-08-29 metrics=butter_sales_price_weekly,dry_whey_sales_price_weekly",
  ...repeatForPages(3, "/v1/branded-foods", "category=Breads & Buns", "limit=10"),
  "/v1/branded-foods/categories",
  `/v1/branded-foods/${food}`,
  ...repeatForPages(2, "/v1/stores", "limit=2"),
  `/v1/stores/${store}`,
  ...repeatForPages(3, `/v1/stores/${store}/products`, "limit=25"),
  ...repeatForPages(2, `/v1/stores/${store}/collections`, "limit=3"),
  `/v1/products/${product}`
]
const listErrors = (food: string): ReadonlyArray<readonly [status: number, call: string]> => [
  [400, "/v1/commodities/prices series=gold"],
  [401, "/v1/branded-foods/categories"],
  [402, "/v1/branded-foods/categories"],
  [403, "/v1/branded-foods/categories"],
  [404, `/v1/branded-foods/${food}`],
  [500, "/v1/products/broken"],
  [503, "/v1/products/overloaded"]
]

export const itCallsEverything = (toolchain: Toolchain, api: SharedServer) => {
  let exchanges: ReadonlyArray<Exchange> = []
  let output: ReadonlyArray<{ readonly status: number; readonly body: unknown }> = []
  let close: (() => void) | undefined
  const errorCalls = listErrors("no such food, é/?".replaceAll(" ", toolchain.spaceInPath ?? " "))

  describe(`a client for ${toolchain.language}, by ${toolchain.generator} ${toolchain.version}`, () => {
    beforeAll(async () => {
      const proxy = await startRecordingProxy(api.client())
      close = proxy.close
      const [run, paused, narrow] = await Promise.all([
        buildClient(toolchain, api.client().document),
        createKey(api.home(), { budget: 0 }),
        createKey(api.home(), { scopes: ["get-product"] })
      ])
      const text = await run({
        LARDER_URL: proxy.url,
        LARDER_API_KEY: api.key().key,
        LARDER_UNKNOWN_KEY: `svc_data_${"a".repeat(64)}`,
        LARDER_PAUSED_KEY: paused.key,
        LARDER_NARROW_KEY: narrow.key
      })
      exchanges = proxy.exchanges
      output = text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    }, 1_800_000)
    afterAll(() => close?.())

    it("is documented with this version", () => {
      const rows = readFileSync(path.join(repository, "docs/api.md"), "utf8").split("\n")
      expect(rows.find((row) => row.startsWith(`| ${toolchain.language} `))).toContain(`| ${toolchain.version} |`)
    })
    it("calls all operations, follows pages to the end, and sends only the given parameters", () => {
      const records = exchanges.map(({ target }) => /^\/v1\/[a-z-]+\/([a-z]+_[a-z_]+_\w+)$/.exec(target)?.[1])
      const [food = "", store = "", product = ""] = records.filter((id) => id !== undefined)
      expect(exchanges.map(({ target }) => normaliseTarget(target))).toEqual([
        ...listCalls(food, store, product),
        ...errorCalls.map(([, call]) => call)
      ])
    })
    it("reads every field of every response: nulls, days, times, decimals, absent nutrients", () => {
      const successes = exchanges.filter(({ status }) => status === 200)
      expect(successes.length).toBe(exchanges.length - errorCalls.length)
      for (const [index, { body, target }] of successes.entries()) {
        expect({ target, body: normaliseBody(output[index]?.body) }).toEqual({ target, body: normaliseBody(body) })
      }
    })
    it("reads every error", () => {
      const errors = exchanges.slice(-errorCalls.length).map(({ body, status }) => ({ status, body }))
      expect(errors.map(({ status }) => status)).toEqual(errorCalls.map(([status]) => status))
      expect(output.slice(-errorCalls.length)).toEqual(errors)
    })
  })
}
