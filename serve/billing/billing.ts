/**
 * Card payments, auto-recharge and receipts, as the console sees them. Failures are sentences for the customer; causes
 * are in the log. A payment becomes `succeeded` only after its credits are in the ledger, and is `open` until its
 * outcome is known.
 */
import { Context, type Effect, Schema } from "effect"
import type { PaymentRow } from "./payment-rows.ts"
import { type Card, type EventRejected, type HeaderReader, RetrievedReversal } from "./processor.ts"
import type { RechargeRow } from "./recharge-rows.ts"

export type ShownCard = Pick<Card, "brand" | "last4">

export interface SavedCard extends Omit<Card, "id"> {
  /** Identifies this card. A form carries the mark of the card that it shows. */
  readonly mark: string
}

/** `taken`: its credits were deducted. `returned`: they were added again. */
export const Reversal = Schema.Struct({ ...RetrievedReversal.fields, changed_at: Schema.String })
export type Reversal = typeof Reversal.Type

type ShownColumns = "id" | "kind" | "cents" | "state" | "problem" | "created_at" | "settled_at"

export interface Payment extends Pick<PaymentRow, ShownColumns> {
  /** The credits for these cents. They are in the ledger once the payment has succeeded. */
  readonly credits: number
  readonly card: ShownCard | null
  /** The processor moves no real money. */
  readonly is_simulated: boolean
  /** Oldest first. */
  readonly reversals: ReadonlyArray<Reversal>
}

export interface Receipt {
  readonly account: { readonly id: string; readonly name: string }
  /** Address of the person who paid; null for a recharge and for a payment without a known person. */
  readonly email: string | null
  readonly payment: Payment
}

export type RechargeChoice = Pick<RechargeRow, "is_on" | "cents" | "trigger_credits">

export interface BillingSettings {
  readonly card: SavedCard | null
  readonly is_simulated: boolean
  readonly recharge: RechargeChoice & {
    /** A person has saved these amounts; otherwise they are proposed. */
    readonly is_configured: boolean
    /** Why billing switched auto-recharge off; null otherwise, and once a person switches it on or leaves it off. */
    readonly off_reason: string | null
    /** A recharge is in progress. */
    readonly is_recharging: boolean
  }
}

/** The processor's events since the start. It sends `failed` ones again; `refused` ones have a wrong signature. */
export type EventCounts = Readonly<Record<"taken" | "refused" | "failed", number>>

export interface TopUp {
  readonly account_id: string
  readonly person_id: string
  readonly email: string
  /** Whole US cents, 10.00 to 50,000.00 USD. */
  readonly cents: number
  /** Mark of the saved card to charge; null if the customer enters a card on the processor's page. */
  readonly card: string | null
  /** A random text, new each time the form is shown. A form sent twice is one payment: a second click is free. */
  readonly submission: string
  /** Absolute address that the customer returns to after paying; the page there calls `payment`. */
  readonly success_url: (payment_id: string) => string
  /** Absolute address that the customer returns to without having paid; the page there calls `leave`. */
  readonly cancel_url: (payment_id: string) => string
}

/** `redirect`: the page on which the customer pays. `payment`: the outcome of charging the saved card. */
type TopUpResult = { readonly redirect: string } | { readonly payment: Payment }

/** The choice was rejected and nothing was charged; the sentence says what to change. */
export class InvalidChoice extends Schema.TaggedError<InvalidChoice>()("InvalidChoice", {
  field: Schema.Literals(["cents", "trigger_credits", "submission", "card"]),
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}

export class NoSavedCard extends Schema.TaggedError<NoSavedCard>()("NoSavedCard", {}) {
  override get message() {
    return "There is no saved card. Make one payment by card to save it."
  }
}

/** Also the error for a payment of another account. */
export class UnknownPayment extends Schema.TaggedError<UnknownPayment>()("UnknownPayment", { id: Schema.String }) {
  override get message() {
    return `There is no payment ${this.id}`
  }
}

/** The card processor, the console's tables or the ledger do not answer. Billing finishes begun work exactly once. */
export class BillingUnavailable extends Schema.TaggedError<BillingUnavailable>()("BillingUnavailable", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}

type OfPayment<A> = (account_id: string, payment_id: string) => Effect.Effect<A, UnknownPayment | BillingUnavailable>

export class Billing extends Context.Service<
  Billing,
  {
    /** With the saved card, waits for the outcome; if it is not known yet, the payment is `open`. */
    readonly topUp: (request: TopUp) => Effect.Effect<TopUpResult, InvalidChoice | NoSavedCard | BillingUnavailable>
    /** Retrieves an open payment from the processor first. If the processor does not answer, the payment stays open. */
    readonly payment: OfPayment<Payment>
    /** The same for a customer who has left the payment page. Closes an unpaid page, so it can no longer be paid. */
    readonly leave: OfPayment<Payment>
    /** Newest first. `before` is the id of the last payment on the previous page, or null. */
    readonly payments: (
      account_id: string,
      page: { readonly before: string | null; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Payment>, BillingUnavailable>
    readonly receipt: OfPayment<Receipt>
    readonly settings: (account_id: string) => Effect.Effect<BillingSettings, BillingUnavailable>
    /** If it is on, the account is evaluated immediately: a balance below the trigger is recharged within a second. */
    readonly saveRecharge: (
      account_id: string,
      choice: RechargeChoice
    ) => Effect.Effect<BillingSettings, InvalidChoice | NoSavedCard | BillingUnavailable>
    /** Also switches auto-recharge off. Succeeds if there is no card to remove. */
    readonly removeCard: (account_id: string) => Effect.Effect<BillingSettings, BillingUnavailable>
    /**
     * Handles an event of the processor, given its raw body. Returns once the payments that it names are reconciled.
     * The route answers `BillingUnavailable` with 503, so that the event is sent again, and `EventRejected` with 400.
     */
    readonly webhook: (body: string, header: HeaderReader) => Effect.Effect<void, EventRejected | BillingUnavailable>
    readonly events: () => EventCounts
    /** Tells billing that a call of the account was charged. Costs almost nothing, never waits and never throws. */
    readonly charged: (account_id: string) => void
  }
>()("larder/serve/Billing") {}
