import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Entry } from "../chain/records.ts"
import { type Adjustment, adjustAccount } from "./adjustments.ts"

const now = Date.parse("2026-11-29T12:00:00.000Z")
const account = { id: "acct_a", balance_credits: 5_000 }

const aCredit = (changes: Partial<Adjustment> = {}): Adjustment => ({
  account_id: "acct_a",
  credits: 100_000,
  note: "wire 4711",
  reference: null,
  again: false,
  ...changes
})

const anEntry = (changes: Partial<Entry> = {}): Entry => ({
  sequence: 2,
  account_id: "acct_a",
  position: 2,
  type: "adjustment",
  occurred_at: "2026-11-29T11:00:00.000Z",
  key_id: null,
  endpoint: null,
  credits: 100_000,
  balance: 105_000,
  budget_credits: null,
  request_id: null,
  note: "wire 4711",
  hash: "",
  ...changes
})

/** The credits and the id of the new entry, `nothing` if it is booked already, or the message of the refusal. */
const decide = (adjustment: Adjustment, earlier: { booked?: Entry; recent?: ReadonlyArray<Entry> } = {}) =>
  Result.match(adjustAccount(account, adjustment, { booked: undefined, recent: [], ...earlier }, now), {
    onSuccess: ({ entries: [entry] }) => (entry === undefined ? "nothing" : [entry.credits, entry.request_id]),
    onFailure: ({ message }) => message
  })

describe("a movement by hand without a reference", () => {
  it("is refused if the same amount was booked with the same note within 24 hours, unless it is meant again", () => {
    const recent = [anEntry()]
    const message = decide(aCredit(), { recent })
    assert.match(
      String(message),
      /^A credit of 100 USD to account acct_a .+ was booked at 2026-11-29T11:00:00\.000Z\. Nothing was booked\. .+--again.+--reference/
    )
    assert.deepStrictEqual(decide(aCredit({ again: true }), { recent }), [100_000, null])
  })

  it.each([
    ["another amount", { credits: 100_001 }],
    ["the opposite sign", { credits: -100_000 }],
    ["another note", { note: "wire 4712" }],
    ["an entry of exactly 24 hours ago", { occurred_at: "2026-11-28T12:00:00.000Z" }]
  ])("is booked after %s", (_, changes) => {
    assert.deepStrictEqual(decide(aCredit(), { recent: [anEntry(changes)] }), [100_000, null])
  })
})

describe("a movement by hand with a reference", () => {
  it("is booked once, whatever was booked with the same amount and note", () => {
    const credit = aCredit({ reference: "wire 4711" })
    assert.deepStrictEqual(decide(credit, { recent: [anEntry()] }), [100_000, "credit:wire 4711"])
    assert.strictEqual(decide(credit, { booked: anEntry() }), "nothing")
  })

  it("is refused if the reference has booked another amount or another account, and names that", () => {
    const credit = aCredit({ reference: "R" })
    assert.strictEqual(
      decide(credit, { booked: anEntry({ credits: 50 }) }),
      'Reference "R" was used at 2026-11-29T11:00:00.000Z for a credit of 0.05 USD to account acct_a, and cannot book anything else. Nothing was booked.'
    )
    assert.include(decide(credit, { booked: anEntry({ account_id: "acct_b" }) }), "100 USD to account acct_b")
  })

  it("has an id of its own for a debit, which may be below the balance", () => {
    assert.deepStrictEqual(decide(aCredit({ credits: -100_000, reference: "R" })), [-100_000, "debit:R"])
  })
})
