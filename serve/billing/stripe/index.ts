/** Stripe as the card processor. Loaded only if Stripe is used. */
export { apiVersion, CheckoutSession, Dispute, PaymentIntent, PaymentMethod, Refund } from "./api.ts"
export { checkStripe, type PaymentsCheck } from "./check.ts"
export { stripeSettings } from "./settings.ts"
export { makeStripeProcessor } from "./stripe-processor.ts"
