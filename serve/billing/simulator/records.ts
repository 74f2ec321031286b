/** The simulator's records. Each is one row of `console.simulated`, as JSON. Card numbers are not stored. */
import { Schema } from "effect"
import { Card } from "../processor.ts"

export const Reversal = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["refund", "dispute"]),
  cents: Schema.Int,
  /** A dispute is `open` until it is `won` or `lost`. */
  outcome: Schema.Literals(["open", "refunded", "won", "lost"]),
  /** From this time on, the refund counts as failed. */
  fails_at: Schema.NullOr(Schema.String),
  made_at: Schema.String
})
export type Reversal = typeof Reversal.Type

export const Payment = Schema.Struct({
  /** Larder's id of the payment. */
  payment_id: Schema.String,
  account_id: Schema.String,
  cents: Schema.Int,
  made_by: Schema.Literals(["checkout", "charge"]),
  made_at: Schema.String,
  state: Schema.Literals(["open", "succeeded", "failed"]),
  problem: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  customer: Schema.NullOr(Schema.String),
  card: Schema.NullOr(Card),
  /** Name of the test card that was used. */
  plays: Schema.NullOr(Schema.String),
  /** A card whose bank waits for the cardholder to authenticate the payment. */
  asked_owner: Schema.NullOr(Schema.Struct({ plays: Schema.String, expires: Schema.String })),
  success_url: Schema.NullOr(Schema.String),
  cancel_url: Schema.NullOr(Schema.String),
  /** Until when the page can be paid. */
  expires_at: Schema.NullOr(Schema.String),
  reversed: Schema.Array(Reversal)
})
export type Payment = typeof Payment.Type

export const SavedCard = Schema.Struct({ customer: Schema.String, card: Card, plays: Schema.String })
export type SavedCard = typeof SavedCard.Type

/** An event, sent or waiting to be sent. */
export const Notice = Schema.Struct({
  type: Schema.String,
  payment_id: Schema.String,
  account_id: Schema.String,
  made_at: Schema.String,
  due_at: Schema.String,
  attempts: Schema.Int,
  answer: Schema.NullOr(Schema.String)
})
export type Notice = typeof Notice.Type

export const Mishaps = Schema.Struct({
  /** No request is answered. */
  outage: Schema.Boolean,
  /** Delay of every answer. */
  slow_ms: Schema.Int,
  /** The next payment is made, but its answer is lost. */
  lose_next_answer: Schema.Boolean,
  events: Schema.Literals(["once", "twice", "reversed", "forged", "none"])
})
export type Mishaps = typeof Mishaps.Type

export const Settings = Schema.Struct({ ...Mishaps.fields, webhook_secret: Schema.String })
export type Settings = typeof Settings.Type

export const noMishaps: Mishaps = { outage: false, slow_ms: 0, lose_next_answer: false, events: "once" }
