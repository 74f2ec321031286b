/** Responses of `/mcp` beyond the protocol's messages: headers, encodings, batches and the requested host. */
import type { CallToolResult } from "@modelcontextprotocol/client"
import { describe, expect, it } from "vitest"
import { bearer } from "../support/api/client.ts"
import { createKey, listEntries } from "../support/api/operator.ts"
import { startOwnServer } from "../support/api/server.ts"
import { checkAndRecord, makeRequest, post, readResult } from "./assistant.ts"

const api = startOwnServer({ environment: { LARDER_DATA_HOST: "localhost" } })
const url = () => api.server().api

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {}
}
const newest = "2026-07-28"
const revisions = ["2025-11-25", newest] as const

/** Makes plain requests of a revision. The newest one states its version in every request and in the headers. */
const makePost =
  (version: (typeof revisions)[number], at = url) =>
  async (method: string, params: Readonly<Record<string, unknown>> = {}, headers = {}) => {
    const name = typeof params.name === "string" ? params.name : undefined
    const isNewest = version === newest
    const reply = await post(at(), makeRequest(method, isNewest ? { ...params, _meta } : params), {
      key: api.key().key,
      headers: {
        "mcp-protocol-version": version,
        ...(isNewest && { "mcp-method": method, ...(name !== undefined && { "mcp-name": name }) }),
        ...headers
      }
    })
    const { result } = reply.message
    if (name !== undefined && result !== undefined) checkAndRecord(api.client().charges, name, readResult(result))
    return reply
  }

const readHeaders = (headers: Headers) =>
  ["x-request-id", "x-data-version", "x-data-origin", "x-credits-charged", "x-credits-remaining"].map((name) =>
    headers.get(name)
  )

describe.each(revisions)("a response in revision %s", (revision) => {
  const send = makePost(revision)

  it("has the headers of the API for a call", async () => {
    const { headers, message } = await send("tools/call", { name: "search_stores", arguments: { limit: 1 } })
    const { charged, origin, remaining, requestId, version } = readResult(message.result as CallToolResult)
    expect(readHeaders(headers)).toEqual([requestId, version, origin, String(charged), String(remaining)])
    expect([charged, version]).toEqual([100, expect.stringMatching(/^larder-/)])
    expect(headers.get("content-type")).toBe("application/json")
    expect(headers.get("cache-control")).toBe("private, no-store")
  })
  it("states that a failed call was free", async () => {
    const { headers, message } = await send("tools/call", { name: "get_store", arguments: { id: "none" } })
    const { remaining, requestId, version } = readResult(message.result as CallToolResult)
    expect(readHeaders(headers)).toEqual([requestId, version, "sample", "0", String(remaining)])
  })
  it("states that any other request was free, and the remaining credits", async () => {
    const remaining = (await api.get("/v1/stores?limit=0")).headers["x-credits-remaining"]
    for (const method of ["tools/list", "no/such"]) {
      const { headers } = await send(method)
      expect(readHeaders(headers)).toEqual([
        expect.stringMatching(/^req_/),
        expect.stringMatching(/^larder-/),
        "sample",
        "0",
        String(remaining)
      ])
      expect(headers.get("cache-control")).toBe("private, no-store")
    }
  })
  it.each(["gzip", "br", "zstd"])("is compressed with %s when the caller accepts it", async (coding) => {
    const { headers, message } = await send("tools/list", {}, { "accept-encoding": coding })
    expect([headers.get("content-encoding"), headers.get("vary")]).toEqual([coding, "Origin, Accept-Encoding"])
    expect(message.result?.tools).toHaveLength(11)
  })
  it("has the format for the requested host, like the API", async () => {
    const params = { name: "search_commodities", arguments: {} }
    const onDataHost = makePost(revision, () => url().replace("127.0.0.1", "localhost"))
    const paged = (await onDataHost("tools/call", params)).message.result?.structuredContent
    const grouped = (await send("tools/call", params)).message.result?.structuredContent
    expect(paged).toHaveProperty("next_cursor")
    expect(grouped).not.toHaveProperty("next_cursor")
  })
})

describe("a batch", () => {
  const call = (id: unknown) =>
    makeRequest("tools/call", { name: "search_stores", arguments: { limit: 1 } }, id as number)
  const send = async (key: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${url()}/mcp`, {
      method: "POST",
      headers: {
        ...bearer(key),
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers
      },
      body: JSON.stringify(body)
    })
    return { status: response.status, headers: response.headers, json: await response.json() }
  }

  it.each([{}, { "mcp-protocol-version": "2025-03-26" }])(
    "is handled and charged call by call with the headers %j",
    async (headers) => {
      const { account_id, key } = await createKey(api.home())
      const reply = await send(key, [call(1), makeRequest("ping", {}, "1"), call(2)], headers)
      const results = reply.json as ReadonlyArray<{ readonly id: unknown; readonly result: CallToolResult }>
      expect(results.map(({ id }) => id)).toEqual([1, "1", 2])
      for (const { result } of results.filter(({ id }) => id !== "1"))
        checkAndRecord(api.client().charges, "search_stores", readResult(result))
      expect(reply.headers.get("x-credits-charged")).toBe("200")
      expect(reply.headers.get("x-credits-remaining")).toBe("4800")
      expect((await listEntries(api.home(), account_id)).map(({ type }) => type)).toEqual(["grant", "charge", "charge"])
    }
  )
  it.each([
    ["two calls have the same id", [call(1), call(2), call(1)], {}],
    ["the revision has none", [call(1)], { "mcp-protocol-version": "2025-06-18" }],
    ["the revision has none", [call(1)], { "mcp-protocol-version": "2025-11-25" }],
    ["the revision has none", [call(1)], { "mcp-protocol-version": "2026-07-28" }],
    ["it has more than 100 messages", Array.from({ length: 101 }, (_, id) => call(id)), {}]
  ])("is rejected with 400 at no cost when %s: $2", async (_why, body, headers) => {
    const { account_id, key } = await createKey(api.home())
    const { json, status } = await send(key, body, headers)
    expect([status, json]).toMatchObject([400, { error: { code: -32_600 }, id: null }])
    expect((await listEntries(api.home(), account_id)).map(({ type }) => type)).toEqual(["grant"])
  })

  it("refuses calls beyond 8 MiB of data, free of charge", async () => {
    const { account_id, key } = await createKey(api.home())
    const series = Array.from({ length: 100 }, () => "butter-exch-spot-close-daily").join(",")
    const large = (id: number) => makeRequest("tools/call", { name: "get_commodity_prices", arguments: { series } }, id)
    const reply = await send(
      key,
      Array.from({ length: 48 }, (_, id) => large(id))
    )
    const results = (reply.json as ReadonlyArray<{ readonly result: CallToolResult }>).map(({ result }) =>
      readResult(result)
    )
    const successes = results.filter(({ isError }) => !isError)
    expect(results).toHaveLength(48)
    expect(successes.map(({ charged }) => charged)).toEqual([10]) // 5.2 MB each
    for (const { body, charged, code } of results.filter(({ isError }) => isError))
      expect([charged, code, body]).toEqual([0, "answers_too_large", expect.stringContaining("at most 8 MiB in total")])
    expect(reply.headers.get("x-credits-charged")).toBe("10")
    expect((await listEntries(api.home(), account_id)).map(({ type }) => type)).toEqual(["grant", "charge"])
    for (const result of successes) checkAndRecord(api.client().charges, "get_commodity_prices", result)
  })
})
