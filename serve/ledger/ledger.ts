/**
 * The ledger as the request pipeline sees it: who calls, may it spend, and the charge that is durable before the answer
 * leaves. It is kept in a folder by this process alone (`embedded/`), or in PostgreSQL by many servers (`postgres/`).
 */
import { Context, Effect, Layer } from "effect"
import { Administration } from "./administration.ts"
import type { ApiKeyView } from "./ledger-state.ts"
import type { Refusal } from "./machine.ts"

/** The price of one admitted call, set aside. It ends once: committed or released. */
export interface Held {
  /** Resolves when the charge is durable. Rejects when it could not be written: the hold is given back, nothing is charged. */
  readonly commit: (requestId: string) => Promise<void>
  /** Gives the hold back, of a call that failed. Does nothing to one that has ended or is being charged. */
  readonly release: () => void
}

/** `key_changed`: the key was edited or revoked, or its secret has ended, since it was looked up; look again. */
export type Admission = { readonly held: Held } | { readonly refused: Refusal | "key_changed" }

/** Counted since the start, for metrics. */
export interface LedgerCounters {
  /** Durable charges. */
  commits: number
  /** Groups that were written, of charges and whatever else; `durable_seconds` is the time they took, from their first part on. */
  groups: number
  durable_seconds: number
  /** Groups that could not be written, or got no answer. */
  failed_groups: number
  refused_insufficient_balance: number
  refused_daily_spend_cap_reached: number
  refused_weekly_spend_cap_reached: number
  refused_spend_cap_reached: number
}

/** Where the ledger cannot be asked, the promises reject with `LedgerUnavailable`. */
export interface LedgerAccess {
  /** The key, or undefined where it is unknown, revoked or expired. Keys are looked up by their SHA-256, never compared. */
  readonly authenticate: (token: string, nowMs: number) => Promise<ApiKeyView | undefined>
  /** Whether the key is still as it was looked up: a refusal that its scopes gave is true only then. */
  readonly isCurrent: (key: ApiKeyView, nowMs: number) => Promise<boolean>
  /** Sets the price of a call aside, or refuses it: one atomic decision over the balance and the key's budgets. */
  readonly hold: (key: ApiKeyView, endpoint: string, credits: number, nowMs: number) => Promise<Admission>
  /** Credits that the key can still spend: the smaller of balance and budgets left. Never below 0. */
  readonly remaining: (key: ApiKeyView, nowMs: number) => number
  /** Whether charges can be written now. */
  readonly writable: () => boolean
  readonly counters: Readonly<LedgerCounters>
  readonly administration: Administration["Service"]
}

export const noCounts = (): LedgerCounters => ({
  commits: 0,
  groups: 0,
  durable_seconds: 0,
  failed_groups: 0,
  refused_insufficient_balance: 0,
  refused_daily_spend_cap_reached: 0,
  refused_weekly_spend_cap_reached: 0,
  refused_spend_cap_reached: 0
})

export class Ledger extends Context.Service<Ledger, LedgerAccess>()("larder/serve/Ledger") {
  /** What operators may do to the same ledger. */
  static readonly layerAdministration = Layer.effect(
    Administration,
    Effect.map(Ledger, (ledger) => ledger.administration)
  )
}
