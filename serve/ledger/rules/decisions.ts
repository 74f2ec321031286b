/**
 * The changes that an operator can make to accounts and keys, for every store. Each function is pure: it takes a record
 * and returns the records to write, or why it refuses. Nothing changes before those records are durable.
 */
import { Result, Schema } from "effect"
import type { Draft } from "../chain/chain.ts"
import { type Account, type ApiKey, type Entry, plainKey } from "../chain/records.ts"
import { timestampOf } from "../utc-calendar.ts"

export class UnknownAccount extends Schema.TaggedError<UnknownAccount>()("UnknownAccount", { id: Schema.String }) {
  override get message() {
    return `There is no account ${this.id}. List them with: larder-serve accounts list`
  }
}

export class UnknownKey extends Schema.TaggedError<UnknownKey>()("UnknownKey", { id: Schema.String }) {
  override get message() {
    return `There is no key ${this.id}. --key takes the id of a key (key_…). List them with: larder-serve keys list --account ID`
  }
}

export class KeyRevoked extends Schema.TaggedError<KeyRevoked>()("KeyRevoked", {
  id: Schema.String,
  revoked_at: Schema.String
}) {
  override get message() {
    return `Key ${this.id} was revoked at ${this.revoked_at}, which is permanent. Create another one with: larder-serve keys create`
  }
}

export class KeyExpired extends Schema.TaggedError<KeyExpired>()("KeyExpired", {
  id: Schema.String,
  expires_at: Schema.String
}) {
  override get message() {
    return `Key ${this.id} expired at ${this.expires_at}, and another secret would be refused, too. Give it a later expiry first, with: larder-serve keys edit --key ${this.id} --expires-at …`
  }
}

export class ExpiryPassed extends Schema.TaggedError<ExpiryPassed>()("ExpiryPassed", { expires_at: Schema.String }) {
  override get message() {
    return `A key cannot be made to expire at ${this.expires_at}, because that time has passed. Nothing was changed.`
  }
}

/** Keeps the list of an account's keys short enough to show and to scan. */
export const maxKeys = 1_000

export class TooManyKeys extends Schema.TaggedError<TooManyKeys>()("TooManyKeys", { account_id: Schema.String }) {
  override get message() {
    return `Account ${this.account_id} has ${maxKeys.toLocaleString("en-US")} keys that are not revoked, and cannot have more. Revoke one that is no longer needed with: larder-serve keys revoke --key ID`
  }
}

export class ReferenceTaken extends Schema.TaggedError<ReferenceTaken>()("ReferenceTaken", {
  type: Schema.String,
  reference: Schema.String
}) {
  override get message() {
    return `${this.type} ${this.reference} is already booked for another account. Nothing was booked.`
  }
}

/** Balances, budgets and bookings stay within this distance of 0 (nine trillion dollars), so doubles are exact. */
export const maxCredits = 9_000_000_000_000_000

export class BalanceOutOfBounds extends Schema.TaggedError<BalanceOutOfBounds>()("BalanceOutOfBounds", {
  account_id: Schema.String,
  balance_credits: Schema.Int,
  credits: Schema.Int
}) {
  override get message() {
    return `The balance of account ${this.account_id} is ${this.balance_credits} credits, and ${this.credits} more would exceed the limits of a balance, ${-maxCredits} to ${maxCredits}. Nothing was booked.`
  }
}

/** Records that become durable together. An account or key that already exists is replaced. */
export interface Decision {
  readonly accounts: ReadonlyArray<Account>
  readonly keys: ReadonlyArray<ApiKey>
  readonly entries: ReadonlyArray<Draft>
}

type CreditMovement = Pick<Entry, "account_id" | "type" | "credits"> & { readonly note: string }

export const makeDraft = (
  { account_id, credits, note, type }: CreditMovement,
  now: number,
  request_id: string | null = null
): Draft => ({
  account_id,
  type,
  occurred_at: timestampOf(now),
  key_id: null,
  endpoint: null,
  credits,
  budget_credits: null,
  request_id,
  note
})

/** An account to book for. */
export interface AccountBalance {
  readonly id: string
  readonly balance_credits: number
}

const decideEntry = (
  { balance_credits, id }: AccountBalance,
  draft: Draft
): Result.Result<Decision, BalanceOutOfBounds> =>
  Math.abs(balance_credits + draft.credits) <= maxCredits
    ? Result.succeed({ accounts: [], keys: [], entries: [draft] })
    : Result.fail(new BalanceOutOfBounds({ account_id: id, balance_credits, credits: draft.credits }))

/**
 * Credits that an operator adds, or takes back (negative), are an `adjustment`. A `grant` is only the starting balance,
 * `top_up` and `auto_recharge` are card payments, and a `refund` returns the price of a call or a payment.
 */
export const creditAccount = (
  account: AccountBalance,
  {
    credits,
    note,
    request_id
  }: { readonly credits: number; readonly note: string; readonly request_id?: string | null },
  now: number
): Result.Result<Decision, BalanceOutOfBounds> =>
  decideEntry(account, makeDraft({ account_id: account.id, type: "adjustment", credits, note }, now, request_id))

/** The refund also reduces the spending of its month. */
export const refundCall = (charge: Entry): Draft => ({
  ...charge,
  type: "refund",
  credits: -charge.credits,
  budget_credits: null,
  note: "the call was answered with an error"
})

export const nothingToWrite: Decision = { accounts: [], keys: [], entries: [] }

/** `bookedAccount` is the account that already has an entry with this reference and type. */
export const bookOnce = (
  account: AccountBalance,
  movement: CreditMovement & { readonly reference: string },
  bookedAccount: string | undefined,
  now: number
): Result.Result<Decision, ReferenceTaken | BalanceOutOfBounds> => {
  const { account_id, reference, type } = movement
  if (bookedAccount === undefined) return decideEntry(account, makeDraft(movement, now, reference))
  return bookedAccount === account_id
    ? Result.succeed(nothingToWrite)
    : Result.fail(new ReferenceTaken({ type, reference }))
}

const hasPassed = (time: string | null, now: number): time is string => time !== null && Date.parse(time) <= now

type NewKeySettings = Pick<ApiKey, "id" | "account_id" | "sha256" | "last4" | "name" | "scopes" | "budget_credits"> &
  Partial<KeySettings>

/** `unrevokedKeys` is the number of the account's keys that are not revoked. */
export const issueKey = (
  key: NewKeySettings,
  unrevokedKeys: number,
  now: number
): Result.Result<Decision, TooManyKeys | ExpiryPassed> => {
  const { account_id, expires_at = null } = key
  if (hasPassed(expires_at, now)) return Result.fail(new ExpiryPassed({ expires_at }))
  if (unrevokedKeys >= maxKeys) return Result.fail(new TooManyKeys({ account_id }))
  const times = { created_at: timestampOf(now), revoked_at: null, revision: 1 }
  return Result.succeed(decideKey({ ...plainKey, ...key, ...times }))
}

/** The settings of a key that can be changed. The expiry is null if the key has none. */
type KeySettings = Pick<ApiKey, "name" | "scopes" | "budget_credits" | "expires_at">

/** The id, the fingerprint and the account of the key stay the same. An expired key can be given a later expiry. */
export const editKey = (
  key: ApiKey,
  changes: Partial<KeySettings>,
  now: number
): Result.Result<Decision, KeyRevoked | ExpiryPassed> => {
  const { id, revoked_at } = key
  if (revoked_at !== null) return Result.fail(new KeyRevoked({ id, revoked_at }))
  const { expires_at = null } = changes
  if (hasPassed(expires_at, now)) return Result.fail(new ExpiryPassed({ expires_at }))
  return Result.succeed(decideKey({ ...key, ...changes, revision: key.revision + 1 }))
}

/**
 * Creates another secret for the same key. The replaced secret stays valid for a while, so that programs can switch
 * over. A secret that was replaced earlier stops working immediately: a key has at most two secrets.
 */
export const rotateKey = (
  key: ApiKey,
  secret: Pick<ApiKey, "sha256" | "last4">,
  overlapHours: number,
  now: number
): Result.Result<Decision, KeyRevoked | KeyExpired> => {
  const { expires_at, id, last4, revision, revoked_at, sha256 } = key
  if (revoked_at !== null) return Result.fail(new KeyRevoked({ id, revoked_at }))
  if (hasPassed(expires_at, now)) return Result.fail(new KeyExpired({ id, expires_at }))
  const former =
    overlapHours === 0
      ? { former_sha256: null, former_last4: null, former_expires_at: null }
      : {
          former_sha256: sha256,
          former_last4: last4,
          former_expires_at: timestampOf(now + Math.round(overlapHours * 3_600_000))
        }
  return Result.succeed(decideKey({ ...key, ...secret, ...former, revision: revision + 1 }))
}

/** Revoking a key twice changes nothing: the first timestamp stays. */
export const revokeKey = (key: ApiKey, now: number): Decision =>
  key.revoked_at === null
    ? decideKey({ ...key, revoked_at: timestampOf(now), revision: key.revision + 1 })
    : nothingToWrite

const decideKey = (key: ApiKey): Decision => ({ accounts: [], keys: [key], entries: [] })

/** If the caller passes a key instead of its id, the error does not repeat it: a key is a secret. */
export const keyNotFound = (id: string) => new UnknownKey({ id: id.startsWith("svc_data_") ? "svc_data_…" : id })
