/** Payments by card: top-ups, recharges, refunds and disputes, by Stripe or simulated. */
export {
  cheapestPayment,
  creditsOfCents,
  dearestPayment,
  highestTrigger,
  isPayable,
  isTrigger,
  lowestTrigger,
  presets
} from "./amounts.ts"
export {
  Billing,
  type BillingSettings,
  type EventCounts,
  type Payment,
  type Receipt,
  type RechargeChoice,
  type Reversal,
  type SavedCard,
  type ShownCard,
  type TopUp
} from "./billing.ts"
export { makeBook } from "./book.ts"
export { longestInDoubt } from "./in-doubt.ts"
export { openBilling } from "./open-billing.ts"
export { nothingIsTaken, openPayments } from "./open-processor.ts"
export { findPayment, giveUp, queryOf } from "./payment-rows.ts"
export {
  type CardProcessor,
  ForgedEvent,
  type PaymentQuery,
  ProcessorUnavailable,
  type RetrievedPayment
} from "./processor.ts"
export { endRecharge } from "./recharge-rows.ts"
export { cardText, whyCardsAreSaved } from "./saved-card.ts"
export type { Paying } from "./simulator/checkout.ts"
export { eventBody, newEventId, sign, signatureHeader } from "./simulator/events.ts"
export { leftIn, leftOf, referenceOf, type Typed } from "./simulator/payment-state.ts"
export { Faults, noFaults, type SimulatedEvent, type SimulatedPayment } from "./simulator/records.ts"
export { type SeenPayment, Simulator } from "./simulator/simulator.ts"
export { cards, type Refusable, type SimulatorRefuses } from "./simulator/state.ts"
export { type TestCard, type TestCardName, testCardOf, testCards } from "./simulator/test-cards.ts"
