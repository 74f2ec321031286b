/**
 * The records of the ledger: the tables `account`, `api_key` and `entry`, and which of their columns enter the chain of
 * the ledger. Money is stored as integer credits.
 */
import { Timestamp } from "@larder/schemas"
import { Schema } from "effect"

const described = (description: string) => Schema.String.annotate({ description })
const moment = (description: string) => Timestamp.annotate({ description })
const momentOrNull = (description: string) => Schema.NullOr(Timestamp).annotate({ description })
const creditsOrNull = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })
const accountId = described("Account: `account.id`.")

export const Account = Schema.Struct({
  id: described("Permanent id of the account, `acct_…`."),
  name: described("Name given by the operator."),
  created_at: moment("When the account was opened, in UTC.")
}).annotate({
  identifier: "account",
  description: "Accounts. Each owns keys and one balance, which is the sum of its entries in `entry`."
})
export type Account = typeof Account.Type

export const ApiKey = Schema.Struct({
  id: described("Permanent id of the key, `key_…`. Not the key itself, which is stored nowhere."),
  account_id: accountId,
  name: described("Name given by the operator; can be changed."),
  // a text, because a key may have scopes of a data set that another version knows: they are kept, and allow nothing
  scopes: Schema.Array(Schema.String).annotate({ description: "What the key may call; can be changed." }),
  budget_credits: Schema.Int.annotate({
    description: "Credits that the key may spend per calendar month in UTC; can be changed. 0 pauses the key."
  }),
  daily_budget_credits: creditsOrNull(
    "Credits that the key may spend per UTC day; null where only longer budgets count."
  ),
  weekly_budget_credits: creditsOrNull(
    "Credits that the key may spend per week, from Monday in UTC; null where only other budgets count."
  ),
  sha256: described("SHA-256 of the key in hexadecimal."),
  last4: described("Last four characters of the key."),
  former_sha256: Schema.NullOr(Schema.String).annotate({
    description: "SHA-256 of the key that this one has replaced; it is accepted until `former_expires_at`."
  }),
  former_last4: Schema.NullOr(Schema.String).annotate({ description: "Last four characters of the replaced key." }),
  former_expires_at: momentOrNull(
    "When the replaced key ends, in UTC; null where no key was replaced with an overlap."
  ),
  created_at: moment("When the key was created, in UTC."),
  revoked_at: momentOrNull("When the key was revoked, in UTC; null while it is valid. Permanent."),
  expires_at: momentOrNull(
    "When the key ends, in UTC; null where it does not end by itself. Can be changed, also afterwards."
  ),
  revision: Schema.Int.annotate({ description: "Counts the changes of this row, from 1." })
}).annotate({ identifier: "api_key", description: "API keys, revoked and expired ones included." })
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

export const entryTypes = ["grant", "charge", "top_up", "auto_recharge", "refund", "adjustment"] as const

export const Entry = Schema.Struct({
  sequence: Schema.Int.annotate({
    description: "Number of the entry in the ledger, in the order of writing. An embedded ledger leaves no number out."
  }),
  account_id: accountId,
  position: Schema.Int.annotate({
    description:
      "Place of the entry in its account, from 1, without gaps. With `account_id` it names the entry for ever."
  }),
  type: Schema.Literals(entryTypes).annotate({
    description:
      "`grant`: the credits of a new account; `charge`: a successful call; `top_up` and `auto_recharge`: paid by card; `refund`: of a call that was answered with an error, or, negative, of a payment, whose money went back; `adjustment`: booked by the operator, or, negative, a payment that is disputed, or what was left of credits that expired."
  }),
  occurred_at: moment(
    "When it happened, in UTC; for a charge the moment of admission, whose month it counts towards; for the refund of a call that of its charge."
  ),
  key_id: Schema.NullOr(Schema.String).annotate({
    description: "Key that was charged, or gets a call back: `api_key.id`; null where no key took part."
  }),
  endpoint: Schema.NullOr(Schema.String).annotate({
    description:
      "Endpoint that was called, such as `/v1/commodities/prices`; null for all but charges and refunds of calls."
  }),
  credits: Schema.Int.annotate({
    description:
      "Credits added to the balance; negative for charges, for money that went out (a `refund` of a payment, an `adjustment` for a dispute), and for credits that expired."
  }),
  balance: Schema.Int.annotate({
    description:
      "Balance of the account after the entry, in credits. Negative only where money went out that was spent or had expired already, and never by more than what went out."
  }),
  budget_credits: creditsOrNull(
    "Monthly budget of the key when the call was admitted, in credits; null for all but charges."
  ),
  daily_budget_credits: creditsOrNull("The same of its daily budget; null where the key had none."),
  weekly_budget_credits: creditsOrNull("The same of its weekly budget; null where the key had none."),
  request_id: Schema.NullOr(Schema.String).annotate({
    description:
      "X-Request-Id of the call, for a charge or the refund of one; the id of the payment, refund or dispute for what was booked because of it; null for all others. It is there once for each `type`: no call is charged twice nor given back twice, and no payment is booked twice."
  }),
  note: Schema.NullOr(Schema.String).annotate({ description: "The reason, in words; null for charges." }),
  expires_at: momentOrNull(
    "When the credits of this entry end, in UTC, as far as they are not spent; null where they do not end."
  ),
  grants: Schema.NullOr(Schema.String).annotate({
    description:
      "What the entry takes from credits that expire (negative), or gives back to them, as `position:credits` of the entries that granted them, separated by spaces; null where it touches none. Calls spend what ends first."
  }),
  hash: described(
    "SHA-256 in hexadecimal over the hash of the account's entry before this one and the fields of this one, `sequence` excepted: an entry that is changed, left out or put in breaks the chain of its account."
  )
}).annotate({
  identifier: "entry",
  description:
    "Every movement of credits. Rows are only added. The sum of an account is its balance; the sum of a key in a UTC month is what it has spent, with the sign turned."
})
export type Entry = typeof Entry.Type

/** The fields of an entry without daily or weekly budgets and without expiring credits. */
export const plainEntry = { daily_budget_credits: null, weekly_budget_credits: null, expires_at: null, grants: null }

/**
 * Money that went out: a payment that was refunded, or is disputed. It may exceed the balance, because calls have
 * already spent the credits; only this makes a balance negative. New calls are then refused, but calls that were
 * admitted before are still charged. Calls never spend credits that were not there, so no balance is further below 0
 * than the money that went out of its account.
 *
 * Returns the credits that an entry took out; 0 for every other entry, such as the adjustment for expired credits.
 */
export const moneyOutOfEntry = ({ credits, grants, type }: Pick<Entry, "credits" | "grants" | "type">): number =>
  credits < 0 && grants === null && (type === "refund" || type === "adjustment") ? -credits : 0

/** The same condition in SQL, over the columns of `entry`. */
export const isMoneyOut = "credits < 0 and grants is null and type in ('refund', 'adjustment')"
