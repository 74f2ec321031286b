/**
 * Card payments, auto-recharge and receipts, as the console sees them. Callers know nothing of the card processor. A
 * failure reaches them as a sentence for the customer; its cause is in the log.
 *
 * A payment becomes `succeeded` only after its credits are in the ledger. A payment whose outcome is unknown is `open`;
 * billing reconciles it until the outcome is known.
 */
import { Context, type Effect, Schema } from "effect"
import type { ForgedEvent } from "./processor.ts"

export const ShownCard = Schema.Struct({
  /** Such as `visa`. */
  brand: Schema.String,
  last4: Schema.String
})
export type ShownCard = typeof ShownCard.Type

export const SavedCard = Schema.Struct({
  ...ShownCard.fields,
  /** `MM/YYYY` */
  expires: Schema.String,
  /** Identifies this card. A form carries the mark of the card that it shows. */
  mark: Schema.String
})
export type SavedCard = typeof SavedCard.Type

/** A refund, or a dispute, whose money is withheld while the bank decides. */
export const Reversal = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["refund", "dispute"]),
  cents: Schema.Int,
  /** `taken`: its credits were deducted. `returned`: they were added again, as the dispute was won or the refund failed. */
  state: Schema.Literals(["taken", "returned"]),
  /** The bank decided the dispute in favour of the cardholder. */
  is_lost: Schema.Boolean,
  changed_at: Schema.String
})
export type Reversal = typeof Reversal.Type

export const Payment = Schema.Struct({
  /** `pay_…`. The ledger entry with the credits has it as `request_id`. */
  id: Schema.String,
  kind: Schema.Literals(["top_up", "auto_recharge"]),
  /** US cents. */
  cents: Schema.Int,
  /** The credits for these cents. They are in the ledger once the payment has succeeded. */
  credits: Schema.Int,
  /** `open`: undecided or not yet known. `expired`: the payment was not made and can no longer be made. */
  state: Schema.Literals(["open", "succeeded", "failed", "expired"]),
  /** Why the payment failed or expired, for the customer; null in the other states. */
  problem: Schema.NullOr(Schema.String),
  card: Schema.NullOr(ShownCard),
  created_at: Schema.String,
  /** When the outcome became known; null while the payment is open. */
  settled_at: Schema.NullOr(Schema.String),
  /** The processor moves no real money. */
  is_simulated: Schema.Boolean,
  /** Oldest first. */
  reversals: Schema.Array(Reversal)
})
export type Payment = typeof Payment.Type

/** Exists only for a payment that has succeeded. */
export interface Receipt {
  readonly account: { readonly id: string; readonly name: string }
  /** Address of the person who paid; null for a recharge and for a payment without a known person. */
  readonly email: string | null
  readonly payment: Payment
}

export interface RechargeChoice {
  readonly is_on: boolean
  /** The amount of each recharge, in US cents. */
  readonly cents: number
  /** A balance strictly below this starts a recharge. */
  readonly trigger_credits: number
}

export interface BillingSettings {
  readonly card: SavedCard | null
  /** The processor moves no real money. */
  readonly is_simulated: boolean
  readonly recharge: RechargeChoice & {
    /** A person has saved these amounts; otherwise they are proposed. */
    readonly was_chosen: boolean
    /** Why billing switched auto-recharge off; null otherwise, and once a person switches it on or leaves it off. */
    readonly off_reason: string | null
    /** A recharge is under way. */
    readonly running: boolean
  }
}

/** Outcomes of the processor's events since the start of the server. */
export interface EventCounts {
  readonly taken: number
  /** The signature was missing or wrong, or its time was too far off. */
  readonly refused: number
  /** The event could not be processed; the processor sends it again. */
  readonly failed: number
}

export interface TopUp {
  readonly account_id: string
  readonly person_id: string
  readonly email: string
  /** Whole US cents, 10.00 to 50,000.00 USD. */
  readonly cents: number
  /** Mark of the saved card to charge; null if the customer enters a card on the processor's page. */
  readonly card: string | null
  /** A random text, new each time the form is shown. A form sent twice is one payment: a second click charges nothing. */
  readonly submission: string
  /** Absolute address that the customer returns to after paying; the page there calls `payment`. */
  readonly success_url: (payment_id: string) => string
  /** Absolute address that the customer returns to without having paid; the page there calls `leave`. */
  readonly cancel_url: (payment_id: string) => string
}

/** `redirect`: the customer pays on that page. `payment`: the outcome of charging the saved card. */
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
    return "There is no saved card. Pay once by card to save it."
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
     * Handles an event of the processor, given its raw body. Returns once the payments that it names are reconciled. The
     * route answers `BillingUnavailable` with 503, so that the event is sent again, and `ForgedEvent` with 400.
     */
    readonly webhook: (
      body: string,
      header: (name: string) => string | null
    ) => Effect.Effect<void, ForgedEvent | BillingUnavailable>
    readonly events: () => EventCounts
    /** Tells billing that a call of the account was charged. Costs almost nothing, never waits and never throws. */
    readonly charged: (account_id: string) => void
  }
>()("larder/serve/Billing") {}
