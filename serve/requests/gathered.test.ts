import { assert, describe, it } from "@effect/vitest"
import { gatherer } from "./gathered.ts"
import type { NotedRequest } from "./request-log.ts"

const call = (number: number, stated: Partial<NotedRequest> = {}): NotedRequest => ({
  id: `req_${number}`,
  account_id: "acct_a",
  key_id: "key_a",
  endpoint: "/v1/stores/{id}",
  status: 200,
  credits: 100,
  duration_ms: 1.25,
  occurred_at: "2026-10-31T23:59:59.990Z",
  ...stated
})

describe("gathered calls", () => {
  it("come back as they were noted, and only once", () => {
    const gathering = gatherer(10)
    const second = call(2, { status: 402, credits: 0, duration_ms: 0.0004 })
    for (const one of [call(1), second]) gathering.add(one)
    assert.strictEqual(gathering.calls(), 2)
    assert.deepStrictEqual(gathering.take().latest, [call(1), { ...second, duration_ms: 0 }])
    assert.deepStrictEqual(gathering.take(), { latest: [], counts: [], calls: 0 })
  })

  it("are the latest of each account, and all of them are counted", () => {
    const gathering = gatherer(2)
    for (let number = 0; number < 5; number++) gathering.add(call(number))
    gathering.add(call(9, { account_id: "acct_b", occurred_at: "2026-11-01T00:00:00.000Z" }))
    const { calls, counts, latest } = gathering.take()
    assert.deepStrictEqual(
      latest.map(({ id }) => id),
      ["req_3", "req_4", "req_9"]
    )
    const common = { key_id: "key_a", endpoint: "/v1/stores/{id}", status: 200 }
    assert.deepStrictEqual(counts, [
      { day: "2026-10-31", account_id: "acct_a", ...common, calls: 5 },
      { day: "2026-11-01", account_id: "acct_b", ...common, calls: 1 }
    ])
    assert.strictEqual(calls, 6)
  })

  it("may be more than there was room for at first", () => {
    const gathering = gatherer(10_000)
    for (let number = 0; number < 5_000; number++) gathering.add(call(number))
    const { latest } = gathering.take()
    assert.strictEqual(latest.length, 5_000)
    assert.deepStrictEqual(latest.at(-1), call(4_999))
  })
})
