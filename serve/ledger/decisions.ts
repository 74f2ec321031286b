/**
 * What an operator may do to accounts and keys. Each function looks at a record and says which records follow, or why
 * none do; nothing is changed before those records are durable. Pure, like the machine, and the same for every store.
 */
import type { Scope } from "@larder/schemas/scopes.ts"
import { Result, Schema } from "effect"
import type { Draft } from "./machine.ts"
import { timestampOf } from "./moments.ts"
import type { Account, ApiKey, Entry } from "./records.ts"

export class UnknownAccount extends Schema.TaggedError<UnknownAccount>()("UnknownAccount", { id: Schema.String }) {
  override get message() {
    return `There is no account ${this.id}. List them with: larder-serve accounts list`
  }
}

export class UnknownKey extends Schema.TaggedError<UnknownKey>()("UnknownKey", { id: Schema.String }) {
  override get message() {
    return `There is no key ${this.id}. --key wants the id of a key (key_…), as in: larder-serve keys list --account ID`
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

/** Records that become durable together. */
export interface Decision {
  readonly accounts: ReadonlyArray<Account>
  readonly keys: ReadonlyArray<ApiKey>
  readonly entries: ReadonlyArray<Draft>
}

/** 5.00 USD, no card needed. */
const creditsAtBirth = 5_000

const booking = (type: Entry["type"], accountId: string, credits: number, note: string, now: number): Draft => ({
  account_id: accountId,
  type,
  occurred_at: timestampOf(now),
  key_id: null,
  endpoint: null,
  credits,
  budget_credits: null,
  request_id: null,
  note
})

export const openAccount = (id: string, name: string, now: number): Decision => ({
  accounts: [{ id, name, created_at: timestampOf(now) }],
  keys: [],
  entries: [booking("grant", id, creditsAtBirth, "starting balance", now)]
})

/**
 * Credits that an operator gives by hand are an `adjustment`: a `grant` is the starting balance and nothing else, `top_up`
 * and `auto_recharge` tell of money that a card processor has moved, and a `refund` gives back what was paid.
 */
export const creditAccount = (accountId: string, credits: number, note: string, now: number): Decision => ({
  accounts: [],
  keys: [],
  entries: [booking("adjustment", accountId, credits, note, now)]
})

export const issueKey = (key: Omit<ApiKey, "created_at" | "revoked_at" | "revision">, now: number): Decision =>
  changed({ ...key, created_at: timestampOf(now), revoked_at: null, revision: 1 })

export interface KeyChanges {
  readonly name?: string | undefined
  readonly scopes?: ReadonlyArray<Scope> | undefined
  readonly budget_credits?: number | undefined
}

/** The key itself, its fingerprint and its account stay. */
export const editKey = (key: ApiKey, changes: KeyChanges): Result.Result<Decision, KeyRevoked> =>
  key.revoked_at === null
    ? Result.succeed(
        changed({
          ...key,
          name: changes.name ?? key.name,
          scopes: changes.scopes ?? key.scopes,
          budget_credits: changes.budget_credits ?? key.budget_credits,
          revision: key.revision + 1
        })
      )
    : Result.fail(new KeyRevoked({ id: key.id, revoked_at: key.revoked_at }))

/** Revoking twice changes nothing: the first moment stays. */
export const revokeKey = (key: ApiKey, now: number): Decision =>
  key.revoked_at === null
    ? changed({ ...key, revoked_at: timestampOf(now), revision: key.revision + 1 })
    : { accounts: [], keys: [], entries: [] }

const changed = (key: ApiKey): Decision => ({ accounts: [], keys: [key], entries: [] })

/** A key itself, given for its id, is a secret and is not repeated. */
export const unknownKey = (id: string) => new UnknownKey({ id: id.startsWith("svc_data_") ? "svc_data_…" : id })
