/**
 * Money in and money out, as the console sees it: payments by card, auto-recharge, receipts. Whoever calls knows nothing of
 * the card processor; what went wrong is a sentence for the customer, and its cause is in the log.
 *
 * A payment is `succeeded` only after its credits are in the ledger. One whose outcome nobody knows yet is `open`, and is
 * looked at again by itself until it is known.
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
  /** Tells it from every other saved card; forms carry the one that they have shown. */
  mark: Schema.String
})
export type SavedCard = typeof SavedCard.Type

/** Money that went back to the card's owner, or is held back while the bank decides. */
export const Reversal = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["refund", "dispute"]),
  cents: Schema.Int,
  /** `taken`: its credits were taken back; `returned`: and given again, since the dispute was won or the refund failed. */
  state: Schema.Literals(["taken", "returned"]),
  /** A dispute that the bank has decided for the card's owner. */
  is_lost: Schema.Boolean,
  changed_at: Schema.String
})
export type Reversal = typeof Reversal.Type

export const Payment = Schema.Struct({
  /** `pay_…`; in the ledger the `request_id` of the entry with its credits. */
  id: Schema.String,
  kind: Schema.Literals(["top_up", "auto_recharge"]),
  /** US cents. */
  cents: Schema.Int,
  /** What the cents are worth; in the ledger once the payment has succeeded. */
  credits: Schema.Int,
  /** `open`: not decided, or not known yet; `expired`: nobody paid, and nobody can any more. */
  state: Schema.Literals(["open", "succeeded", "failed", "expired"]),
  /** Why it failed or expired, for the customer; null otherwise. */
  problem: Schema.NullOr(Schema.String),
  card: Schema.NullOr(ShownCard),
  created_at: Schema.String,
  /** When its outcome became known; null while it is open. */
  settled_at: Schema.NullOr(Schema.String),
  /** By a processor that moves no money. */
  is_simulated: Schema.Boolean,
  /** Oldest first. */
  reversals: Schema.Array(Reversal)
})
export type Payment = typeof Payment.Type

/** Only of a payment that has succeeded. */
export interface Receipt {
  readonly account: { readonly id: string; readonly name: string }
  /** Who pressed the button; null for recharges, and where the person was removed. */
  readonly email: string | null
  readonly payment: Payment
}

export interface RechargeChoice {
  readonly is_on: boolean
  /** What is paid each time, in US cents. */
  readonly cents: number
  /** A balance strictly below it starts a recharge. */
  readonly trigger_credits: number
}

export interface BillingSettings {
  readonly card: SavedCard | null
  /** Whether payments move no money here. */
  readonly is_simulated: boolean
  readonly recharge: RechargeChoice & {
    /** Somebody has saved these amounts; where nobody has they are a proposal. */
    readonly was_chosen: boolean
    /** Why it is off where it went off by itself, until somebody switches it on or decides to leave it off; null otherwise. */
    readonly off_reason: string | null
    /** A recharge is under way. */
    readonly running: boolean
  }
}

/** What became of the processor's events since the start. */
export interface EventCounts {
  readonly taken: number
  /** Not signed as the processor signs, or too long ago. */
  readonly refused: number
  /** What they tell could not be booked; they are sent again. */
  readonly failed: number
}

export interface TopUp {
  readonly account_id: string
  readonly person_id: string
  readonly email: string
  /** Whole US cents, 10.00 to 50,000.00 USD. */
  readonly cents: number
  /** Mark of the saved card that is charged; null for a card that is typed in on the processor's page. */
  readonly card: string | null
  /**
   * A random text that the form carries, new with each showing: sent twice it is one payment, so that a second click
   * charges nothing.
   */
  readonly submission: string
  /** Where the customer comes back to, absolute; the page there asks for `payment`. */
  readonly success_url: (payment_id: string) => string
  /** Where the customer comes back to without having paid; the page there asks to `leave`. */
  readonly cancel_url: (payment_id: string) => string
}

/** `redirect`: the customer pays on that page; `payment`: the saved card was asked, with this outcome. */
export type ToppedUp = { readonly redirect: string } | { readonly payment: Payment }

/** Nothing was asked of anybody; the sentence names what to change. */
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
    return "There is no saved card. Pay once by card; it is saved then."
  }
}

/** Also one of another account. */
export class UnknownPayment extends Schema.TaggedError<UnknownPayment>()("UnknownPayment", { id: Schema.String }) {
  override get message() {
    return `There is no payment ${this.id}`
  }
}

/** The card processor, the console's tables or the ledger do not answer. What was begun is finished by itself, once. */
export class BillingUnavailable extends Schema.TaggedError<BillingUnavailable>()("BillingUnavailable", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}

export class Billing extends Context.Service<
  Billing,
  {
    /** With the saved card it waits for the outcome; where that is not known yet the payment is `open`. */
    readonly topUp: (asked: TopUp) => Effect.Effect<ToppedUp, InvalidChoice | NoSavedCard | BillingUnavailable>
    /** Looks at the processor first where it is open; while that does not answer it stays open. */
    readonly payment: (
      account_id: string,
      payment_id: string
    ) => Effect.Effect<Payment, UnknownPayment | BillingUnavailable>
    /** The same for a customer who has left the payment page: where nobody has paid there, nobody can any more. */
    readonly leave: (
      account_id: string,
      payment_id: string
    ) => Effect.Effect<Payment, UnknownPayment | BillingUnavailable>
    /** Newest first. `before` is the id of the last payment of the page before, or null. */
    readonly payments: (
      account_id: string,
      page: { readonly before: string | null; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Payment>, BillingUnavailable>
    readonly receipt: (
      account_id: string,
      payment_id: string
    ) => Effect.Effect<Receipt, UnknownPayment | BillingUnavailable>
    readonly settings: (account_id: string) => Effect.Effect<BillingSettings, BillingUnavailable>
    /** Switched on it is evaluated at once: a balance that is below the trigger is recharged within a second. */
    readonly saveRecharge: (
      account_id: string,
      choice: RechargeChoice
    ) => Effect.Effect<BillingSettings, InvalidChoice | NoSavedCard | BillingUnavailable>
    /** Also switches auto-recharge off, or leaves it off. Nothing to remove is no error. */
    readonly removeCard: (account_id: string) => Effect.Effect<BillingSettings, BillingUnavailable>
    /**
     * An event of the processor, as it arrived: the raw body. Returns when what it is about is booked; on
     * `BillingUnavailable` the answer is a 503, so that it is sent again, on `ForgedEvent` a 400.
     */
    readonly webhook: (
      body: string,
      header: (name: string) => string | null
    ) => Effect.Effect<void, ForgedEvent | BillingUnavailable>
    readonly events: () => EventCounts
    /** A call of the account was charged. Costs next to nothing, and never waits nor throws. */
    readonly charged: (account_id: string) => void
  }
>()("larder/serve/Billing") {}
