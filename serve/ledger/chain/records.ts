/**
 * The records of the ledger: the tables `account`, `api_key` and `entry`, whose columns are described in
 * `embedded/tables/*.sql`. Money is stored as integer credits, and times as text in UTC.
 */
import { Timestamp } from "@larder/schemas"
import { Schema } from "effect"

const TextOrNull = Schema.NullOr(Schema.String)
const IntOrNull = Schema.NullOr(Schema.Int)
const TimestampOrNull = Schema.NullOr(Timestamp)

export const Account = Schema.Struct({ id: Schema.String, name: Schema.String, created_at: Timestamp })
export type Account = typeof Account.Type

export const ApiKey = Schema.Struct({
  id: Schema.String,
  account_id: Schema.String,
  name: Schema.String,
  /** Texts, because a key may have scopes of a data set that another version knows: they are kept, and allow nothing. */
  scopes: Schema.Array(Schema.String),
  /** 0 pauses the key. */
  budget_credits: Schema.Int,
  daily_budget_credits: IntOrNull,
  weekly_budget_credits: IntOrNull,
  sha256: Schema.String,
  last4: Schema.String,
  former_sha256: TextOrNull,
  former_last4: TextOrNull,
  former_expires_at: TimestampOrNull,
  created_at: Timestamp,
  revoked_at: TimestampOrNull,
  /** May be changed, also after it has passed. */
  expires_at: TimestampOrNull,
  revision: Schema.Int
})
export type ApiKey = typeof ApiKey.Type

/** The fields of a key with one budget, one secret and no expiry. */
export const plainKey = {
  daily_budget_credits: null,
  weekly_budget_credits: null,
  former_sha256: null,
  former_last4: null,
  former_expires_at: null,
  expires_at: null
}

/**
 * `grant`: the starting balance; `charge`: a successful call; `top_up` and `auto_recharge`: paid by card; `refund`: of a
 * call, or (negative) of a payment; `adjustment`: by the operator, or (negative) a disputed payment or expired credits.
 */
export const entryTypes = ["grant", "charge", "top_up", "auto_recharge", "refund", "adjustment"] as const

export const Entry = Schema.Struct({
  sequence: Schema.Int,
  account_id: Schema.String,
  /** From 1, without gaps. Together with `account_id` it identifies the entry permanently. */
  position: Schema.Int,
  type: Schema.Literals(entryTypes),
  /** Of a charge: when the call was admitted. The refund of a call has the time of its charge. */
  occurred_at: Timestamp,
  key_id: TextOrNull,
  endpoint: TextOrNull,
  credits: Schema.Int,
  /** Negative only if money went out whose credits were spent or had expired, and by no more than that. */
  balance: Schema.Int,
  budget_credits: IntOrNull,
  daily_budget_credits: IntOrNull,
  weekly_budget_credits: IntOrNull,
  /** Unique for each `type`: no call is charged or refunded twice, and no payment is booked twice. */
  request_id: TextOrNull,
  note: TextOrNull,
  expires_at: TimestampOrNull,
  grants: TextOrNull,
  hash: Schema.String
})
export type Entry = typeof Entry.Type

/** The fields of an entry without daily or weekly budgets and without expiring credits. */
export const plainEntry = { daily_budget_credits: null, weekly_budget_credits: null, expires_at: null, grants: null }

/**
 * Money that went out with an entry: a payment that was refunded, or is disputed. Only this makes a balance negative,
 * because calls may have spent the credits already. New calls are then refused, but admitted ones are still charged.
 * Calls never spend credits that were not there, so no balance is further below 0 than the money that went out.
 */
export const moneyOutOfEntry = ({ credits, grants, type }: Pick<Entry, "credits" | "grants" | "type">): number =>
  credits < 0 && grants === null && (type === "refund" || type === "adjustment") ? -credits : 0

/** The same condition in SQL, over the columns of `entry`. */
export const isMoneyOut = "credits < 0 and grants is null and type in ('refund', 'adjustment')"
