/** Stripe as the card processor. Loaded only where payments are by Stripe. */
export { apiVersion, CheckoutSession, Dispute, PaymentIntent, PaymentMethod, Refund } from "./api.ts"
export { type ConsoleAddress, checkStripe, type Finding } from "./check.ts"
export { type StripeSettings, stripeSettings } from "./settings.ts"
export { stripeProcessor } from "./stripe-processor.ts"
