/**
 * The parts of Stripe's objects that Larder uses, as the API sends them in the version of `stripe-client.ts`. The
 * client's types are not checked at run time, so answers are decoded and an answer that does not match is invalid.
 */
import { Schema } from "effect"

const Code = Schema.optionalKey(Schema.NullOr(Schema.String))

/** An id, or the object itself if it was expanded. */
const Reference = Schema.Union([Schema.String, Schema.Struct({ id: Schema.String })])
export const idOf = (reference: string | { readonly id: string } | null | undefined): string | null =>
  typeof reference === "string" ? reference : (reference?.id ?? null)

export const Metadata = Schema.Record(Schema.String, Schema.String)

export const PaymentMethod = Schema.Struct({
  id: Schema.String,
  customer: Schema.optionalKey(Schema.NullOr(Reference)),
  card: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({ brand: Schema.String, last4: Schema.String, exp_month: Schema.Int, exp_year: Schema.Int })
    )
  )
})
export type PaymentMethod = typeof PaymentMethod.Type

export const PaymentIntent = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("payment_intent"),
  /** May have values that are unknown here. */
  status: Schema.String,
  /** Why it was cancelled. */
  cancellation_reason: Schema.NullOr(Schema.String),
  /** Unix seconds. */
  created: Schema.Int,
  amount_received: Schema.Int,
  currency: Schema.String,
  metadata: Metadata,
  customer: Schema.NullOr(Reference),
  payment_method: Schema.NullOr(Schema.Union([Schema.String, PaymentMethod])),
  last_payment_error: Schema.NullOr(Schema.Struct({ code: Code, decline_code: Code }))
})
export type PaymentIntent = typeof PaymentIntent.Type

export const CheckoutSession = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("checkout.session"),
  status: Schema.NullOr(Schema.Literals(["open", "complete", "expired"])),
  /** Null once the session is complete or expired. */
  url: Schema.NullOr(Schema.String),
  metadata: Schema.NullOr(Metadata),
  customer: Schema.NullOr(Reference),
  /** Null until the customer begins to pay. */
  payment_intent: Schema.NullOr(Schema.Union([Schema.String, PaymentIntent]))
})
export type CheckoutSession = typeof CheckoutSession.Type

export const Refund = Schema.Struct({
  id: Schema.String,
  amount: Schema.Int,
  status: Schema.NullOr(Schema.String)
})
export const Dispute = Schema.Struct({
  id: Schema.String,
  amount: Schema.Int,
  currency: Schema.String,
  status: Schema.String,
  /** Amounts withdrawn (negative) and reinstated (positive), in the currency of the account. */
  balance_transactions: Schema.optionalKey(Schema.Array(Schema.Struct({ amount: Schema.Int, currency: Schema.String })))
})

/** The object of an event names the payment, or the PaymentIntent that names it. */
export const Event = Schema.Struct({
  data: Schema.Struct({
    object: Schema.Struct({
      id: Schema.optionalKey(Schema.String),
      object: Schema.String,
      metadata: Schema.optionalKey(Schema.NullOr(Metadata)),
      payment_intent: Schema.optionalKey(Schema.NullOr(Reference))
    })
  })
})
