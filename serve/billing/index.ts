/** Payments by card: top-ups, recharges, refunds and disputes, through Stripe or the simulator. */
export {
  amountPresets,
  ceilingFactors,
  centsToCredits,
  isValidCeiling,
  isValidPayment,
  isValidTrigger,
  maxCeiling,
  maxPayment,
  maxTrigger,
  minPayment,
  minTrigger,
  suggestCeilings
} from "./amounts.ts"
export { Billing, openBilling } from "./billing.ts"
export { makeBook } from "./book.ts"
export { describeUnpaidCredits, openProcessor } from "./open-processor.ts"
export { expireOpenPayment, findPayment, toPaymentQuery } from "./payment-rows.ts"
export type {
  BillingSettings,
  Payment,
  Receipt,
  RechargeChoice,
  Reversal,
  SavedCard,
  ShownCard,
  TopUp
} from "./payments.ts"
export {
  type CardProcessor,
  EventRejected,
  type PaymentQuery,
  ProcessorUnavailable,
  type RetrievedPayment
} from "./processor.ts"
export type { EventCounts } from "./processor-events.ts"
export { findLimit, pauseMs, type RechargeLimit } from "./recharge-limits.ts"
export { endRecharge } from "./recharge-rows.ts"
export { maxRequestMs } from "./reconcile.ts"
export { formatCard, savedCardExplanation } from "./saved-card.ts"
export type { CheckoutResult } from "./simulator/checkout.ts"
export { formatEvent, newEventId, signatureHeader, signEvent } from "./simulator/events.ts"
export { type EnteredCard, sumRemainingCents, toReference } from "./simulator/payment-state.ts"
export { Faults, noFaults, type SimulatedEvent, type SimulatedPayment } from "./simulator/records.ts"
export { type PaymentView, Simulator } from "./simulator/simulator.ts"
export { cardRecords, type SimulatorEffect, type SimulatorRefused } from "./simulator/state.ts"
export { findTestCard, type TestCard, type TestCardName, testCards } from "./simulator/test-cards.ts"
