/**
 * The operations that an operator can run on the ledger, by the command itself or by a running server on its behalf.
 * When an operation returns, its change is durable and applies to the next request.
 */
import { Day, Scope, Timestamp } from "@larder/schemas"
import { Context, type Effect, Schema, type Stream } from "effect"
import { Entry, entryTypes, reversalCredits } from "./chain/records.ts"
import { LedgerUnavailable } from "./errors.ts"
import { AlreadyAdjusted, ReferenceUsed } from "./rules/adjustments.ts"
import {
  BalanceOutOfBounds,
  ExpiryPassed,
  KeyExpired,
  KeyRevoked,
  maxCredits,
  ReferenceTaken,
  TooManyKeys,
  UnknownAccount,
  UnknownKey
} from "./rules/decisions.ts"
import { SummedUsage } from "./summed-usage.ts"

/** Text that operators type, terminals print and the ledger stores: no control characters, no lone surrogates. */
export const PrintableText = Schema.String.check(
  Schema.makeFilter((text) =>
    text.trim() !== "" && /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(text) ? undefined : "must be 1 to 200 printable characters"
  )
)
export const Scopes = Schema.NonEmptyArray(Scope)
const BudgetCredits = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxCredits }))

/** At most 366 days. */
export const OverlapHours = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 8_784 }))

export const AccountSummary = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  created_at: Timestamp,
  /** Null if the account is not suspended. */
  suspended_at: Schema.NullOr(Timestamp),
  balance_credits: Schema.Int
})
export type AccountSummary = typeof AccountSummary.Type

export const KeySummary = Schema.Struct({
  id: Schema.String,
  account_id: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Scope),
  budget_usd: Schema.Finite,
  /** In the current UTC month. */
  spent_usd: Schema.Finite,
  last4: Schema.String,
  created_at: Timestamp,
  revoked_at: Schema.NullOr(Timestamp),
  expires_at: Schema.NullOr(Timestamp),
  /** Of the secret that was last replaced; null if there is none. This secret or the key may have expired. */
  former_last4: Schema.NullOr(Schema.String),
  former_expires_at: Schema.NullOr(Timestamp)
})
export type KeySummary = typeof KeySummary.Type

/** The full key appears only here: its owner copies it now, because it cannot be shown again. */
export const NewKey = Schema.Struct({ key: Schema.String, ...KeySummary.fields })
export type NewKey = typeof NewKey.Type

/** Credits for a card payment, a refund or a dispute. */
export const Booking = Schema.Struct({
  account_id: Schema.String,
  type: Schema.Literals(["top_up", "auto_recharge", "refund", "adjustment"]),
  /** Negative for a refund of a payment, and for the adjustment of a dispute. */
  credits: Schema.Int.check(Schema.isBetween({ minimum: -maxCredits, maximum: maxCredits })),
  /** Id of the payment, refund or dispute. Together with `type` it identifies the booking permanently. */
  reference: PrintableText,
  note: PrintableText
}).check(
  Schema.makeFilter(({ credits, type }) =>
    credits > 0 || reversalCredits({ credits, type }) > 0
      ? undefined
      : "credits must be more than 0, or less than 0 for a refund or an adjustment"
  )
)
export type Booking = typeof Booking.Type

/** `booked` is false if the ledger already contained the booking; then nothing was written. */
const Booked = Schema.Struct({ booked: Schema.Boolean, balance_credits: Schema.Int })

const adjustment = {
  account_id: Schema.String,
  credits: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxCredits })),
  note: PrintableText,
  /** With a reference, a movement is booked once, however often it is requested. */
  reference: Schema.optionalKey(Schema.NullOr(PrintableText)),
  /** True if it is absent. If false, and without a reference, an equal movement of the last day is an error. */
  again: Schema.optionalKey(Schema.Boolean)
}

/** `booked` is false if the reference was already booked, at `booked_at`; then nothing was written. */
const AdjustedAccount = Schema.Struct({ ...AccountSummary.fields, booked: Schema.Boolean, booked_at: Timestamp })

/** Both days are inclusive. Without `key_id` or `endpoint`, all keys or all endpoints are included. */
const UsageQuery = Schema.Struct({
  account_id: Schema.String,
  from: Day,
  to: Day,
  key_id: Schema.optionalKey(Schema.String),
  endpoint: Schema.optionalKey(Schema.String)
})

/** Successful calls of one key to one endpoint on one UTC day. Refunded calls are not counted. */
export const UsageOfDay = Schema.Struct({
  day: Day,
  key_id: Schema.String,
  endpoint: Schema.String,
  calls: Schema.Int,
  credits: Schema.Int
})
export type UsageOfDay = typeof UsageOfDay.Type

/** The result of checking the whole ledger: every entry, every balance, every budget. */
export const Verification = Schema.Struct({
  accounts: Schema.Int,
  keys: Schema.Int,
  entries: Schema.Int,
  /** Sum of all balances, clamped to the integers that a double represents exactly. */
  balance_credits: Schema.Int,
  /** Each problem, and where it is; empty if there are none. At most 100 are reported. */
  problems: Schema.Array(Schema.String)
})
export type Verification = typeof Verification.Type

export const Backup = Schema.Struct({
  /** Absolute path of the copy: a file that can replace `ledger.sqlite`. */
  file: Schema.String,
  entries: Schema.Int,
  bytes: Schema.Int
})
export type Backup = typeof Backup.Type

const suspension = { account_id: Schema.String, note: PrintableText }

/** Inputs and outputs of all operations; also the wire format of the control channel. */
export const operations = {
  createAccount: { input: Schema.Struct({ name: PrintableText }), output: AccountSummary },
  listAccounts: { input: Schema.Struct({}), output: Schema.Array(AccountSummary) },
  account: { input: Schema.Struct({ account_id: Schema.String }), output: AccountSummary },
  /** From then on, every call of the account is refused. The note is in the log of changes. */
  suspendAccount: { input: Schema.Struct(suspension), output: AccountSummary },
  resumeAccount: { input: Schema.Struct(suspension), output: AccountSummary },
  creditAccount: { input: Schema.Struct(adjustment), output: AdjustedAccount },
  /** Takes credits back, also below a balance of 0. */
  debitAccount: { input: Schema.Struct(adjustment), output: AdjustedAccount },
  /** Books once for each reference and type, however often it is requested. */
  book: { input: Booking, output: Booked },
  createKey: {
    input: Schema.Struct({
      account_id: Schema.String,
      name: PrintableText,
      scopes: Scopes,
      budget_credits: BudgetCredits,
      expires_at: Schema.optionalKey(Schema.NullOr(Timestamp))
    }),
    output: NewKey
  },
  listKeys: { input: Schema.Struct({ account_id: Schema.String }), output: Schema.Array(KeySummary) },
  editKey: {
    input: Schema.Struct({
      key_id: Schema.String,
      name: Schema.optionalKey(PrintableText),
      scopes: Schema.optionalKey(Scopes),
      budget_credits: Schema.optionalKey(BudgetCredits),
      /** Null removes the expiry. */
      expires_at: Schema.optionalKey(Schema.NullOr(Timestamp))
    }),
    output: KeySummary
  },
  /** Creates another secret for the key. The replaced secret stays valid for `overlap_hours`. */
  rotateKey: { input: Schema.Struct({ key_id: Schema.String, overlap_hours: OverlapHours }), output: NewKey },
  revokeKey: { input: Schema.Struct({ key_id: Schema.String }), output: KeySummary },
  usage: { input: UsageQuery, output: Schema.Array(UsageOfDay) },
  summedUsage: { input: UsageQuery, output: SummedUsage },
  /** Newest first. Starts at the newest entry if `before` is null. Includes all types if `types` is absent. */
  entriesBefore: {
    input: Schema.Struct({
      account_id: Schema.String,
      before: Schema.NullOr(Schema.Int),
      limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 })),
      types: Schema.optional(Schema.Array(Schema.Literals(entryTypes)))
    }),
    output: Schema.Array(Entry)
  },
  verify: { input: Schema.Struct({}), output: Verification },
  backup: { input: Schema.Struct({ file: Schema.String }), output: Backup }
} as const

export type Operation = keyof typeof operations
export type Input<O extends Operation> = (typeof operations)[O]["input"]["Type"]
export type Output<O extends Operation> = (typeof operations)[O]["output"]["Type"]

/** The process that holds the ledger does not respond, or has a different version. */
export class ServerUnreachable extends Schema.TaggedError<ServerUnreachable>()("ServerUnreachable", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}

/** The partial copy has been removed. */
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
  ReferenceUsed,
  AlreadyAdjusted,
  BalanceOutOfBounds,
  LedgerUnavailable,
  ServerUnreachable,
  BackupFailed
])
export type AdministrationError = typeof AdministrationError.Type

type Operations = {
  readonly [O in Operation]: (input: Input<O>) => Effect.Effect<Output<O>, AdministrationError>
} & {
  /** The entries of an account, oldest first. */
  readonly entriesOf: (accountId: string) => Stream.Stream<Entry, AdministrationError>
}

export class Administration extends Context.Service<Administration, Operations>()("larder/serve/Administration") {}
