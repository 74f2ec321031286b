/** The protocol's inspector, as its command line: it lists and calls every tool of a key. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { templateOf } from "@larder/schemas/endpoint.ts"
import { afterAll, describe, expect, it } from "vitest"
import { endpointOf, toolNames } from "../../mcp/assistant.ts"
import { served } from "../../support/api/served.ts"
import { ended } from "../../support/programs.ts"

const program = path.join(
  fileURLToPath(import.meta.resolve("@modelcontextprotocol/inspector/package.json")),
  "../clients/cli/build/index.js"
)
/** It keeps things in the home of its user. */
const home = mkdtempSync(path.join(tmpdir(), "larder-inspector-"))
afterAll(() => rmSync(home, { recursive: true }))

const api = served()

interface Result {
  readonly isError?: boolean
  readonly structuredContent: { readonly data: unknown }
  readonly _meta: Readonly<Record<string, unknown>>
}

const inspect = async <A>(method: string, args: ReadonlyArray<string> = []): Promise<A> => {
  const header = `Authorization: Bearer ${api.key().key}`
  const target = [`${api.server().api}/mcp`, "--transport", "http", "--header", header]
  const child = spawn(process.execPath, [program, ...target, "--method", method, ...args], {
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const { code, stderr, stdout } = await ended(child)
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("svc_data_")])
  return JSON.parse(stdout)
}

const call = (name: string, given: Readonly<Record<string, string>>) => {
  const pairs = Object.entries(given).map(([argument, value]) => `${argument}=${value}`)
  return inspect<Result>("tools/call", ["--tool-name", name, ...(pairs.length > 0 ? ["--tool-arg", ...pairs] : [])])
}

const firstId = ({ structuredContent: { data } }: Result) => (Array.isArray(data) ? String(data[0]?.id) : "")

describe("the inspector", () => {
  it("lists every tool, and finds nothing in their schemas that a client could not read", async () => {
    const { tools } = await inspect<{ readonly tools: ReadonlyArray<{ readonly name: string }> }>("tools/list", [
      "--strict"
    ])
    expect(tools.map(({ name }) => name)).toEqual(toolNames)
  })

  it("calls every tool, and each is charged once: served() holds the ledger against it", async () => {
    const foods = await call("search_branded_foods", { name: "cheddar", limit: "1" })
    const stores = await call("search_stores", { limit: "1" })
    const products = await call("get_store_products", { id: firstId(stores), limit: "1" })
    const results: Readonly<Record<string, Result>> = {
      search_branded_foods: foods,
      search_stores: stores,
      get_store_products: products,
      search_commodities: await call("search_commodities", { commodity: "butter" }),
      get_commodity_prices: await call("get_commodity_prices", { series: "butter-sales-price-weekly" }),
      get_commodity_metric_values: await call("get_commodity_metric_values", { metrics: "butter_sales_price_weekly" }),
      get_branded_food_categories: await call("get_branded_food_categories", {}),
      get_branded_food: await call("get_branded_food", { id: firstId(foods) }),
      get_store: await call("get_store", { id: firstId(stores) }),
      get_store_collections: await call("get_store_collections", { id: firstId(stores) }),
      get_product: await call("get_product", { id: firstId(products) })
    }
    expect(Object.keys(results).toSorted()).toEqual(toolNames.toSorted())
    for (const [name, { _meta, isError = false }] of Object.entries(results)) {
      expect(isError, name).toBe(false)
      const { credits, path } = endpointOf.get(name) ?? { credits: 0, path: "" }
      expect(_meta["larder/credits_charged"], name).toBe(credits)
      api.client().charges.push({ request_id: String(_meta["larder/request_id"]), credits, endpoint: templateOf(path) })
    }
  })
})
