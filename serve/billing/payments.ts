/** The types that `Billing` returns and accepts, and its errors. */
import { Schema } from "effect"
import type { PaymentRow, Reversal } from "./payment-rows.ts"
import type { RechargeLimit, Requested } from "./recharges/limits.ts"
import type { RechargeChoice } from "./recharges/rows.ts"
import type { SavedCard, ShownCard } from "./saved-card.ts"

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
  /** E-mail address of the person who paid; null for a recharge, or if the person is unknown. */
  readonly email: string | null
  readonly payment: Payment
}

export interface BillingSettings {
  readonly card: SavedCard | null
  readonly is_simulated: boolean
  /** The balance below which the people of the account get a mail; null for none. */
  readonly low_balance_credits: number | null
  readonly recharge: RechargeChoice & {
    /** False while the amounts are suggestions and not saved settings. */
    readonly is_configured: boolean
    /** Why auto-recharge was stopped. Null if it was not, or if a person has switched it on since. */
    readonly off_reason: string | null
    /** A recharge is in progress. */
    readonly is_recharging: boolean
    /** The newest refund or adjustment in the ledger; 0 if there is none. */
    readonly position: number
    readonly requested: Requested
    /** What forbids the next recharge now. */
    readonly limit: RechargeLimit | undefined
  }
}

export interface TopUp {
  readonly account_id: string
  readonly person_id: string
  readonly email: string
  /** Whole US cents, 10.00 to 50,000.00 USD. */
  readonly cents: number
  /** Fingerprint of the saved card to charge; null if the customer enters a card on the processor's page. */
  readonly card: string | null
  /** A random string, new each time the form is shown. Submitting the form twice creates one payment. */
  readonly submission: string
  /** Absolute address that the customer returns to after paying; the page there calls `payment`. */
  readonly success_url: (payment_id: string) => string
  /** Absolute address that the customer returns to without having paid; the page there calls `leave`. */
  readonly cancel_url: (payment_id: string) => string
}

/** `redirect`: the page on which the customer pays. `payment`: the outcome of charging the saved card. */
export type TopUpResult = { readonly redirect: string } | { readonly payment: Payment }

/** The choice was rejected and nothing was charged. `problem` explains what to change. */
export class InvalidChoice extends Schema.TaggedError<InvalidChoice>()("InvalidChoice", {
  field: Schema.Literals([
    "cents",
    "trigger_credits",
    "daily_ceiling_cents",
    "monthly_ceiling_cents",
    "submission",
    "card",
    "threshold_credits"
  ]),
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

/** There is no such payment, or it belongs to another account. */
export class UnknownPayment extends Schema.TaggedError<UnknownPayment>()("UnknownPayment", { id: Schema.String }) {
  override get message() {
    return `There is no payment ${this.id}`
  }
}

/**
 * The card processor, the console's tables or the ledger does not respond. Work that has started is completed later,
 * exactly once.
 */
export class BillingUnavailable extends Schema.TaggedError<BillingUnavailable>()("BillingUnavailable", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}
