/**
 * The port behind which cards are charged. A processor keeps its own truth about a payment; Larder asks for it (`look`)
 * and books what it says, whatever arrived when: events from outside are hints to look, never facts.
 *
 * `payment_id` is ours (`pay_…`), written down before the processor is asked, and goes with everything that is asked, so
 * that the same question asked twice is one payment.
 */
import { type Effect, Schema } from "effect"

export const Card = Schema.Struct({
  /** The processor's name for it. */
  id: Schema.String,
  /** Such as `visa`. */
  brand: Schema.String,
  last4: Schema.String,
  /** `MM/YYYY` */
  expires: Schema.String
})
export type Card = typeof Card.Type

/** Nobody knows whether anything happened: no answer, an answer that makes no sense, or a fault of the processor. */
export class ProcessorUnavailable extends Schema.TaggedError<ProcessorUnavailable>()("ProcessorUnavailable", {
  processor: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.processor} did not answer: ${cause}`
  }
}

/** Nothing was made, and asked again the processor would say the same. The processor's own words are in the log. */
export class PaymentRefused extends Schema.TaggedError<PaymentRefused>()("PaymentRefused", {
  /** For the customer. */
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}

/** The event was not sent by the processor, or not now. `problem` is one line for whoever set the events up: the answer to them. */
export class ForgedEvent extends Schema.TaggedError<ForgedEvent>()("ForgedEvent", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

/** Money that went back, or is being held back. Ids are the processor's, and permanent. */
export interface Reversed {
  readonly id: string
  readonly kind: "refund" | "dispute"
  readonly cents: number
  /** `taken`: the money has left; `returned`: it came back (a dispute that was won, a refund that failed). */
  readonly state: "taken" | "returned"
  /** A dispute that the bank has decided for the card's owner; what was taken stays so. */
  readonly is_lost: boolean
}

/** What the processor knows of a payment now. */
export interface Looked {
  /** `open`: not decided yet; `expired`: nobody paid, and nobody can any more. */
  readonly state: "open" | "succeeded" | "failed" | "expired"
  readonly reference: string
  /** Money that was received, in US cents; 0 unless it succeeded. */
  readonly cents: number
  /** Why it failed, for the customer; null otherwise. */
  readonly problem: string | null
  /** The processor's name for the customer who paid. */
  readonly customer: string | null
  /** The card it was paid with; null while nobody has paid. */
  readonly card: Card | null
  readonly reversed: ReadonlyArray<Reversed>
}

export interface PaymentAsked {
  readonly payment_id: string
  readonly account_id: string
  readonly cents: number
  readonly created_at: string
}

/** What to look for: `reference` is null where the answer of the processor never arrived. */
export interface Sought extends PaymentAsked {
  readonly reference: string | null
  readonly customer: string | null
  /** The saved card that was to be charged without its owner; null where the customer gives one on the processor's page. */
  readonly card: string | null
}

/** What an event is about: our id of the payment, and the processor's name for it where the event says so. */
export interface Named {
  readonly payment_id: string
  readonly reference: string | null
}

type Answered<A> = Effect.Effect<A, ProcessorUnavailable>

export interface CardProcessor {
  readonly name: "stripe" | "simulator"
  /** A page of the processor where the customer pays and the card is saved. Both addresses are absolute. */
  readonly checkout: (
    asked: PaymentAsked & {
      readonly email: string
      readonly customer: string | null
      readonly success_url: string
      readonly cancel_url: string
    }
  ) => Effect.Effect<
    { readonly url: string; readonly reference: string; readonly customer: string | null },
    ProcessorUnavailable | PaymentRefused
  >
  /** Charges a saved card without its owner. A decline is an answer (`failed`), and so is a card that needs its owner. */
  readonly charge: (asked: PaymentAsked & { readonly customer: string; readonly card: string }) => Answered<Looked>
  /** Undefined where the processor knows no such payment. */
  readonly look: (sought: Sought) => Answered<Looked | undefined>
  /** The customer has left the page without paying: from now on nobody can pay there. A payment that was made stays one. */
  readonly closePage: (sought: Sought) => Answered<Looked | undefined>
  /** Forgets a saved card. What is forgotten already is no error. */
  readonly forget: (card: string) => Answered<void>
  /** The payments that an event is about; none where it is about something else. Checked on the raw body. */
  readonly paymentsOf: (
    body: string,
    header: (name: string) => string | null
  ) => Effect.Effect<ReadonlyArray<Named>, ForgedEvent | ProcessorUnavailable>
}
