/** `/mcp` of a real server, with the protocol's official client. The ledger must have the charges that results state. */
import { type Client, type OAuthClientProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bearer } from "../support/api/client.ts"
import { createKey, listEntries } from "../support/api/operator.ts"
import { sendRaw } from "../support/api/raw.ts"
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

const api = startOwnServer({
  environment: { LARDER_API_URL: "https://api.example.com", LARDER_CONSOLE_URL: "https://console.example.com" }
})
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

it("links errors of the API and of unreadable HTTP to the docs at the public address", async () => {
  const link = (code: string) => `<https://api.example.com/docs/errors#${code}>; rel="help"`
  const { headers } = await api.get("/v1/stores?limt=1", { headers: { host: "evil.example" } })
  expect(headers.link).toBe(link("unknown_parameter"))
  const refused = await post(url(), "{", {})
  expect(refused.headers.get("link")).toBe(link("authorization_missing"))
  const broken = await sendRaw(url(), "GET v1/stores HTTP/1.1", ["Host: evil.example"])
  expect(broken.map((reply) => reply.headers.link)).toEqual([link("unreadable_request")])
})

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

describe("a client that tries OAuth after a refused key", () => {
  const redirectUrl = "http://localhost/callback"
  const notUsed = () => expect.unreachable("the registration is refused")
  const authProvider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl] },
    clientInformation: () => undefined,
    saveClientInformation: notUsed,
    tokens: () => undefined,
    saveTokens: notUsed,
    redirectToAuthorization: notUsed,
    saveCodeVerifier: notUsed,
    codeVerifier: notUsed
  }

  it.each(["auto", "legacy"] as const)("shows its user that the key is the cause, negotiating %s", async (mode) => {
    const headers = bearer(`svc_data_${"a".repeat(64)}`)
    const transport = new StreamableHTTPClientTransport(new URL(`${url()}/mcp`), {
      authProvider,
      requestInit: { headers }
    })
    await expect(connectClient(transport, mode)).rejects.toThrow(
      "The API key is missing, malformed, unknown or revoked. Send a valid key in the header Authorization"
    )
  })

  it("gets an OAuth error at /register, which pages may read, and 404 at all other addresses of OAuth", async () => {
    const response = await fetch(`${url()}/register`, { method: "POST", body: "{}" })
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([400, "*"])
    expect(response.headers.get("x-error-code")).toBe("oauth_not_supported")
    expect(await response.json()).toEqual({ error: "access_denied", error_description: expect.stringContaining("key") })
    const preflight = await fetch(`${url()}/register`, {
      method: "OPTIONS",
      headers: { "access-control-request-method": "POST", "access-control-request-headers": "content-type" }
    })
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([204, "POST, OPTIONS"])
    for (const [method, path, status] of [
      ["GET", "/register", 405],
      ["POST", "/register/", 404],
      ["POST", "/token", 404],
      ["GET", "/authorize", 404],
      ["GET", "/.well-known/oauth-authorization-server", 404],
      ["GET", "/.well-known/oauth-protected-resource/mcp", 404],
      ["GET", "/.well-known/openid-configuration", 404]
    ] as const) {
      const reply = await fetch(`${url()}${path}`, { method })
      expect([path, reply.status, await reply.json()]).toMatchObject([
        path,
        status,
        { error: { type: expect.any(String) } }
      ])
    }
  })
})

describe("a request", () => {
  const send = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    post(url(), body, { key: api.key().key, headers })
  const toolCall = makeRequest("tools/call", { name: "get_commodity_prices", arguments: prices })
  const newest = "2026-07-28"
  const inBothRevisions = [
    [makeRequest("tools/list"), {}],
    [
      makeRequest("tools/list", {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": newest,
          "io.modelcontextprotocol/clientCapabilities": {}
        }
      }),
      { "mcp-protocol-version": newest, "mcp-method": "tools/list" }
    ]
  ] as const

  it.each(["2025-11-25", "2025-06-18", "2025-03-26"])(
    "needs no session in the earlier revision %s",
    async (version) => {
      const { message } = await send(
        makeRequest("initialize", {
          protocolVersion: version,
          capabilities: {},
          clientInfo: { name: "x", version: "1" }
        })
      )
      expect(message.result).toMatchObject({ protocolVersion: version, capabilities: { tools: {} } })
      const listed = await send(makeRequest("tools/list"), { "mcp-protocol-version": version })
      expect(listed.message.result?.tools).toHaveLength(toolNames.length)
    }
  )

  it("gets 400 in an unknown revision", async () => {
    expect((await send(toolCall, { "mcp-protocol-version": "1999-01-01" })).status).toBe(400)
    expect((await send(toolCall, { "mcp-protocol-version": "2099-01-01" })).status).toBe(400)
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2099-01-01",
      "io.modelcontextprotocol/clientCapabilities": {}
    }
    const modern = await send(makeRequest("tools/list", { _meta }), {
      "mcp-protocol-version": "2099-01-01",
      "mcp-method": "tools/list"
    })
    expect([modern.status, modern.message.error?.code]).toEqual([400, -32022])
  })

  it.each(["https://evil.example", "null", "https://api.example.com:8443"])(
    "gets 403 from a page of %s",
    async (origin) => {
      const { headers, message, status } = await send(toolCall, { origin })
      expect([status, message.error?.type]).toEqual([403, "forbidden"])
      expect(headers.get("access-control-allow-origin")).toBeNull()
    }
  )

  it.each(["https://api.example.com", "https://console.example.com", "http://localhost:6274", "http://127.0.0.1:9"])(
    "is accepted from a page of %s",
    async (origin) => {
      const { headers, status } = await send(makeRequest("tools/list"), { origin })
      expect([status, headers.get("access-control-allow-origin")]).toEqual([200, origin])
      const preflight = await post(url(), undefined, { method: "OPTIONS", headers: { origin } })
      expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([204, "Authorization"])
      const asking = { origin, "access-control-request-headers": "content-type,mcp-protocol-version,traceparent" }
      const allowed = (await post(url(), undefined, { method: "OPTIONS", headers: asking })).headers
      expect(allowed.get("access-control-allow-headers")).toBe(
        "Authorization, content-type, mcp-protocol-version, traceparent"
      )
      expect(allowed.get("vary")).toBe("Origin, Access-Control-Request-Headers")
      expect(allowed.get("access-control-allow-credentials")).toBeNull()
    }
  )

  it.each(["*/*", "application/json", "application/*;q=0.5, text/html", "", "Application/JSON; charset=utf-8"])(
    "is served with Accept: %s",
    async (accept) => {
      for (const [body, headers] of inBothRevisions)
        expect([accept, (await send(body, { ...headers, accept })).status]).toEqual([accept, 200])
    }
  )

  it("is served without Accept", async () => {
    const body = JSON.stringify(makeRequest("tools/list"))
    const headers = ["Host: localhost", `Authorization: Bearer ${api.key().key}`, "Content-Type: application/json"]
    const sent = [...headers, `Content-Length: ${body.length}`]
    const [reply] = await sendRaw(url(), "POST /mcp HTTP/1.1", sent, body)
    expect(reply?.status).toBe(200)
  })

  it.each(["text/event-stream", "text/html", "application/json;q=0, */*"])(
    "gets 406 with Accept: %s, which excludes JSON",
    async (accept) => {
      for (const [body, headers] of inBothRevisions) {
        const { message, status } = await send(body, { ...headers, accept })
        expect([status, message.error?.message]).toEqual([406, expect.stringContaining("application/json")])
      }
    }
  )

  it.each(["GET", "DELETE", "PUT"])("gets 405 with POST in the header Allow when its method is %s", async (method) => {
    const { headers, message, status } = await post(url(), undefined, { method, key: api.key().key })
    expect([status, message.error?.type, headers.get("allow")]).toEqual([405, "invalid_request", "POST, OPTIONS"])
  })

  it.each([
    ["text that is not JSON", "{", 400],
    ["no body", "", 400],
    ["null", "null", 400],
    ["an empty batch", "[]", 400],
    ["an object that is not a message", '{"jsonrpc":"2.0"}', 400],
    ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', 400],
    ["a hundred thousand nested lists", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, 400],
    ["65 nested lists", `${"[".repeat(65)}${"]".repeat(65)}`, 400],
    [
      "an argument nested 2,200 levels deep",
      JSON.stringify(toolCall).replace('"2026-08-01"', `${'{"a":'.repeat(2_200)}1${"}".repeat(2_200)}`),
      400
    ],
    [
      "an argument twice",
      JSON.stringify(toolCall).replace('"from"', '"series":"butter-sales-price-weekly","from"'),
      400
    ],
    ["a member that would be dropped", JSON.stringify(toolCall).replace('"from"', '"__proto__"'), 400],
    ["300 KB", JSON.stringify({ ...toolCall, filler: "x".repeat(300_000) }), 413]
  ])("is rejected free of charge if it contains %s", async (_what, body, expected) => {
    const { message, status } = await send(body)
    expect([status, typeof message.error?.code]).toEqual([expected, "number"])
  })

  it("gets 415 for another content type, and a protocol error for an unknown method", async () => {
    expect((await send(toolCall, { "content-type": "text/plain" })).status).toBe(415)
    expect((await send(makeRequest("tools/destroy"))).message.error?.code).toBe(-32601)
    expect((await send(makeRequest("tools/call", { name: "get_store", arguments: [] }))).message.error?.code).toBe(
      -32602
    )
  })

  it("gets 404 at any path other than /mcp", async () => {
    for (const path of ["/mcp/", "/MCP", "/mcp/x", "/%6dcp"]) {
      const response = await fetch(`${url()}${path}`, { method: "POST", body: "{}" })
      expect([path, response.status]).toEqual([path, 404])
      await response.text()
    }
  })

  it("gets an error that names a repeated argument", async () => {
    const { message } = await send(JSON.stringify(toolCall).replace('"from"', '"series":"x","from"'))
    expect(message.error).toEqual({ code: -32_700, message: "Parse error: Repeated member: series" })
  })

  it("leaves no key and no error in the server's log", () => {
    expect(api.server().logs()).not.toMatch(/ERROR|connection failed/)
    expect(api.server().logs()).not.toContain(api.key().key.slice(9))
  })
})
