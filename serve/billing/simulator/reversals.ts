/** Refunds and disputes, and their outcomes. */
import {
  newDispute,
  newSimulatedId,
  refundFailureDelayMs,
  sumRemainingCents,
  toIso,
  toRetrieved
} from "./payment-state.ts"
import type { SimulatedPayment, SimulatedReversal } from "./records.ts"
import { reject, type SimulatorEffect, type SimulatorState } from "./state.ts"
import { findTestCard } from "./test-cards.ts"

const addReversal = (payment: SimulatedPayment, reversal: SimulatedReversal) => ({
  payment: { ...payment, reversed: [...payment.reversed, reversal] },
  result: reversal.id
})

export const makeReversals = ({ change }: SimulatorState) => {
  /** `edit` returns the changed reversal, or why it cannot change. */
  const changeReversal = (
    reference: string,
    id: string,
    type: string,
    edit: (reversal: SimulatedReversal, now: string) => SimulatedReversal | string
  ): SimulatorEffect<void> =>
    change(reference, (payment, now) => {
      const before = payment.reversed.find((reversal) => reversal.id === id)
      const after = before === undefined ? "There is no such refund or dispute." : edit(before, now)
      if (typeof after === "string") return reject(after)
      const reversed = payment.reversed.map((reversal) => (reversal.id === id ? after : reversal))
      return { payment: { ...payment, reversed }, events: [{ type }], result: undefined }
    })
  return {
    /** Refunds the rest of the payment if `cents` is null. Returns the refund's id. */
    refund: (reference: string, cents: number | null): SimulatorEffect<string> =>
      change(reference, (payment, now) => {
        const remaining = sumRemainingCents(toRetrieved(payment, now))
        const amount = cents ?? remaining
        if (remaining <= 0) return reject("No part of this payment can be refunded.")
        if (!Number.isSafeInteger(amount) || amount < 1 || amount > remaining) {
          return reject(`A refund of this payment must be from $0.01 to $${(remaining / 100).toFixed(2)}.`)
        }
        const willFail = findTestCard(payment.plays)?.after_payment === "refunds_fail"
        const fails_at = willFail ? toIso(Date.parse(now) + refundFailureDelayMs) : null
        const id = newSimulatedId("re")
        const refund = { id, kind: "refund", cents: amount, outcome: "refunded", fails_at, made_at: now } as const
        return {
          ...addReversal(payment, refund),
          events: [
            { type: "charge.refunded" },
            ...(fails_at === null ? [] : [{ type: "refund.failed", due_at: fails_at }])
          ]
        }
      }),
    failRefund: (reference: string, refund: string) =>
      changeReversal(reference, refund, "refund.failed", (reversal, now) =>
        reversal.kind === "refund" && reversal.fails_at === null
          ? { ...reversal, fails_at: now }
          : "This is not a refund that can fail now."
      ),
    /** Disputes the rest of the payment. Returns the dispute's id. */
    dispute: (reference: string): SimulatorEffect<string> =>
      change(reference, (payment, now) => {
        const remaining = sumRemainingCents(toRetrieved(payment, now))
        if (remaining <= 0) return reject("No part of this payment can be disputed.")
        return { ...addReversal(payment, newDispute(remaining, now)), events: [{ type: "charge.dispute.created" }] }
      }),
    close: (reference: string, dispute: string, outcome: "won" | "lost") =>
      changeReversal(reference, dispute, "charge.dispute.closed", (reversal) =>
        reversal.kind === "dispute" && reversal.outcome === "open"
          ? { ...reversal, outcome }
          : "This dispute is already closed."
      )
  }
}
