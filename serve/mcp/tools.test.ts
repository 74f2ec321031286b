import { assert, describe, it } from "@effect/vitest"
import { endpoints } from "@larder/schemas"
import { Ajv2020 } from "ajv/dist/2020.js"
import { routes } from "../api/index.ts"
import { makeTools } from "./tools.ts"

const tools = makeTools(routes).map(({ tool }) => tool)
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false, strictRequired: false })

describe("the list of tools for assistants", () => {
  it("has one tool for each endpoint, named like its operation", () => {
    assert.strictEqual(tools.length, endpoints.length)
    assert.deepStrictEqual(
      tools.slice(0, 11).map(({ name }) => name),
      [
        "search_commodities",
        "get_commodity_prices",
        "get_commodity_metric_values",
        "search_branded_foods",
        "get_branded_food_categories",
        "get_branded_food",
        "search_stores",
        "get_store",
        "get_store_products",
        "get_store_collections",
        "get_product"
      ]
    )
  })
  it("states the cost and the paging of each tool, and names only tools that exist", () => {
    const names = new Set(tools.map(({ name }) => name))
    for (const [index, tool] of tools.entries()) {
      const { description = "" } = tool
      const endpoint = endpoints[index]
      assert.include(description, `Costs ${endpoint?.credits} credits`)
      assert.strictEqual(description.includes("`next_cursor`"), "cursor" in (endpoint?.parameters ?? {}))
      assert.notMatch(description, /times as/)
      const named = JSON.stringify(tool).match(/\b(?:get|search)_[a-z_]+/g) ?? []
      assert.deepStrictEqual(
        named.filter((name) => !names.has(name)),
        []
      )
    }
  })
  it("mentions tools and arguments, never endpoints and parameters", () => {
    for (const tool of tools) {
      const { "larder/scope": _scope, ...meta } = tool._meta ?? {}
      const text = JSON.stringify({ ...tool, _meta: meta })
      assert.deepStrictEqual(text.match(/.{0,40}(?:endpoint|parameter).{0,20}/gi), null, tool.name)
    }
  })
  it("has exactly the parameters of the endpoint, and the id of its path, for each tool", () => {
    for (const [index, { inputSchema }] of tools.entries()) {
      const { parameters = {}, record } = endpoints[index] ?? {}
      const expected = [...(record === undefined ? [] : ["id"]), ...Object.keys(parameters)]
      assert.deepStrictEqual(Object.keys(inputSchema.properties ?? {}), expected)
      assert.strictEqual(inputSchema.additionalProperties, false)
    }
  })
  it("has examples that the schema of their tool accepts", () => {
    for (const { inputSchema } of tools) {
      const examples = Object.entries(inputSchema.properties ?? {}).map(([name, schema]) => {
        const { anyOf: [text = schema] = [] } = schema as { readonly anyOf?: ReadonlyArray<object> }
        const { examples = [] } = text as { readonly examples?: ReadonlyArray<unknown> }
        return [name, name === "id" || name === "cursor" ? "x" : examples[0]] as const
      })
      const check = ajv.compile(inputSchema)
      assert.isTrue(check(Object.fromEntries(examples)), JSON.stringify(check.errors))
    }
  })
  it("accepts names as a list, or as text separated by commas", () => {
    const { inputSchema } = tools.find(({ name }) => name === "get_commodity_prices") ?? {}
    const check = ajv.compile(inputSchema ?? {})
    for (const [series, isAccepted] of [
      ["a,b", true],
      [["a", "b"], true],
      ["", false],
      [[], false],
      [["a,b"], false],
      [["a", 1], false],
      [Array.from({ length: 101 }, () => "a"), false]
    ] as const) {
      assert.strictEqual(check({ series }), isAccepted, JSON.stringify(series))
    }
  })
  it("lists the members of a result", () => {
    const { description = "" } = tools.find(({ name }) => name === "get_commodity_metric_values") ?? {}
    assert.include(description, "Returns `{ data: [{ metric_name, unit, from, to, points: [{ date, value }] }] }`.")
    for (const { description } of tools) assert.match(description ?? "", /Returns `\{ data: /)
  })
  it("fits into 20 kB, because every conversation of an assistant begins with it", () => {
    assert.isBelow(Buffer.byteLength(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { tools } })), 20_000)
  })
})
