/** `/mcp` of a real server, with the protocol's official client. The ledger must have the charges that results state. */
import type { Client } from "@modelcontextprotocol/client"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createKey, listEntries } from "../support/api/operator.ts"
import { startOwnServer } from "../support/api/server.ts"
import {
  connectClient,
  endpointsByTool,
  expectOnlyToolsOfThreeScopes,
  formatError,
  type Mode,
  makeCall,
  makeHttpTransport,
  makeRequest,
  post,
  threeScopes,
  toolNames,
  toolsOfThreeScopes
} from "./assistant.ts"

const api = startOwnServer()
const url = () => api.server().api
const call = makeCall(() => api.client().charges)
const openClient = (key: string, mode: Mode = "auto") => connectClient(makeHttpTransport(url(), key), mode)

const prices = toolsOfThreeScopes.get_commodity_prices ?? {}

/** Arguments for each tool that find something, with ids of earlier results, in a possible order. */
const calls: ReadonlyArray<readonly [string, (ids: Ids) => Readonly<Record<string, unknown>>]> = [
  ...Object.entries(toolsOfThreeScopes).map(([name, given]) => [name, () => given] as const),
  ["search_branded_foods", () => ({ limit: 1 })],
  ["get_branded_food_categories", () => ({})],
  ["get_branded_food", ({ search_branded_foods }) => ({ id: search_branded_foods })],
  ["get_store", ({ search_stores }) => ({ id: search_stores })],
  ["get_store_products", ({ search_stores }) => ({ id: search_stores, limit: 2 })],
  ["get_store_collections", ({ search_stores }) => ({ id: search_stores })],
  ["get_product", ({ get_store_products }) => ({ id: get_store_products })]
]
type Ids = Record<string, unknown>

const readFirstId = (structured: unknown) => {
  const { data } = structured as { readonly data: ReadonlyArray<{ readonly id?: string }> }
  return Array.isArray(data) ? data[0]?.id : undefined
}

describe.each(["auto", "legacy"] as const)("a client that negotiates %s", (mode) => {
  let client: Client
  beforeAll(async () => {
    client = await openClient(api.key().key, mode)
  })
  afterAll(() => client.close())

  it("agrees on the newest revision of its kind", () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25")
    expect(client.getServerVersion()).toMatchObject({ name: "larder" })
    expect(client.getInstructions()).toContain("spends real money")
  })

  it("finds a tool for each endpoint, with its price", async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(toolNames)
    for (const { annotations, description, name } of tools) {
      const credits = endpointsByTool.get(name)?.credits ?? 0
      expect(description).toContain(`Costs ${credits} credits (${(credits / 1000).toFixed(2)} USD)`)
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false, openWorldHint: false })
    }
  })

  it("gets the API's exact response from every tool, typed and with its cost", async () => {
    const ids: Ids = {}
    for (const [name, makeArguments] of calls) {
      const given = makeArguments(ids)
      const { body, charged, cost, isError, remaining, structured } = await call(client, name, given) // the client validates it against the schema
      expect([name, isError]).toEqual([name, false])
      ids[name] = readFirstId(structured)
      const { id, ...query } = given
      const path = endpointsByTool.get(name)?.path.replace(":id", String(id))
      const plain = await api.get(`${path}?${new URLSearchParams(query as Record<string, string>)}`)
      expect(body).toBe(plain.text)
      expect(structured).toEqual(plain.json)
      expect(charged).toBe(endpointsByTool.get(name)?.credits)
      expect(remaining).toBe(Number(plain.headers["x-credits-remaining"]) + (charged ?? 0))
      expect(cost).toContain(`Charged ${charged} credits`)
    }
    expect(Object.keys(ids).toSorted()).toEqual(toolNames.toSorted())
  })

  it("gets the API's error type and message for wrong arguments, at no cost", async () => {
    const id = "platform_store_none"
    for (const [name, given, error] of [
      ["get_store", { id }, `not_found: Unknown store: ${id}`],
      ["get_store", {}, "invalid_request: id is required: the id of a store"],
      ["get_commodity_prices", { series: "no-such" }, "invalid_request: Unknown series: no-such"],
      [
        "get_commodity_prices",
        { series: ["no-such", "a,b"] },
        'invalid_request: series has a name with a comma in it: "a,b"'
      ],
      ["search_stores", { query: ["a"] }, "invalid_request: query must be a string or a number"],
      ["get_commodity_prices", { slug: ["a"] }, "invalid_request: Unknown query parameter: slug. Did you mean from?"],
      [
        "search_stores",
        { _meta: { progressToken: 1 } },
        "invalid_request: Unknown argument: _meta. The tool has no such argument; your client has added it."
      ],
      ["search_branded_foods", { limit: 201 }, "invalid_request: at most 200 per page"],
      ["search_branded_foods", { id }, "invalid_request: Unknown query parameter: id. Did you mean name?"]
    ] as const) {
      const result = await call(client, name, given)
      expect([formatError(result), result.isError, result.charged]).toEqual([error, true, 0])
      expect(JSON.parse(result.body)).toEqual(result.structured)
      expect(result.cost).toContain("Nothing was charged")
    }
  })

  it("gets a protocol error for an unknown tool", async () => {
    await expect(client.callTool({ name: "drop_tables", arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("Unknown tool: drop_tables")
    })
  })
})

describe("prices", () => {
  it("keep the digits as published in the text of a result", async () => {
    const client = await openClient(api.key().key)
    const { body } = await call(client, "get_commodity_prices", {
      series: "butter-sales-price-weekly",
      from: "2026-08-08",
      to: "2026-08-08"
    })
    expect(body).toMatch(/"value":\d\.\d{3}0\}/)
    await client.close()
  })
})

describe("a list of names", () => {
  it("is equivalent to text with commas, in one call", async () => {
    const client = await openClient(api.key().key)
    const { series, ...range } = prices as { readonly series: string }
    const asText = await call(client, "get_commodity_prices", prices)
    const asList = await call(client, "get_commodity_prices", { ...range, series: series.split(",") })
    expect([asList.body, asList.charged]).toEqual([asText.body, asText.charged])
    const names = series.split(",")
    for (const flattened of [JSON.stringify(names), names.join(", "), names.map((name) => ` ${name} `)]) {
      const given = { ...range, series: flattened }
      expect((await call(client, "get_commodity_prices", given)).body).toBe(asText.body)
    }
    await client.close()
  })
})

describe("a page", () => {
  it("leads to the next one by its cursor, and accepts a limit of any size", async () => {
    const client = await openClient(api.key().key)
    const first = await call(client, "search_commodities", { category: "dairy", limit: 1 })
    const { next_cursor } = first.structured as { readonly next_cursor: string }
    const second = await call(client, "search_commodities", { category: "dairy", limit: 2, cursor: next_cursor })
    const firstThree = await call(client, "search_commodities", { category: "dairy", limit: 3 })
    const rows = ({ structured }: typeof first) => (structured as { readonly data: ReadonlyArray<unknown> }).data
    expect([...rows(first), ...rows(second)]).toEqual(rows(firstThree))
    expect((await call(client, "search_stores", { limit: 1e30 })).isError).toBe(false)
    await client.close()
  })
})

describe("a key", () => {
  it.each(["auto", "legacy"] as const)(
    "lists only the tools of its scopes, and cannot call the others, negotiating %s",
    async (mode) => {
      const { account_id, key } = await createKey(api.home(), { scopes: threeScopes })
      const client = await openClient(key, mode)
      await expectOnlyToolsOfThreeScopes(client, call)
      await client.close()
      const charges = (await listEntries(api.home(), account_id)).filter(({ type }) => type === "charge")
      expect(charges).toHaveLength(Object.keys(toolsOfThreeScopes).length)
    }
  )

  it("is refused when its budget or balance is used up, and the text states this for the model", async () => {
    const { account_id, key } = await createKey(api.home(), { budget: 105 })
    const client = await openClient(key)
    expect((await call(client, "search_stores")).remaining).toBe(5)
    const capped = await call(client, "get_commodity_prices", prices)
    expect(formatError(capped)).toBe("insufficient_balance: Monthly spend cap reached")
    expect(capped.cost).toContain("tell the user")
    const secondKey = await createKey(api.home(), { account: account_id })
    const unlimited = await openClient(secondKey.key)
    for (let calls = 0; calls < 49; calls++) await call(unlimited, "search_stores", { limit: 1 })
    expect(formatError(await call(unlimited, "search_stores"))).toBe("insufficient_balance: Insufficient balance")
    expect((await listEntries(api.home(), account_id)).at(-1)?.balance).toBe(0)
    await client.close()
    await unlimited.close()
  })

  it("pays nothing for a list of tools", async () => {
    const { account_id, key } = await createKey(api.home())
    for (const mode of ["auto", "legacy"] as const) {
      const client = await openClient(key, mode)
      await client.listTools()
      if (mode === "legacy") await client.ping()
      await client.close()
    }
    expect((await listEntries(api.home(), account_id)).map(({ type }) => type)).toEqual(["grant"])
  })

  it.each([
    ["absent", undefined, "Missing or malformed Authorization: Bearer header"],
    ["malformed", "svc_data_short", "Missing or malformed Authorization: Bearer header"],
    ["unknown", `svc_data_${"a".repeat(64)}`, "Unknown or revoked API key"]
  ])("gets 401 before anything is read when it is %s", async (_what, key, message) => {
    const {
      headers,
      message: refusal,
      status
    } = await post(url(), makeRequest("tools/list"), key === undefined ? {} : { key })
    expect([status, refusal.error]).toEqual([401, { type: "unauthorized", message }])
    expect(headers.get("www-authenticate")).toBe("Bearer")
    expect(headers.get("x-request-id")).toMatch(/^req_/)
    if (key !== undefined) await expect(openClient(key)).rejects.toThrow()
  })
})

it("leaves no key and no error in the server's log", () => {
  expect(api.server().logs()).not.toMatch(/ERROR|connection failed/)
  expect(api.server().logs()).not.toContain(api.key().key.slice(9))
})
