/** Stripe as the card processor. Loaded only if Stripe is used. */
export { apiVersion } from "./api.ts"
export { checkStripe, type PaymentsCheck } from "./check.ts"
export { stripeSettings } from "./settings.ts"
