/** Calls whose client disconnects or cancels while they are read: over plain HTTP, and by the official client. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { bearer } from "../support/api/client.ts"
import { connectClient, makeHttpTransport } from "./assistant.ts"
import { startWaitingServer } from "./waiting-server.ts"

type WaitingServer = Effect.Success<typeof startWaitingServer>
const withServer = (test: (server: WaitingServer) => Effect.Effect<void>) =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(startWaitingServer, test)))

const post = (
  { key, url }: WaitingServer,
  message: object,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal
) =>
  fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      ...bearer(key),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    ...(signal !== undefined && { signal })
  })

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {}
}
const params = { name: "get_commodity_prices", arguments: { series: "a" } }
const current = {
  message: { id: 1, method: "tools/call", params: { ...params, _meta: meta } },
  headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": params.name }
}
const earlier = { message: { id: 1, method: "tools/call", params }, headers: { "mcp-protocol-version": "2025-11-25" } }

const expectNoCharge = Effect.fnUntraced(function* ({ responded, charges, statuses }: WaitingServer) {
  yield* responded
  expect([statuses, yield* charges]).toEqual([[499], 0])
})

describe("a call that is cancelled while it is read", () => {
  it.each([
    ["the current revision", current],
    ["an earlier one", earlier]
  ] as const)("costs nothing when the connection is closed, in %s", (_what, { headers, message }) =>
    withServer((server) =>
      Effect.gen(function* () {
        const client = new AbortController()
        const reply = post(server, message, headers, client.signal)
          .then((response) => response.text())
          .catch(() => "disconnected")
        yield* server.reading
        client.abort()
        expect(yield* Effect.promise(() => reply)).toBe("disconnected")
        yield* expectNoCharge(server)
      })
    )
  )

  it("continues and is charged when a notification in another request names it", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const reply = post(server, earlier.message).then((response) => response.text())
        yield* server.reading
        const notified = yield* Effect.promise(() =>
          post(server, { method: "notifications/cancelled", params: { requestId: 1 } })
        )
        expect([notified.status, notified.headers.get("x-credits-charged")]).toEqual([202, "0"])
        yield* server.finishRead
        expect(yield* Effect.promise(() => reply)).toContain("Charged 10 credits")
        expect([server.statuses, yield* server.charges]).toEqual([[200], 1])
      })
    ))

  it("sends no response status before the charge, in an earlier protocol revision", () =>
    withServer((server) =>
      Effect.gen(function* () {
        let hasResponse = false
        const reply = post(server, earlier.message).then((response) => {
          hasResponse = true
          return response.text()
        })
        yield* server.reading
        yield* Effect.promise(() => post(server, { id: 2, method: "ping" })) // a round trip, in which response headers would have arrived
        expect(hasResponse).toBe(false)
        yield* server.finishRead
        expect(yield* Effect.promise(() => reply)).toContain("Charged 10 credits")
      })
    ))

  it("costs nothing when the official client cancels it", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const client = yield* Effect.promise(() => connectClient(makeHttpTransport(server.url, server.key), "auto"))
        const cancelling = new AbortController()
        const result = client.callTool(params, { signal: cancelling.signal }).then(
          () => "a result",
          () => "cancelled"
        )
        yield* server.reading
        cancelling.abort()
        expect(yield* Effect.promise(() => result)).toBe("cancelled")
        yield* expectNoCharge(server)
        yield* Effect.promise(() => client.close())
      })
    ))
})
