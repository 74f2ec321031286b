/** Requests to `/mcp` and around it that the protocol's official client does not send, and who may send them. */
import { type OAuthClientProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { describe, expect, it } from "vitest"
import { bearer } from "../support/api/client.ts"
import { sendRaw } from "../support/api/raw.ts"
import { startOwnServer } from "../support/api/server.ts"
import { connectClient, makeRequest, post, toolNames, toolsOfThreeScopes } from "./assistant.ts"

const api = startOwnServer({
  environment: { LARDER_API_URL: "https://api.example.com", LARDER_CONSOLE_URL: "https://console.example.com" }
})
const url = () => api.server().api

it("links errors of the API and of unreadable HTTP to the docs at the public address", async () => {
  const link = (code: string) => `<https://api.example.com/docs/errors#${code}>; rel="help"`
  const { headers } = await api.get("/v1/stores?limt=1", { headers: { host: "evil.example" } })
  expect(headers.link).toBe(link("unknown_parameter"))
  const refused = await post(url(), "{", {})
  expect(refused.headers.get("link")).toBe(link("authorization_missing"))
  const broken = await sendRaw(url(), "GET v1/stores HTTP/1.1", ["Host: evil.example"])
  expect(broken.map((reply) => reply.headers.link)).toEqual([link("unreadable_request")])
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
  const toolCall = makeRequest("tools/call", {
    name: "get_commodity_prices",
    arguments: toolsOfThreeScopes.get_commodity_prices
  })
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
    ["an empty list", "[]", 400],
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
})
