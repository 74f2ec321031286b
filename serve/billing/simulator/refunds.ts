/** Refunds, and refunds that fail. */
import { newSimulatedId, refundFailureDelayMs, sumRemainingCents, toIso, toRetrieved } from "./payment-state.ts"
import { reject, type SimulatorEffect, type SimulatorState } from "./state.ts"
import { findTestCard } from "./test-cards.ts"

export const makeRefunds = ({ change }: SimulatorState) => ({
  /** Refunds the rest of the payment if `cents` is null. Returns the refund's id. */
  refund: (reference: string, cents: number | null): SimulatorEffect<string> =>
    change(reference, (payment, now) => {
      const remaining = sumRemainingCents(toRetrieved(payment, now))
      const amount = cents ?? remaining
      if (remaining <= 0) return reject("No part of this payment can be refunded.")
      if (!Number.isSafeInteger(amount) || amount < 1 || amount > remaining) {
        return reject(`A refund of this payment must be from $0.01 to $${(remaining / 100).toFixed(2)}.`)
      }
      const willFail = findTestCard(payment.plays)?.refunds_fail === true
      const fails_at = willFail ? toIso(Date.parse(now) + refundFailureDelayMs) : null
      const id = newSimulatedId("re")
      return {
        payment: { ...payment, refunds: [...payment.refunds, { id, cents: amount, fails_at }] },
        events: [
          { type: "charge.refunded" },
          ...(fails_at === null ? [] : [{ type: "refund.failed", due_at: fails_at }])
        ],
        result: id
      }
    }),
  failRefund: (reference: string, refund: string): SimulatorEffect<void> =>
    change(reference, (payment, now) => {
      if (!payment.refunds.some(({ fails_at, id }) => id === refund && fails_at === null)) {
        return reject("This payment has no such refund that can fail now.")
      }
      const refunds = payment.refunds.map((each) => (each.id === refund ? { ...each, fails_at: now } : each))
      return { payment: { ...payment, refunds }, events: [{ type: "refund.failed" }], result: undefined }
    })
})
