/**
 * What a generated client must be able to do, in every language alike: its program makes these calls, and writes down each
 * answer as its types hold it. A field that they lose, round or misread is not in what it writes.
 */
import { readFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createKey } from "../support/api/operator.ts"
import type { SharedServer } from "../support/api/server.ts"
import { repository } from "../support/repository.ts"
import { type Exchange, notingFront } from "./front.ts"
import { built, type Toolchain } from "./toolchains.ts"

/** The moment or the day that a text is, however it is written. */
const inUtc = (text: string) =>
  /^\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)$/.test(text) ? new Date(text).toISOString() : text
/** After the last page, a type in which `next_cursor` is optional leaves it out. */
const written = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (name, value) => {
    if (name === "next_cursor" && value === null) return undefined
    return typeof value === "string" ? inUtc(value) : value
  })

/** Path and query as they are meant, whatever their encoding; cursors as `…`. */
const meant = (target: string) => {
  const { pathname, searchParams } = new URL(target, "http://api")
  const query = [...searchParams].map(([name, value]) => `${name}=${name === "cursor" ? "…" : value}`)
  return [decodeURIComponent(pathname), ...query.toSorted()].join(" ")
}

const pages = (count: number, path: string, ...query: ReadonlyArray<string>) =>
  Array.from({ length: count }, (_, page) =>
    [path, ...[...(page === 0 ? [] : ["cursor=…"]), ...query].toSorted()].join(" ")
  )

const calls = (food: string, store: string, product: string) => [
  "/v1/commodities commodity=butter",
  "/v1/commodities",
  ...pages(3, "/v1/commodities", "category=dairy", "limit=8"),
  "/v1/commodities/prices from=2026-08-01 series=cheese-block-sales-price-weekly,milk-class-iii-price-monthly to=2026-09-30",
  "/v1/commodities/metric-values from=2026-08-29 metrics=butter_sales_price_weekly,dry_whey_sales_price_weekly",
  ...pages(3, "/v1/branded-foods", "category=Breads & Buns", "limit=10"),
  "/v1/branded-foods/categories",
  `/v1/branded-foods/${food}`,
  ...pages(2, "/v1/stores", "limit=2"),
  `/v1/stores/${store}`,
  ...pages(3, `/v1/stores/${store}/products`, "limit=25"),
  ...pages(2, `/v1/stores/${store}/collections`, "limit=3"),
  `/v1/products/${product}`
]
const refused = (food: string): ReadonlyArray<readonly [status: number, call: string]> => [
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
  let told: ReadonlyArray<{ readonly status: number; readonly body: unknown }> = []
  let close: (() => void) | undefined
  const refusals = refused("no such food, é/?".replaceAll(" ", toolchain.blankInPath ?? " "))

  describe(`a client for ${toolchain.language}, by ${toolchain.generator} ${toolchain.version}`, () => {
    beforeAll(async () => {
      const front = await notingFront(api.client())
      close = front.close
      const [run, paused, narrow] = await Promise.all([
        built(toolchain, api.client().document),
        createKey(api.home(), { budget: 0 }),
        createKey(api.home(), { scopes: ["get-product"] })
      ])
      const output = await run({
        LARDER_URL: front.url,
        LARDER_API_KEY: api.key().key,
        LARDER_UNKNOWN_KEY: `svc_data_${"a".repeat(64)}`,
        LARDER_PAUSED_KEY: paused.key,
        LARDER_NARROW_KEY: narrow.key
      })
      exchanges = front.exchanges
      told = output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    }, 1_800_000)
    afterAll(() => close?.())

    it("is documented with this version", () => {
      const rows = readFileSync(path.join(repository, "docs/api.md"), "utf8").split("\n")
      expect(rows.find((row) => row.startsWith(`| ${toolchain.language} `))).toContain(`| ${toolchain.version} |`)
    })
    it("calls all operations, follows pages to their end, and sends no parameter that it was not given", () => {
      const records = exchanges.map(({ target }) => /^\/v1\/[a-z-]+\/([a-z]+_[a-z_]+_\w+)$/.exec(target)?.[1])
      const [food = "", store = "", product = ""] = records.filter((id) => id !== undefined)
      expect(exchanges.map(({ target }) => meant(target))).toEqual([
        ...calls(food, store, product),
        ...refusals.map(([, call]) => call)
      ])
    })
    it("reads every field of every answer: nulls, days, moments, decimals, absent nutrients", () => {
      const answered = exchanges.filter(({ status }) => status === 200)
      expect(answered.length).toBe(exchanges.length - refusals.length)
      for (const [index, { body, target }] of answered.entries()) {
        expect({ target, body: written(told[index]?.body) }).toEqual({ target, body: written(body) })
      }
    })
    it("reads every error", () => {
      const errors = exchanges.slice(-refusals.length).map(({ body, status }) => ({ status, body }))
      expect(errors.map(({ status }) => status)).toEqual(refusals.map(([status]) => status))
      expect(told.slice(-refusals.length)).toEqual(errors)
    })
  })
}
