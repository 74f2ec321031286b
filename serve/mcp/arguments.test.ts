import { assert, describe, it } from "@effect/vitest"
import { routes } from "../api/index.ts"
import { readArguments } from "./arguments.ts"

const findRoute = (id: string) => {
  const route = routes.find(({ endpoint }) => endpoint.id === id)
  if (route === undefined) throw new Error(`${id} is not an endpoint`)
  return route
}

/** The values that the API reads from the arguments, or the message of its 400. */
const read = (endpointId: string, given: Readonly<Record<string, unknown>>) => {
  const { id, query, route } = readArguments(findRoute(endpointId), given)
  const parsed = route.parse(query)
  return "invalid" in parsed ? parsed.invalid : { id, ...parsed.value }
}

describe("arguments of a tool", () => {
  it("encodes arguments as a query", () => {
    const { query } = readArguments(findRoute("searchStores"), { query: "a&b=ü", limit: 7 })
    assert.strictEqual(query.toString(), "query=a%26b%3D%C3%BC&limit=7")
  })
  it.each([
    [5, 5],
    ["5", 5],
    [200, 200],
    [1e21, 200],
    [Number.MAX_VALUE, 200]
  ])("reads a limit of %j as %i", (limit, expected) => {
    assert.propertyVal(read("searchStores", { limit }), "limit", expected)
  })
  it.each([0, -1, 1.5, 1e-7, "1e3", "", Number.POSITIVE_INFINITY])("rejects a limit of %o", (limit) => {
    assert.strictEqual(read("searchStores", { limit }), "limit must be a whole number of at least 1")
  })
  it.each([{ country: ["US"] }, { country: {} }, { country: true }])(
    "rejects an argument that is neither a string nor a number: %j",
    ({ country }) => {
      assert.strictEqual(read("searchStores", { country }), "country must be a string or a number")
    }
  )
  it("omits an optional argument that is null", () => {
    const { query, route } = readArguments(findRoute("searchStores"), {
      query: null,
      country: null,
      limit: 2,
      cursor: null
    })
    assert.strictEqual(query.toString(), "limit=2")
    assert.notProperty(route.parse(query), "invalid")
    assert.strictEqual(read("getCommodityPrices", { series: null }), "series must be a list of names or a string")
    assert.strictEqual(read("searchStores", { store: null }), "Unknown query parameter: store. Did you mean query?")
    assert.strictEqual(
      read("searchStores", { constructor: null }),
      "Unknown query parameter: constructor. Did you mean country?"
    )
  })
  it.each([
    ["getCommodityPrices", "series"],
    ["getCommodityMetricValues", "metrics"]
  ])("reads a list of names like the same names separated by commas, for %s", (endpointId, name) => {
    const { query } = readArguments(findRoute(endpointId), { [name]: ["b-1", "a", "b-1"], from: "2026-01-01" })
    assert.strictEqual(query.get(name), "b-1,a,b-1")
    assert.deepStrictEqual(read(endpointId, { [name]: ["b-1", "a"] }), read(endpointId, { [name]: "b-1,a" }))
    for (const [given, problem] of [
      [[], `${name} is required: 1 to 100 names, separated by commas`],
      [["a", ""], `${name} has an empty name between its commas`],
      [["a", "b,c"], `${name} has a name with a comma in it: "b,c"`],
      [["a", " "], `${name} has an empty name between its commas`],
      ['["a","b,c"]', `${name} has a name with a comma in it: "b,c"`],
      ["[]", `${name} is required: 1 to 100 names, separated by commas`],
      ['["a",["b"]]', `${name} must be a list of names or a string`],
      [["a", ["b"]], `${name} must be a list of names or a string`],
      [["a", null], `${name} must be a list of names or a string`],
      [{ a: 1 }, `${name} must be a list of names or a string`],
      [Array.from({ length: 101 }, () => "a"), `${name} takes at most 100 names, 101 were given`]
    ] as const) {
      assert.strictEqual(read(endpointId, { [name]: given }), problem)
    }
  })
  it.each([
    '["b-1","a"]',
    ' [ "b-1", " a" ] ',
    '"[\\"b-1\\",\\"a\\"]"',
    ['["b-1","a"]'],
    "b-1, a",
    " b-1 ,a ",
    '"b-1,a"',
    [" b-1", "a "]
  ])("reads %j as the names b-1 and a: clients send lists as JSON text, and models write blanks", (series) => {
    assert.strictEqual(readArguments(findRoute("getCommodityPrices"), { series }).query.get("series"), "b-1,a")
  })
  it.each(["b-1,[a]", "[b-1]", "{}", "12"])("reads %j, which is no JSON list, as names with commas", (series) => {
    assert.strictEqual(readArguments(findRoute("getCommodityPrices"), { series }).query.get("series"), series)
  })
  it("keeps blanks, brackets and quotes outside of lists", () => {
    for (const query of ['["a"]', '"a"', " a, b "]) assert.propertyVal(read("searchStores", { query }), "query", query)
  })
  it("omits an optional argument that is the text null, unless it can be a word to search for", () => {
    const given = { query: "null", country: "null", limit: "null", cursor: "null" }
    const { query } = readArguments(findRoute("searchStores"), given)
    assert.strictEqual(query.toString(), "query=null")
    const range = readArguments(findRoute("getCommodityPrices"), { series: "null", from: "null", to: "null" })
    assert.strictEqual(range.query.toString(), "series=null")
  })
  it.each(["_meta", "_sessionID", "progressToken", "toolCallId", "tool_call_id", "sessionId", "session_id"])(
    "rejects %s, which clients add by themselves, without a suggestion",
    (name) => {
      const message = `Unknown argument: ${name}. The tool has no such argument; your client has added it.`
      assert.strictEqual(read("searchStores", { [name]: {}, limit: "x" }), message)
    }
  )
  it("rejects an unknown name before it checks values", () => {
    assert.strictEqual(
      read("searchStores", { country: [], store: "x" }),
      "Unknown query parameter: store. Did you mean query?"
    )
    assert.strictEqual(
      read("getStore", { id: [], limit: 1 }),
      "Unknown query parameter: limit. This endpoint takes none."
    )
    assert.strictEqual(read("searchStores", { id: "x" }), "Unknown query parameter: id. Did you mean limit?")
    assert.strictEqual(
      read("searchStores", { constructor: "x" }),
      "Unknown query parameter: constructor. Did you mean country?"
    )
  })
  it("uses the argument id for the path, and requires it", () => {
    assert.deepStrictEqual(read("getStore", { id: "platform_store_x/../y" }), { id: "platform_store_x/../y" })
    assert.deepStrictEqual(read("getStore", { id: 12 }), { id: "12" })
    assert.deepStrictEqual(read("getStore", { id: "\ud800" }), { id: "\ufffd" })
    for (const given of [{}, { id: "" }])
      assert.strictEqual(read("getStore", given), "id is required: the id of a store")
    assert.strictEqual(read("getStore", { id: null }), "id must be a string or a number")
  })
})
