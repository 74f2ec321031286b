/** What goes to the functions of `functions/*.sql` and comes back, as JSON. */
import { Scope } from "@larder/schemas/scopes.ts"
import { Schema } from "effect"
import type { Draft } from "../machine.ts"

export interface HoldAsked {
  readonly account_id: string
  readonly key_id: string
  readonly revision: number
  readonly month: number
  readonly credits: number
}

export interface GroupAsked {
  /** Month of the lookups. */
  readonly month: number
  readonly charges: ReadonlyArray<Draft>
  readonly released: Array<{
    readonly account_id: string
    readonly key_id: string
    readonly month: number
    readonly credits: number
  }>
  /** SHA-256 of keys to look up. */
  readonly keys: ReadonlyArray<string>
  readonly holds: ReadonlyArray<HoldAsked>
}

export const StoredKey = Schema.Struct({
  id: Schema.String,
  account_id: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Scope),
  sha256: Schema.String,
  budget_credits: Schema.Int,
  revision: Schema.Int,
  revoked: Schema.Boolean,
  /** Credits that it can still spend. */
  remaining: Schema.Int
})
export type StoredKey = typeof StoredKey.Type

export const GroupAnswer = Schema.Struct({
  holds: Schema.Array(Schema.Literals(["held", "insufficient_balance", "spend_cap_reached", "key_changed"])),
  keys: Schema.Array(Schema.NullOr(StoredKey)),
  /** What the keys of the group can still spend after it. */
  remaining: Schema.Record(Schema.String, Schema.Int)
})
export type GroupAnswer = typeof GroupAnswer.Type

export interface JoinAsked {
  /** The new name of the server. */
  readonly id: string
  /** The name that it was known by before. */
  readonly previous: string
  /** Request ids of calls that wait for their charge. */
  readonly waiting: ReadonlyArray<string>
  /** Request ids of calls that were answered with an error. */
  readonly answered: ReadonlyArray<string>
}
