/** Responses of `/mcp` beyond the protocol's messages: headers, encodings, lists of messages and the requested host. */
import type { CallToolResult } from "@modelcontextprotocol/client"
import { describe, expect, it } from "vitest"
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

describe("a list of messages", () => {
  const call = (id: number) => makeRequest("tools/call", { name: "search_stores", arguments: { limit: 1 } }, id)

  it.each([{}, ...["2025-03-26", ...revisions].map((version) => ({ "mcp-protocol-version": version }))])(
    "is refused with 400 at no cost with the headers %j",
    async (headers) => {
      const { account_id, key } = await createKey(api.home())
      const { message, status } = await post(url(), [call(1), call(2)], { key, headers })
      expect([status, message.error]).toEqual([
        400,
        { code: -32_600, message: "Invalid request: send one message per request" }
      ])
      expect((await listEntries(api.home(), account_id)).map(({ type }) => type)).toEqual(["grant"])
    }
  )
})
