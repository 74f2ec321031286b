import { assert, describe, it } from "@effect/vitest"
import { type ChainHead, emptyHead, findBreak, hashEntry } from "./chain.ts"
import type { Entry } from "./records.ts"

/** The entry that would be written after the head. */
const makeNext = (head: ChainHead, entry: Partial<Entry> = {}): Entry => {
  const placed = {
    account_id: "acct_a",
    position: head.position + 1,
    type: "charge" as const,
    occurred_at: "2026-10-15T12:00:00.000Z",
    key_id: "key_a",
    endpoint: "/v1/stores",
    credits: -100,
    balance: head.balance - 100,
    budget_credits: 2_000,
    request_id: "req_1",
    note: null,
    ...entry
  }
  return { sequence: 7, ...placed, hash: hashEntry(head.hash, placed) }
}

const grant = makeNext(emptyHead, {
  type: "grant",
  key_id: null,
  endpoint: null,
  credits: 5_000,
  balance: 5_000,
  budget_credits: null,
  request_id: null,
  note: "starting balance"
})
const charge = makeNext(grant)

describe("the chain of an account", () => {
  it("accepts a first entry, and each entry that follows the last one", () => {
    assert.isUndefined(findBreak(emptyHead, grant))
    assert.isUndefined(findBreak(grant, charge))
    assert.isUndefined(findBreak(charge, makeNext(charge)))
  })

  it("hashes the previous hash and eleven fields, one per line, with an empty line for null", () => {
    // computed with sha256sum: stored ledgers are verified with these strings, so they must never change
    assert.strictEqual(grant.hash, "c4c57fb6afeb45994b918845bbad5d452b9af48f16427de212f4e8dd82674818")
    assert.strictEqual(charge.hash, "e9458b63b248a5d39b9239d93bc49ea4569a7d6bcd70346b3882362a25cfa578")
  })

  it("ignores the sequence number of the store", () => {
    assert.isUndefined(findBreak(grant, { ...charge, sequence: 1_000 }))
  })
})

describe("a break in the chain", () => {
  it("reports the first entry after missing ones", () => {
    assert.strictEqual(
      findBreak(grant, makeNext(charge)),
      "entry 3 of account acct_a follows its entry 1, so entries are missing"
    )
    assert.strictEqual(
      findBreak(emptyHead, charge),
      "entry 2 of account acct_a follows its entry 0, so entries are missing"
    )
  })

  it("reports a repeated entry", () => {
    assert.match(findBreak(charge, charge) ?? "", /^entry 2 of account acct_a follows its entry 2/)
  })

  it("reports an entry with a balance that is not the sum of the entries", () => {
    assert.strictEqual(
      findBreak(grant, makeNext(grant, { balance: 4_901 })),
      "entry 2 of account acct_a has a balance of 4901 credits, but the entries up to it add up to 4900"
    )
    assert.match(findBreak(grant, { ...charge, credits: -10 }) ?? "", /has a balance of 4900 credits/)
  })

  const problem = "entry 2 of account acct_a is not what was written: its hash does not match"

  it.each<[string, Partial<Entry>]>([
    ["type", { type: "refund" }],
    ["time", { occurred_at: "2026-10-15T12:00:00.001Z" }],
    ["key", { key_id: "key_b" }],
    ["key (to null)", { key_id: null }],
    ["endpoint", { endpoint: "/v1/products" }],
    ["credits and balance", { credits: -10, balance: 4_990 }],
    ["budget", { budget_credits: 2_001 }],
    ["request id", { request_id: "req_2" }],
    ["note", { note: "changed" }],
    ["hash", { hash: grant.hash }]
  ])("reports an entry after a change of its %s", (_, change) => {
    assert.strictEqual(findBreak(grant, { ...charge, ...change }), problem)
  })

  it("reports an entry that was written after a different entry, or for another account", () => {
    const other = { ...grant, hash: hashEntry("", { ...grant, note: "another" }) }
    assert.strictEqual(findBreak(other, charge), problem)
    const moved = { ...charge, account_id: "acct_b" }
    assert.strictEqual(findBreak(grant, moved), problem.replace("acct_a", "acct_b"))
  })
})
