/**
 * What an operator may do to the ledger, whoever carries it out: the process that holds it, or a running server on behalf
 * of a command. What returns is durable, and in force for the next request.
 */
import { Day, Timestamp } from "@larder/schemas/dates.ts"
import { Scope } from "@larder/schemas/scopes.ts"
import { Context, type Effect, Schema, type Stream } from "effect"
import { Anchor } from "./anchor.ts"
import {
  BalanceOutOfBounds,
  ExpiryPassed,
  KeyExpired,
  KeyRevoked,
  mostCredits,
  ReferenceTaken,
  TooManyKeys,
  UnknownAccount,
  UnknownKey
} from "./decisions.ts"
import { LedgerUnavailable } from "./errors.ts"
import { moneyOutOf } from "./money-out.ts"
import { Entry, entryTypes } from "./records.ts"
import { SummedUsage } from "./summed-usage.ts"

/** What is typed into a terminal, printed there and stored: no control characters, and no half of a surrogate pair. */
export const Line = Schema.String.check(
  Schema.makeFilter((text) =>
    text.trim() !== "" && /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(text) ? undefined : "must be 1 to 200 printable characters"
  )
)
export const Scopes = Schema.NonEmptyArray(Scope)
export const BudgetCredits = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: mostCredits }))

/** A year at most. */
export const OverlapHours = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 8_784 }))

export const AccountSummary = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  created_at: Timestamp,
  balance_credits: Schema.Int,
  /** Credits of the balance that expire, in the order in which they are spent. Empty where none do. */
  expiring: Schema.Array(Schema.Struct({ credits: Schema.Int, expires_at: Timestamp }))
})
export type AccountSummary = typeof AccountSummary.Type

export const KeySummary = Schema.Struct({
  id: Schema.String,
  account_id: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Scope),
  budget_usd: Schema.Finite,
  /** In the running UTC month. */
  spent_usd: Schema.Finite,
  /** Null, as what was spent on it, where the key has no such budget. Days are UTC, weeks begin on Monday. */
  daily_budget_usd: Schema.NullOr(Schema.Finite),
  spent_today_usd: Schema.NullOr(Schema.Finite),
  weekly_budget_usd: Schema.NullOr(Schema.Finite),
  spent_this_week_usd: Schema.NullOr(Schema.Finite),
  last4: Schema.String,
  created_at: Timestamp,
  revoked_at: Schema.NullOr(Timestamp),
  expires_at: Schema.NullOr(Timestamp),
  /** Of the secret that was replaced last: its end, or that of the key, may have passed. Null where there is none. */
  former_last4: Schema.NullOr(Schema.String),
  former_expires_at: Schema.NullOr(Timestamp)
})
export type KeySummary = typeof KeySummary.Type

/** The only place where a key stands whole: its owner copies it, nobody can show it again. */
export const NewKey = Schema.Struct({ key: Schema.String, ...KeySummary.fields })
export type NewKey = typeof NewKey.Type

/** Credits that follow from money: paid by card, or gone out again. */
export const Booking = Schema.Struct({
  account_id: Schema.String,
  type: Schema.Literals(["top_up", "auto_recharge", "refund", "adjustment"]),
  /** Negative where money goes out: a refund of a payment, or an adjustment for a dispute. */
  credits: Schema.Int.check(Schema.isBetween({ minimum: -mostCredits, maximum: mostCredits })),
  /** Id of the payment, refund or dispute. With `type` it names the booking for ever. */
  reference: Line,
  note: Line
}).check(
  Schema.makeFilter(({ credits, type }) =>
    credits > 0 || moneyOutOf({ credits, grants: null, type }) > 0
      ? undefined
      : "credits must be more than 0, or less than 0 for a refund or an adjustment"
  )
)
export type Booking = typeof Booking.Type

/** `booked` is false where it was in the ledger before, and nothing was written. */
const Booked = Schema.Struct({ booked: Schema.Boolean, balance_credits: Schema.Int })

const mostEntriesBefore = 1_000

/** Both days included; of all calls, or of one key's, or to one endpoint. */
const AskedUsage = Schema.Struct({
  account_id: Schema.String,
  from: Day,
  to: Day,
  key_id: Schema.optionalKey(Schema.String),
  endpoint: Schema.optionalKey(Schema.String)
})

/** Successful calls of one UTC day, of one key, to one endpoint. Calls that were given back are not counted. */
export const UsageOfDay = Schema.Struct({
  day: Day,
  key_id: Schema.String,
  endpoint: Schema.String,
  calls: Schema.Int,
  /** Credits charged for them. */
  credits: Schema.Int
})
export type UsageOfDay = typeof UsageOfDay.Type

/** What a check of the whole ledger has found: every entry, every balance, every budget. */
export const Verification = Schema.Struct({
  accounts: Schema.Int,
  keys: Schema.Int,
  entries: Schema.Int,
  /** Sum of all balances, or the largest number that a double counts exactly. */
  balance_credits: Schema.Int,
  /** What does not add up, and where; empty where everything does. At most 100 are told. */
  problems: Schema.Array(Schema.String),
  /** What came after the anchor that the ledger was held to: whether it is genuine is unknown. */
  younger_than_anchor: Schema.optionalKey(Schema.Struct({ entries: Schema.Int, records: Schema.Int }))
})
export type Verification = typeof Verification.Type

export const Backup = Schema.Struct({
  /** Absolute path of the copy: a file that can replace `ledger.sqlite`. */
  file: Schema.String,
  entries: Schema.Int,
  bytes: Schema.Int
})
export type Backup = typeof Backup.Type

/** What can be asked, and what is answered; also the wire of the control channel. */
export const operations = {
  createAccount: { input: Schema.Struct({ name: Line }), output: AccountSummary },
  listAccounts: { input: Schema.Struct({}), output: Schema.Array(AccountSummary) },
  account: { input: Schema.Struct({ account_id: Schema.String }), output: AccountSummary },
  creditAccount: {
    input: Schema.Struct({
      account_id: Schema.String,
      credits: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostCredits })),
      note: Line,
      /** When what is left of them ends. They do not end where it is left out. */
      expires_at: Schema.optionalKey(Schema.NullOr(Timestamp))
    }),
    output: AccountSummary
  },
  /** Once for each reference and type, whoever asks how often. */
  book: { input: Booking, output: Booked },
  createKey: {
    input: Schema.Struct({
      account_id: Schema.String,
      name: Line,
      scopes: Scopes,
      budget_credits: BudgetCredits,
      daily_budget_credits: Schema.optionalKey(Schema.NullOr(BudgetCredits)),
      weekly_budget_credits: Schema.optionalKey(Schema.NullOr(BudgetCredits)),
      expires_at: Schema.optionalKey(Schema.NullOr(Timestamp))
    }),
    output: NewKey
  },
  listKeys: { input: Schema.Struct({ account_id: Schema.String }), output: Schema.Array(KeySummary) },
  editKey: {
    input: Schema.Struct({
      key_id: Schema.String,
      name: Schema.optionalKey(Line),
      scopes: Schema.optionalKey(Scopes),
      budget_credits: Schema.optionalKey(BudgetCredits),
      /** Null where the key shall have no such budget. */
      daily_budget_credits: Schema.optionalKey(Schema.NullOr(BudgetCredits)),
      weekly_budget_credits: Schema.optionalKey(Schema.NullOr(BudgetCredits)),
      /** Null where the key shall not end by itself. */
      expires_at: Schema.optionalKey(Schema.NullOr(Timestamp))
    }),
    output: KeySummary
  },
  /** Makes another secret for the key; the former one is accepted for so many hours more. */
  rotateKey: { input: Schema.Struct({ key_id: Schema.String, overlap_hours: OverlapHours }), output: NewKey },
  revokeKey: { input: Schema.Struct({ key_id: Schema.String }), output: KeySummary },
  usage: { input: AskedUsage, output: Schema.Array(UsageOfDay) },
  /** The same added up. */
  summedUsage: { input: AskedUsage, output: SummedUsage },
  /** A page of an account's statement, newest first: entries before a position, or the newest, of some types or of all. */
  entriesBefore: {
    input: Schema.Struct({
      account_id: Schema.String,
      before: Schema.NullOr(Schema.Int),
      limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostEntriesBefore })),
      types: Schema.optional(Schema.Array(Schema.Literals(entryTypes)))
    }),
    output: Schema.Array(Entry)
  },
  /** Held to an anchor where one is given. */
  verify: { input: Schema.Struct({ anchor: Schema.optionalKey(Anchor) }), output: Verification },
  /** Writes a copy of the ledger as it is at one moment into a new file. */
  backup: { input: Schema.Struct({ file: Schema.String }), output: Backup }
} as const

export type Operation = keyof typeof operations
export type Input<O extends Operation> = (typeof operations)[O]["input"]["Type"]
export type Output<O extends Operation> = (typeof operations)[O]["output"]["Type"]

/** No process that holds the ledger answers. */
export class ServerUnreachable extends Schema.TaggedError<ServerUnreachable>()("ServerUnreachable", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}

/** Nothing is left of the copy. */
export class BackupFailed extends Schema.TaggedError<BackupFailed>()("BackupFailed", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The ledger was not backed up to ${this.file}: ${this.problem}`
  }
}

export const AdministrationError = Schema.Union([
  UnknownAccount,
  UnknownKey,
  KeyRevoked,
  KeyExpired,
  ExpiryPassed,
  TooManyKeys,
  ReferenceTaken,
  BalanceOutOfBounds,
  LedgerUnavailable,
  ServerUnreachable,
  BackupFailed
])
export type AdministrationError = typeof AdministrationError.Type

type Operations = {
  readonly [O in Operation]: (input: Input<O>) => Effect.Effect<Output<O>, AdministrationError>
}
interface Statements {
  /** The entries of an account, oldest first. */
  readonly entriesOf: (accountId: string) => Stream.Stream<Entry, AdministrationError>
}

export class Administration extends Context.Service<Administration, Operations & Statements>()(
  "larder/serve/Administration"
) {}
