/** A thousand calls of one key at once, with credits for five hundred. The plain ones exceed the key's quota for bytes, so most wait. */
import { describe, expect, it } from "vitest"
import { createKey } from "../support/api/operator.ts"
import { sendTogether, type Together } from "../support/api/raw.ts"
import { useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
const series = "butter-exch-spot-close-daily"

/** Sends the calls with a new key: its account has 5,000 credits, and a call costs 10. Records the stated charges. */
const send = async ({ headers, ...together }: Together) => {
  const { key } = await createKey(api.home())
  const own = ["Host: localhost", `Authorization: Bearer ${key}`]
  const replies = await sendTogether(api.server().api, { ...together, headers: [...own, ...headers] })
  for (const { headers } of replies) {
    const credits = Number(headers["x-credits-charged"])
    const request_id = String(headers["x-request-id"])
    if (credits > 0) api.client().charges.push({ request_id, credits, endpoint: "/v1/commodities/prices" })
  }
  return replies
}

const count = (values: ReadonlyArray<unknown>) =>
  Object.fromEntries([...Map.groupBy(values, String)].map(([value, equal]) => [value, equal.length]))

describe("of a thousand calls in flight with credits for 500", () => {
  // 20 kB each
  it.each([
    { connections: 1000, pipelined: 1 },
    { connections: 20, pipelined: 50 }
  ])("exactly 500 succeed and 500 get 402, over $connections connections", async (load) => {
    const replies = await send({
      ...load,
      requestLine: `GET /v1/commodities/prices?series=${series}&from=2024-09-01 HTTP/1.1`,
      headers: []
    })
    expect(count(replies.map(({ status }) => status))).toEqual({ 200: 500, 402: 500 })
  })

  // the results are small, so that few calls wait: the requests alone take seconds on a busy machine
  it("exactly 500 succeed and 500 have an insufficient balance, as calls of a tool", async () => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "get_commodity_prices", arguments: { series, from: "2026-09-01" } }
    })
    const replies = await send({
      connections: 1000,
      requestLine: "POST /mcp HTTP/1.1",
      headers: ["Content-Type: application/json", "Accept: application/json", `Content-Length: ${body.length}`],
      body
    })
    expect(count(replies.map(({ text }) => /"larder\/(?:error_code|credits_charged)":[^,}]*/.exec(text)?.[0]))).toEqual(
      {
        '"larder/credits_charged":10': 500,
        '"larder/error_code":"insufficient_balance"': 500
      }
    )
  })
})
