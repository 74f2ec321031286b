import { assert, describe, it } from "@effect/vitest"
import type { Dispute, PaymentIntent, Refund } from "./api.ts"
import { toReversals } from "./payment-state.ts"

/** 100 dollars. */
const paid: PaymentIntent = {
  id: "pi_1",
  object: "payment_intent",
  status: "succeeded",
  cancellation_reason: null,
  created: 1_700_000_000,
  amount_received: 10_000,
  currency: "usd",
  metadata: {},
  customer: null,
  payment_method: null,
  last_payment_error: null
}
const aRefund = (amount: number, status = "succeeded"): typeof Refund.Type => ({ id: "re_1", amount, status })
const aDispute = (more: Partial<typeof Dispute.Type>): typeof Dispute.Type => ({
  id: "du_1",
  amount: 10_000,
  currency: "usd",
  status: "needs_response",
  ...more
})
const dollarTransactions = (...amounts: ReadonlyArray<number>) => amounts.map((amount) => ({ amount, currency: "usd" }))
const euroTransactions = (...amounts: ReadonlyArray<number>) => amounts.map((amount) => ({ amount, currency: "eur" }))

const summariseDispute = (dispute: Partial<typeof Dispute.Type>, refunds: ReadonlyArray<typeof Refund.Type> = []) =>
  toReversals(paid, refunds, [aDispute(dispute)])
    .filter(({ kind }) => kind === "dispute")
    .map(({ cents, is_lost, state }) => `${cents} ${is_lost ? "lost" : state}`)

describe("the money that a dispute takes", () => {
  it.each<readonly [string, Partial<typeof Dispute.Type>, ReadonlyArray<string>]>([
    ["no money yet", { balance_transactions: [] }, []],
    ["a part of it", { balance_transactions: dollarTransactions(-3700) }, ["3700 taken"]],
    [
      "a part in dollars, for a card in euros",
      { amount: 3400, currency: "eur", balance_transactions: dollarTransactions(-3700) },
      ["3700 taken"]
    ],
    [
      "a part in euros, for a card in dollars",
      { amount: 3700, balance_transactions: euroTransactions(-3400) },
      ["3700 taken"]
    ],
    [
      "all of it, entirely in euros",
      { amount: 3700, currency: "eur", balance_transactions: euroTransactions(-3700) },
      ["10000 taken"]
    ],
    ["none, because the bank blocked the dispute", { status: "prevented", balance_transactions: [] }, []],
    [
      "all of it, because the dispute was settled immediately",
      { status: "prevented", balance_transactions: dollarTransactions(-10_000) },
      ["10000 lost"]
    ],
    [
      "all of it, and it was returned",
      { status: "won", balance_transactions: dollarTransactions(-10_000, 10_000) },
      ["10000 returned"]
    ],
    [
      "all of it, and it was returned at a different rate",
      { status: "won", balance_transactions: euroTransactions(-9000, 8900) },
      ["10000 returned"]
    ],
    [
      "all of it, and it was returned although the status is lost",
      { status: "lost", balance_transactions: dollarTransactions(-10_000, 10_000) },
      ["10000 returned"]
    ],
    [
      "more than was paid, counted as all of it",
      { balance_transactions: dollarTransactions(-10_100) },
      ["10000 taken"]
    ],
    ["the disputed amount, if there are no transactions", { status: "lost", amount: 3700 }, ["3700 lost"]],
    ["none, for an inquiry without transactions", { status: "warning_closed" }, []]
  ])("counts the money that Stripe moved: %s", (_, dispute, expected) => {
    assert.deepStrictEqual(summariseDispute(dispute), expected)
  })

  it("counts no more than is left after refunds, and ignores refunds that failed", () => {
    const whole = { status: "lost", balance_transactions: dollarTransactions(-10_000, 6000) }
    assert.deepStrictEqual(summariseDispute(whole, [aRefund(6000)]), ["4000 lost"])
    assert.deepStrictEqual(summariseDispute(whole, [aRefund(6000, "failed")]), ["10000 lost"])
    assert.deepStrictEqual(summariseDispute({ currency: "eur" }, [aRefund(6000)]), ["4000 taken"])
  })
})
