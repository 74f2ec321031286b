/** Stripe's objects as the test host stores them, and as Stripe's API returns them (2026-10-28.endive). */
import { testCards } from "@larder/serve/billing"
import type { TestCardName } from "@larder/serve/billing/simulator/test-cards.ts"

export interface Method {
  readonly id: string
  readonly testCard: TestCardName
  customer: string | null
}
export interface Failure {
  readonly code: string
  readonly decline_code: string
}
export interface Intent {
  readonly id: string
  readonly amount: number
  readonly created: number
  readonly metadata: Record<string, string>
  customer: string | null
  method: Method | null
  status: "requires_payment_method" | "requires_confirmation" | "succeeded" | "canceled"
  cancellation_reason: string | null
  failure: Failure | null
  /** The received amount; it differs from `amount` only if a test changes it. */
  received: number
  currency: string
}
export interface Session {
  readonly id: string
  readonly amount: number
  readonly created: number
  readonly metadata: Record<string, string>
  readonly intentMetadata: Record<string, string>
  readonly url: string
  readonly success_url: string
  readonly email: string | null
  customer: string | null
  intent: Intent | null
  status: "open" | "complete" | "expired"
}
export interface Refund {
  readonly id: string
  readonly amount: number
  readonly intent: Intent
  readonly created: number
  status: "succeeded" | "failed"
}
export interface Dispute {
  readonly id: string
  readonly amount: number
  readonly intent: Intent
  readonly created: number
  status: string
  /** Withdrawn (negative) and reinstated (positive) amounts. */
  movements: ReadonlyArray<number>
}

export type Json = Readonly<Record<string, unknown>>

export const describeDecline = (code: string) =>
  code === "authentication_required"
    ? "Your card was declined. This transaction requires authentication."
    : "Your card was declined."

/** Stripe has a code for the kind of decline, and one for the bank's reason. */
export const makeFailure = (decline: string): Failure =>
  ["insufficient_funds", "lost_card", "stolen_card", "card_declined"].includes(decline)
    ? { code: "card_declined", decline_code: decline === "card_declined" ? "generic_decline" : decline }
    : { code: decline, decline_code: decline }

export const toMethodJson = ({ customer, id, testCard }: Method): Json => {
  const { brand, number } = testCards[testCard]
  return {
    id,
    object: "payment_method",
    billing_details: { address: null, email: null, name: null, phone: null },
    card: { brand, country: "US", exp_month: 4, exp_year: 2035, funding: "credit", last4: number.slice(-4) },
    created: 1_700_000_000,
    customer,
    livemode: false,
    metadata: {},
    type: "card"
  }
}

const toFailureJson = ({ failure, method }: Intent): Json | null =>
  failure === null
    ? null
    : {
        ...failure,
        charge: "ch_1",
        doc_url: "https://stripe.com/docs/error-codes/card-declined",
        message: describeDecline(failure.code),
        payment_method: method === null ? undefined : toMethodJson(method),
        type: "card_error"
      }

export const toIntentJson = (intent: Intent, isExpanded: boolean): Json => ({
  id: intent.id,
  object: "payment_intent",
  amount: intent.amount,
  amount_capturable: 0,
  amount_received: intent.status === "succeeded" ? intent.received : 0,
  canceled_at: intent.status === "canceled" ? intent.created : null,
  cancellation_reason: intent.cancellation_reason,
  capture_method: "automatic_async",
  client_secret: `${intent.id}_secret`,
  confirmation_method: "automatic",
  created: intent.created,
  currency: intent.currency,
  customer: intent.customer,
  description: "Larder credits",
  last_payment_error: toFailureJson(intent),
  latest_charge: intent.status === "succeeded" ? intent.id.replace("pi_", "ch_") : null,
  livemode: false,
  metadata: intent.metadata,
  next_action: null,
  payment_method: isExpanded && intent.method ? toMethodJson(intent.method) : (intent.method?.id ?? null),
  payment_method_types: ["card"],
  status: intent.status
})

export const toSessionJson = (session: Session, isExpanded: boolean): Json => ({
  id: session.id,
  object: "checkout.session",
  amount_total: session.amount,
  client_reference_id: session.metadata.payment_id ?? null,
  created: session.created,
  currency: "usd",
  customer: session.customer,
  customer_email: session.email,
  expires_at: session.created + 86_400,
  livemode: false,
  metadata: session.metadata,
  mode: "payment",
  payment_intent: isExpanded && session.intent ? toIntentJson(session.intent, true) : (session.intent?.id ?? null),
  payment_method_types: ["card"],
  payment_status: session.intent?.status === "succeeded" ? "paid" : "unpaid",
  status: session.status,
  url: session.status === "open" ? session.url : null
})

export const toRefundJson = ({ amount, created, id, intent, status }: Refund): Json => ({
  id,
  object: "refund",
  amount,
  charge: intent.id.replace("pi_", "ch_"),
  created,
  currency: "usd",
  metadata: {},
  payment_intent: intent.id,
  reason: null,
  status
})

export const toDisputeJson = ({ amount, created, id, intent, movements, status }: Dispute): Json => ({
  id,
  object: "dispute",
  amount,
  balance_transactions: movements.map((cents, index) => ({
    id: `${id.replace("du_", "txn_")}${index}`,
    object: "balance_transaction",
    amount: cents,
    currency: "usd",
    fee: cents < 0 ? 1500 : 0,
    reporting_category: cents < 0 ? "dispute" : "dispute_reversal",
    type: "adjustment"
  })),
  charge: intent.id.replace("pi_", "ch_"),
  created,
  currency: "usd",
  metadata: {},
  payment_intent: intent.id,
  reason: "fraudulent",
  status
})
