/**
 * Requests to Stripe for a payment. Only cards, because a saved payment method must be chargeable later, and only
 * dollars, because credits are counted from cents.
 */
import type Stripe from "stripe"
import type { CardProcessor } from "../processor.ts"

type ToCheckout = Parameters<CardProcessor["checkout"]>[0]
type ToCharge = Parameters<CardProcessor["charge"]>[0]
type Metadata = Readonly<Record<string, string>>

const name = "Larder credits"

export type Page = Pick<ToCheckout, "cents" | "customer" | "success_url" | "cancel_url"> & {
  /** If null, the page asks for it. */
  readonly email: string | null
}

/** Without a customer, Stripe creates one at payment. */
export const sessionOf = (page: Page, reference: string, metadata: Metadata): Stripe.Checkout.SessionCreateParams => ({
  mode: "payment",
  line_items: [{ quantity: 1, price_data: { currency: "usd", unit_amount: page.cents, product_data: { name } } }],
  allowed_payment_method_types: ["card"],
  wallet_options: { link: { display: "never" } },
  adaptive_pricing: { enabled: false },
  ...(page.customer === null ? { customer_creation: "always" } : { customer: page.customer }),
  ...(page.customer === null && page.email !== null && { customer_email: page.email }),
  client_reference_id: reference,
  metadata,
  payment_intent_data: { setup_future_usage: "off_session", description: name, metadata },
  success_url: page.success_url,
  cancel_url: page.cancel_url
})

/**
 * `allowed_payment_method_types` excludes `automatic_payment_methods`. Cards never redirect, so no `return_url` is
 * needed.
 */
export const intentOf = (
  { card, cents, customer }: Pick<ToCharge, "card" | "cents" | "customer">,
  metadata: Metadata
): Stripe.PaymentIntentCreateParams => ({
  amount: cents,
  currency: "usd",
  customer,
  payment_method: card,
  allowed_payment_method_types: ["card"],
  off_session: true,
  confirm: true,
  description: name,
  metadata,
  expand: ["payment_method"]
})
