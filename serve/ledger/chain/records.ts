/**
 * The records of the ledger: the tables `account`, `api_key` and `entry`. Money is stored as integer credits, and
 * timestamps as strings in UTC. The descriptions of accounts and entries are the comments of an export.
 */
import { Timestamp } from "@larder/schemas"
import { Schema } from "effect"

const StringOrNull = Schema.NullOr(Schema.String)
const IntOrNull = Schema.NullOr(Schema.Int)
const TimestampOrNull = Schema.NullOr(Timestamp)

const describeString = (description: string) => Schema.String.annotate({ description })
const describeInt = (description: string) => Schema.Int.annotate({ description })
const describeOptionalString = (description: string) => StringOrNull.annotate({ description })
const describeOptionalInt = (description: string) => IntOrNull.annotate({ description })

export const Account = Schema.Struct({
  id: describeString("Permanent id of the account, `acct_…`."),
  name: describeString("Name given by the operator."),
  created_at: Timestamp.annotate({ description: "When the account was opened, in UTC." }),
  suspended_at: TimestampOrNull.annotate({
    description: "Since when every call of the account is refused, in UTC; null if it is not suspended."
  })
}).annotate({
  description: "Accounts. Each owns keys and one balance, which is the sum of its entries in `entry`."
})
export type Account = typeof Account.Type

export const ApiKey = Schema.Struct({
  id: Schema.String,
  account_id: Schema.String,
  name: Schema.String,
  /** Any strings: scopes of a data set that this version does not include are kept, but allow nothing. */
  scopes: Schema.Array(Schema.String),
  /** 0 pauses the key. */
  budget_credits: Schema.Int,
  sha256: Schema.String,
  last4: Schema.String,
  former_sha256: StringOrNull,
  former_last4: StringOrNull,
  former_expires_at: TimestampOrNull,
  created_at: Timestamp,
  revoked_at: TimestampOrNull,
  /** Can be changed even after it has passed. */
  expires_at: TimestampOrNull,
  revision: Schema.Int
})
export type ApiKey = typeof ApiKey.Type

/** The fields of a key with one secret and no expiry. */
export const plainKey = {
  former_sha256: null,
  former_last4: null,
  former_expires_at: null,
  expires_at: null
}

/**
 * `grant`: the starting balance; `charge`: a successful call; `top_up` and `auto_recharge`: paid by card; `refund`: of a
 * call, or (negative) of a payment; `adjustment`: by the operator, added or (negative) taken back, or (negative) a
 * disputed payment.
 */
export const entryTypes = ["grant", "charge", "top_up", "auto_recharge", "refund", "adjustment"] as const

export const Entry = Schema.Struct({
  sequence: describeInt(
    "Number of the entry in the ledger, in the order of writing. Without gaps in an embedded ledger."
  ),
  account_id: describeString("Account: `account.id`."),
  position: describeInt(
    "Place of the entry in its account, from 1, without gaps. With `account_id` it identifies the entry permanently."
  ),
  type: Schema.Literals(entryTypes).annotate({
    description:
      "`grant`: the credits of a new account; `charge`: a successful call; `top_up` and `auto_recharge`: paid by card; `refund`: of a call that was answered with an error, or, negative, of a payment; `adjustment`: added or, negative, taken back by the operator, or, negative, a disputed payment."
  }),
  occurred_at: Timestamp.annotate({
    description:
      "When it happened, in UTC. For a charge, when the call was admitted, which decides the month that it counts towards; the refund of a call has the time of its charge."
  }),
  key_id: describeOptionalString(
    "Key that was charged, or that made the refunded call: `api_key.id`; null for other entries."
  ),
  endpoint: describeOptionalString(
    "Endpoint that was called, such as `/v1/commodities/prices`; null except for charges and refunds of calls."
  ),
  credits: describeInt(
    "Credits added to the balance; negative for charges, for refunds and disputes of payments, and for what the operator takes back."
  ),
  balance: describeInt(
    "Balance of the account after the entry, in credits. Negative only after a refund or a dispute of a payment, or after the operator took credits back, if they were spent, and by no more than those."
  ),
  budget_credits: describeOptionalInt(
    "Monthly budget of the key when the call was admitted, in credits; null except for charges."
  ),
  request_id: describeOptionalString(
    "X-Request-Id of a charged or refunded call, the id of the payment, refund or dispute that was booked, or `credit:` or `debit:` and the reference that the operator gave; null for other entries. Unique for each `type`: nothing with an id is booked twice."
  ),
  note: describeOptionalString("The reason, in words; null for charges."),
  hash: describeString(
    "SHA-256 in hexadecimal over the hash of the account's previous entry and the fields of this one except `sequence`: a changed, removed or added entry breaks the chain of its account."
  )
}).annotate({
  description:
    "Every movement of credits. Rows are only added. The sum of an account's credits is its balance; the negated sum of a key's credits in a UTC month is what it has spent."
})
export type Entry = typeof Entry.Type

/**
 * Credits that an entry deducts for a refund or dispute of a payment, or by hand; otherwise 0. Only such entries make a
 * balance negative, because calls may have spent the credits already. New calls are then refused, but admitted ones are
 * still charged. Calls never overdraw an account, so no balance is further below 0 than the sum of these credits.
 */
export const reversalCredits = ({ credits, type }: Pick<Entry, "credits" | "type">): number =>
  credits < 0 && (type === "refund" || type === "adjustment") ? -credits : 0

/** The same condition in SQL, over the columns of `entry`. */
export const isReversal = "credits < 0 and type in ('refund', 'adjustment')"
