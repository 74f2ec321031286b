/** `larder-serve mcp` as an assistant starts it, against a running server. */
import { spawn } from "node:child_process"
import path from "node:path"
import { createInterface } from "node:readline"
import type { Client } from "@modelcontextprotocol/client"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createKey, listEntries } from "../support/api/operator.ts"
import { useSharedServer } from "../support/api/server.ts"
import { run, waitForExit } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import {
  checkAndRecord,
  connectClient,
  expectOnlyToolsOfThreeScopes,
  formatError,
  makeCall,
  makeRequest,
  makeStdioTransport,
  readResult,
  threeScopes,
  toolNames,
  toolsOfThreeScopes
} from "./assistant.ts"

const api = useSharedServer()
const call = makeCall(() => api.client().charges)
const prices = { series: "butter-sales-price-weekly", from: "2026-08-01" }

const initialize = makeRequest(
  "initialize",
  { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
  0
)

/** Starts the program with pipes, for lines that a client of the protocol never sends. */
const startProgram = (key: string) => {
  const program = path.join(repository, "serve/bin/larder-serve.mjs")
  const child = spawn(process.execPath, [program, "mcp", "--url", api.server().api], { env: { LARDER_API_KEY: key } })
  return { child, end: waitForExit(child) }
}

describe("an assistant that starts larder-serve mcp", () => {
  let client: Client
  let log: () => string
  beforeAll(async () => {
    const program = makeStdioTransport(`${api.server().api}/mcp`, api.key().key)
    log = program.log
    client = await connectClient(program.transport, "legacy")
  })
  afterAll(() => client.close())

  it("finds the tools of the server, in an earlier revision", async () => {
    expect(client.getNegotiatedProtocolVersion()).toBe("2025-11-25")
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(toolNames)
  })
  it("gets the exact response of the API, and its cost", async () => {
    const { body, charged, remaining } = await call(client, "get_commodity_prices", prices)
    const plain = await api.get(`/v1/commodities/prices?${new URLSearchParams(prices)}`)
    expect(body).toBe(plain.text)
    expect([charged, remaining]).toEqual([10, Number(plain.headers["x-credits-remaining"]) + 10])
  })
  it("gets API errors as results of tools, and protocol errors as such", async () => {
    const missing = await call(client, "get_store", { id: "platform_store_none" })
    expect([formatError(missing), missing.isError]).toEqual(["not_found: Unknown store: platform_store_none", true])
    for (const name of ["drop_tables", "drop tables\n"]) {
      await expect(client.callTool({ name, arguments: {} })).rejects.toMatchObject({ code: -32602 })
    }
  })
  it("gets an error for an argument that is too long", async () => {
    const given = { query: "x".repeat(300_000) }
    await expect(client.callTool({ name: "search_stores", arguments: given })).rejects.toThrow("A message has at most")
  })
  it("leaves no key in its log", () => {
    expect(log()).not.toContain(api.key().key.slice(9))
  })
})

describe("larder-serve mcp", () => {
  it("lists only the tools of the key's scopes, and refuses the others, in the current revision", async () => {
    const { account_id, key } = await createKey(api.home(), { scopes: threeScopes })
    const client = await connectClient(makeStdioTransport(api.server().api, key).transport, "auto")
    expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28")
    await expectOnlyToolsOfThreeScopes(client, call)
    await client.close()
    const charges = (await listEntries(api.home(), account_id)).filter(({ type }) => type === "charge")
    expect(charges).toHaveLength(Object.keys(toolsOfThreeScopes).length)
  })

  it("takes the address that the server prints", async () => {
    const client = await connectClient(makeStdioTransport(`${api.server().api}/v1`, api.key().key).transport, "auto")
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(toolNames)
    await client.close()
  })

  it("ignores lines that are not messages, logs each in one line, and charges nothing", async () => {
    const { account_id, key } = await createKey(api.home())
    const { child, end } = startProgram(key)
    const toolCall = JSON.stringify(
      makeRequest("tools/call", { name: "search_stores", arguments: { limit: 1 } }, "buy")
    )
    const lineReader = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const lines = [
      JSON.stringify(initialize),
      toolCall.replace('"limit"', '"__proto__"'),
      toolCall.replace('"limit":1', '"limit":1,"limit":2'),
      "hello",
      '{"jsonrpc":"2.0","result":7}',
      JSON.stringify(makeRequest("ping", {}, 9)).replace('"ping"', '"pi\u2028ng"'),
      JSON.stringify(makeRequest("ping", {}, "last"))
    ]
    child.stdin.write(lines.map((line) => `${line}\n`).join(""))
    const responses = new Map<unknown, { readonly error?: { readonly message: string } }>()
    while (!responses.has("last")) {
      const { value = "" } = await lineReader.next()
      const response = JSON.parse(value)
      responses.set(response.id, response)
    }
    child.stdin.end()
    const { code, stderr } = await end
    expect(responses.get("buy")?.error?.message).toBe("Parse error: Repeated member: limit") // the later of the two refusals
    expect(responses.get(9)?.error?.message).toBe("Method not found")
    expect(stderr.match(/A line on stdin was ignored: [^"]*/g)).toEqual(
      [
        "a member is named __proto__",
        "Repeated member: limit",
        "it is not JSON",
        "it is not a message of JSON-RPC 2.0"
      ].map((problem) => `A line on stdin was ignored: ${problem}`)
    )
    expect([code, stderr.trim().split("\n").length]).toEqual([0, 4])
    expect((await listEntries(api.home(), account_id)).map(({ type }) => type)).toEqual(["grant"])
  })

  it("completes fifty concurrent calls, even if its stdin is closed right after them, without warnings", async () => {
    const { account_id, key } = await createKey(api.home())
    const { child, end } = startProgram(key)
    const calls = Array.from({ length: 50 }, (_, id) =>
      makeRequest("tools/call", { name: "search_branded_foods", arguments: { limit: 20 } }, id + 1)
    )
    const messages = [initialize, ...calls, makeRequest("ping", {}, "last")]
    child.stdin.end(messages.map((message) => JSON.stringify(message)).join("\n")) // the last line has no line break
    const { code, stderr, stdout } = await end
    expect([code, stderr]).toEqual([0, ""])
    const responses = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(new Set(responses.map(({ id }) => id))).toEqual(new Set(messages.map(({ id }) => id)))
    const results = responses.flatMap(({ id, result }) => (id > 0 ? [readResult(result)] : []))
    expect(results.map(({ isError }) => isError)).toEqual(calls.map(() => false))
    for (const result of results) checkAndRecord(api.client().charges, "search_branded_foods", result)
    expect((await listEntries(api.home(), account_id)).filter(({ type }) => type === "charge")).toHaveLength(50)
  })

  it("reports a wrong key and a wrong address", async () => {
    const withWrongKey = await connectClient(
      makeStdioTransport(api.server().api, `svc_data_${"a".repeat(64)}`).transport,
      "legacy"
    )
    await expect(withWrongKey.listTools()).rejects.toThrow("Unknown or revoked API key")
    const refused = await call(withWrongKey, "search_stores")
    expect([formatError(refused), refused.code]).toEqual(["unauthorized: Unknown or revoked API key", "unknown_key"])
    await withWrongKey.close()
    const misdirected = await connectClient(
      makeStdioTransport(`${api.server().api}/docs`, api.key().key).transport,
      "legacy"
    )
    await expect(misdirected.listTools()).rejects.toThrow("Is it the address of the API?")
    await expect(misdirected.callTool({ name: "get_store", arguments: { id: "x" } })).rejects.toThrow(
      "Is it the address of the API?"
    )
    await misdirected.close()
  })

  it.each([
    [{}, "LARDER_API_KEY is not set"],
    [{ LARDER_API_KEY: "svc_data_secret" }, "LARDER_API_KEY is not an API key"]
  ])("exits with 2 without a valid key: %j", async (environment, problem) => {
    const { code, stderr, stdout } = await run("larder-serve", ["mcp"], environment)
    expect([code, stdout]).toEqual([2, ""])
    expect(stderr).toContain(problem)
    expect(stderr).not.toContain("secret")
  })

  it("exits with 2 when the port of the API is unknown", async () => {
    const environment = { LARDER_API_KEY: api.key().key, LARDER_PORT: "0" }
    const { code, stderr, stdout } = await run("larder-serve", ["mcp"], environment)
    expect([code, stdout]).toEqual([2, ""])
    expect(stderr).toContain("pass the address that it prints as --url")
  })
})
