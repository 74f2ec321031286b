/**
 * The interface to a card processor, which Stripe and the simulator implement. The processor is the authority on the
 * state of a payment: Larder retrieves the payment and books its state, in any order of reports. An event only
 * triggers a retrieval; its contents are never trusted. Larder assigns `payment_id` (`pay_…`) and records it before the
 * first request. Every request carries it, so a repeated request is one payment.
 */
import { type Effect, Schema } from "effect"

export const Card = Schema.Struct({
  id: Schema.String,
  brand: Schema.String,
  last4: Schema.String,
  expires: Schema.String
})
export type Card = typeof Card.Type

/** No response, an invalid one, or a fault of the processor: it is unknown whether the request took effect. */
export class ProcessorUnavailable extends Schema.TaggedError<ProcessorUnavailable>()("ProcessorUnavailable", {
  processor: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.processor} error: ${cause}`
  }
}

/** The processor created nothing, and a retry would get the same response. The processor's message is in the log. */
export class PaymentRefused extends Schema.TaggedError<PaymentRefused>()("PaymentRefused", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}

/** The signature or its time is missing or wrong, or the server lacks the secret. The sender receives `problem`. */
export class EventRejected extends Schema.TaggedError<EventRejected>()("EventRejected", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

/** Seconds by which the time of a signature may differ from this server's clock. */
export const signatureTolerance = 300

/** The problem with a signature's Unix time; undefined if it is accepted. Prevents the replay of recorded events. */
export const checkTime = (seconds: number, now: number): string | undefined => {
  const age = Math.round(now / 1000 - seconds)
  if (Math.abs(age) <= signatureTolerance) return undefined
  return `The event was signed ${Math.abs(age)} seconds ${age > 0 ? "ago" : "in the future"}; at most ${signatureTolerance} are accepted. Check the server's clock.`
}

/** A refund or a dispute. The processor assigns the ids; they never change. */
export const RetrievedReversal = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["refund", "dispute"]),
  cents: Schema.Int,
  /** `taken`: refunded or withdrawn. `returned`: paid back, because the dispute was won or the refund failed. */
  state: Schema.Literals(["taken", "returned"]),
  /** The bank decided the dispute in favour of the cardholder; the money stays `taken`. */
  is_lost: Schema.Boolean
})
export type RetrievedReversal = typeof RetrievedReversal.Type

/** The current state of a payment at the processor. */
export interface RetrievedPayment {
  /** `open`: undecided. `expired`: the payment was not made and can no longer be made. */
  readonly state: "open" | "succeeded" | "failed" | "expired"
  readonly reference: string
  /** Money received, in US cents; 0 unless the payment succeeded. */
  readonly cents: number
  /** Why it failed, for the customer; null otherwise. */
  readonly problem: string | null
  /** The processor's id of the customer who paid. */
  readonly customer: string | null
  /** The card that was charged or declined; null if it is unknown. */
  readonly card: Card | null
  readonly reversed: ReadonlyArray<RetrievedReversal>
}

export interface PaymentRequest {
  readonly payment_id: string
  readonly account_id: string
  readonly cents: number
  readonly created_at: string
}

/** The payment to retrieve. `reference` is null if the processor's response never arrived. */
export interface PaymentQuery extends PaymentRequest {
  readonly reference: string | null
  readonly customer: string | null
  /** The saved card to charge off-session; null if the customer enters a card on the processor's page. */
  readonly card: string | null
}

/** A payment that an event names. `reference` is null if the event does not contain it. */
export type EventPayment = Pick<PaymentQuery, "payment_id" | "reference">

export interface CheckoutRequest extends PaymentRequest {
  readonly email: string
  readonly customer: string | null
  readonly success_url: string
  readonly cancel_url: string
}

export interface ChargeRequest extends PaymentRequest {
  readonly customer: string
  readonly card: string
}

export type HeaderReader = (name: string) => string | null
export type ProcessorResponse<A> = Effect.Effect<A, ProcessorUnavailable>

export interface CardProcessor {
  readonly name: "stripe" | "simulator"
  /** A page of the processor where the customer pays and the card is saved. Both URLs are absolute. */
  readonly checkout: (
    request: CheckoutRequest
  ) => Effect.Effect<
    { readonly url: string; readonly reference: string; readonly customer: string | null },
    ProcessorUnavailable | PaymentRefused
  >
  /** Charges a saved card off-session. If the card is declined or requires authentication, returns a `failed` payment. */
  readonly charge: (request: ChargeRequest) => ProcessorResponse<RetrievedPayment>
  readonly retrieve: (query: PaymentQuery) => ProcessorResponse<RetrievedPayment | undefined>
  /** Closes the payment page that the customer left, so that it can no longer be paid. Does not undo a payment. */
  readonly expireCheckout: (query: PaymentQuery) => ProcessorResponse<RetrievedPayment | undefined>
  /** Detaches a saved card. Succeeds if it is already detached. */
  readonly detachCard: (card: string) => ProcessorResponse<void>
  /** Verifies an event's signature on the raw body. Returns the payments that it names; empty if it names none. */
  readonly readEvent: (
    body: string,
    header: HeaderReader
  ) => Effect.Effect<ReadonlyArray<EventPayment>, EventRejected | ProcessorUnavailable>
}
