/** Payments by card: top-ups, recharges, refunds and disputes, through Stripe or the simulator. */
export { type AccountAlert, listAccountAlerts } from "./alerts/account-alerts.ts"
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
export { describeUnpaidCredits, openProcessor } from "./open-processor.ts"
export type { Reversal } from "./payment-rows.ts"
export type { BillingSettings, Payment, Receipt } from "./payments.ts"
export { EventRejected } from "./processor.ts"
export type { EventCounts } from "./processor-events.ts"
export { findLimit, type RechargeLimit } from "./recharges/limits.ts"
export type { RechargeChoice } from "./recharges/rows.ts"
export { formatCard, type SavedCard, type ShownCard, savedCardExplanation } from "./saved-card.ts"
export type { CheckoutResult } from "./simulator/checkout.ts"
export { type EnteredCard, sumRemainingCents, toReference } from "./simulator/payment-state.ts"
export { type Faults, noFaults, type SimulatedEvent, type SimulatedPayment } from "./simulator/records.ts"
export { type PaymentView, Simulator } from "./simulator/simulator.ts"
export type { SimulatorEffect } from "./simulator/state.ts"
export { testCards } from "./simulator/test-cards.ts"
