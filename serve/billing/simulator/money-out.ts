/** Refunds and disputes, and their outcomes. */
import { Effect } from "effect"
import { aDispute, leftOf, refundFailsAfterMilliseconds } from "./payment-state.ts"
import type { SimulatedPayment, SimulatedReversal } from "./records.ts"
import { iso, newId, type Refusable, refuses, type SimulatorState, type Step } from "./state.ts"
import { testCardOf } from "./test-cards.ts"

export interface MoneyOut {
  /** Refunds the rest of the payment if `cents` is null. Returns the refund's id. */
  readonly refund: (reference: string, cents: number | null) => Refusable<string>
  readonly failRefund: (reference: string, refund: string) => Refusable<void>
  /** Disputes the rest of the payment. Returns the dispute's id. */
  readonly dispute: (reference: string) => Refusable<string>
  readonly close: (reference: string, dispute: string, outcome: "won" | "lost") => Refusable<void>
}

const withMore = (payment: SimulatedPayment, made: SimulatedReversal): SimulatedPayment => ({
  ...payment,
  reversed: [...payment.reversed, made]
})

export const moneyOutOf = ({ alter }: SimulatorState): MoneyOut => {
  const reverse = (
    reference: string,
    id: string,
    type: string,
    how: (is: SimulatedReversal, now: string) => SimulatedReversal | string
  ) =>
    alter<void>(reference, (payment, now) => {
      const found = payment.reversed.find((reversal) => reversal.id === id)
      const changed = found === undefined ? "There is no such refund or dispute." : how(found, now)
      if (typeof changed === "string") return refuses(changed)
      const reversed = payment.reversed.map((reversal) => (reversal.id === id ? changed : reversal))
      return Effect.succeed<Step<void>>({ payment: { ...payment, reversed }, tell: [{ type }], answer: undefined })
    })
  return {
    refund: (reference, cents) =>
      alter(reference, (payment, now) => {
        const left = leftOf(payment, now)
        const amount = cents ?? left
        if (left <= 0) return refuses("Nothing of this payment can be refunded.")
        if (!Number.isSafeInteger(amount) || amount < 1 || amount > left) {
          return refuses(`A refund of this payment must be from $0.01 to $${(left / 100).toFixed(2)}.`)
        }
        const fails = testCardOf(payment.plays)?.afterwards === "refunds_fail"
        const fails_at = fails ? iso(Date.parse(now) + refundFailsAfterMilliseconds) : null
        const id = newId("re")
        const made: SimulatedReversal = {
          id,
          kind: "refund",
          cents: amount,
          outcome: "refunded",
          fails_at,
          made_at: now
        }
        return Effect.succeed({
          payment: withMore(payment, made),
          tell: [
            { type: "charge.refunded" },
            ...(fails_at === null ? [] : [{ type: "refund.failed", due_at: fails_at }])
          ],
          answer: id
        })
      }),
    failRefund: (reference, id) =>
      reverse(reference, id, "refund.failed", (is, now) =>
        is.kind === "refund" && is.fails_at === null
          ? { ...is, fails_at: now }
          : "This is not a refund that can fail now."
      ),
    dispute: (reference) =>
      alter(reference, (payment, now) => {
        const left = leftOf(payment, now)
        if (left <= 0) return refuses("Nothing of this payment can be disputed.")
        const made = aDispute(newId("dp"), left, now)
        return Effect.succeed({
          payment: withMore(payment, made),
          tell: [{ type: "charge.dispute.created" }],
          answer: made.id
        })
      }),
    close: (reference, id, outcome) =>
      reverse(reference, id, "charge.dispute.closed", (is) =>
        is.kind === "dispute" && is.outcome === "open" ? { ...is, outcome } : "This dispute is already closed."
      )
  }
}
