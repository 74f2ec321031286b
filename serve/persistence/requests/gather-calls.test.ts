import { assert, describe, it } from "@effect/vitest"
import { gatherCalls } from "./gather-calls.ts"
import type { RequestRecord } from "./request-log.ts"

const call = (number: number, overrides: Partial<RequestRecord> = {}): RequestRecord => ({
  id: `req_${number}`,
  account_id: "acct_a",
  key_id: "key_a",
  endpoint: "/v1/stores/{id}",
  status: 200,
  credits: 100,
  duration_ms: 1.25,
  caller_request_id: null,
  traceparent: null,
  occurred_at: "2026-10-31T23:59:59.990Z",
  ...overrides
})

const listIds = (lines: string) => lines.split("\n").map((line) => line.split("\u001f")[0])

describe("gathered calls", () => {
  it("returns the added calls once, in order", () => {
    const ids = { caller_request_id: "order-17", traceparent: "00-4b-00-01" }
    const refused = { status: 402, credits: 0, duration_ms: 0.0004, ...ids }
    const gathering = gatherCalls(10)
    for (const added of [call(1), call(2, refused)]) gathering.add(added)
    assert.strictEqual(gathering.calls(), 2)
    const { lines } = gathering.take()
    assert.deepStrictEqual(
      lines.split("\n").map((line) => line.split("\u001f")),
      [
        ["req_1", "acct_a", "key_a", "/v1/stores/{id}", "200", "100", "1.25", "2026-10-31T23:59:59.990Z", "", ""],
        [
          "req_2",
          "acct_a",
          "key_a",
          "/v1/stores/{id}",
          "402",
          "0",
          "0",
          "2026-10-31T23:59:59.990Z",
          "order-17",
          "00-4b-00-01"
        ]
      ]
    )
    assert.deepStrictEqual(gathering.take(), { lines: "", counts: [], calls: 0 })
  })

  it("keeps at least the 4 latest calls of each account, and counts all of them", () => {
    const gathering = gatherCalls(4)
    for (let number = 0; number < 11; number++) gathering.add(call(number))
    gathering.add(call(99, { account_id: "acct_b", occurred_at: "2026-11-01T00:00:00.000Z" }))
    assert.strictEqual(gathering.calls(), 12)
    const bytes = gathering.bytes()
    const { calls, counts, lines } = gathering.take()
    assert.strictEqual(bytes, lines.length + 1)
    assert.deepStrictEqual(listIds(lines), ["req_6", "req_7", "req_8", "req_9", "req_10", "req_99"])
    const common = { key_id: "key_a", endpoint: "/v1/stores/{id}", status: 200 }
    assert.deepStrictEqual(counts, [
      { day: "2026-10-31", account_id: "acct_a", ...common, calls: 11 },
      { day: "2026-11-01", account_id: "acct_b", ...common, calls: 1 }
    ])
    assert.strictEqual(calls, 12)
  })

  it("stores 5,000 calls, more than its initial buffer", () => {
    const gathering = gatherCalls(10_000)
    for (let number = 0; number < 5_000; number++) gathering.add(call(number))
    assert.deepStrictEqual(
      listIds(gathering.take().lines),
      Array.from({ length: 5_000 }, (_, number) => `req_${number}`)
    )
  })
})
