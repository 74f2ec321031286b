/**
 * The ledger for the request pipeline: authenticates a caller, decides whether the call may spend, and charges it durably
 * before the response is sent. One process keeps the ledger in a folder (`embedded/`), or many servers share it in
 * PostgreSQL (`postgres/`).
 */
import type { Scope } from "@larder/schemas"
import { Context, Effect, Layer } from "effect"
import { Administration } from "./administration.ts"
import type { HoldRefusal } from "./rules/admission.ts"
import type { ApiKeyView } from "./rules/ledger-state.ts"

export interface RequestedCall {
  readonly endpoint: string
  readonly scope: Scope
  readonly credits: number
}

/**
 * Why an admitted call is refused after its data was read. An embedded ledger never does this; a ledger that several
 * servers share does, if another server or an operator was faster within the call.
 */
export type CaptureRefusal = "unknown_key" | "account_suspended" | "missing_scope" | HoldRefusal
/** If it is `charged`, the charge is durable; otherwise nothing was charged. */
export type CaptureOutcome = "charged" | CaptureRefusal

export interface CaptureOptions {
  /** A charge that waits when it fires is withdrawn, and rejects with its reason; one that is being written is charged. */
  readonly signal?: AbortSignal
  /** Milliseconds that the charge may wait for others, which then share its flush. By default, it does not wait. */
  readonly patience?: number
}

/** A hold on the price of a call. It ends once: captured or released. */
export interface AdmittedCall {
  /** Rejects if the charge could not be written: nothing is charged, or what was charged in doubt is refunded later. */
  readonly capture: (requestId: string, options?: CaptureOptions) => Promise<CaptureOutcome>
  /** Releases the hold of a failed call. Does nothing if the hold has ended or is being charged. */
  readonly release: () => void
}

/** `key_changed`: since the lookup, the key or its account changed, or the secret expired; look it up again. */
export type Admission = { readonly held: AdmittedCall } | { readonly refused: HoldRefusal | "key_changed" }

/** Counted since the start, for metrics. */
export const newCounters = () => ({
  /** Durable charges. */
  charges: 0,
  /** Written groups of charges and other changes. */
  groups: 0,
  /** Their total duration, each measured from the arrival of its first charge or change. */
  durable_seconds: 0,
  /** Groups that could not be written, or have an unknown outcome. */
  failed_groups: 0,
  refused_insufficient_balance: 0,
  refused_monthly_spend_cap_reached: 0
})
export type LedgerCounters = ReturnType<typeof newCounters>

/** If the ledger is unavailable, the promises reject with `LedgerUnavailable`. */
export interface LedgerAccess {
  /** The key, or undefined if it is unknown, revoked or expired. Keys are looked up by their SHA-256, never compared. */
  readonly authenticate: (token: string, nowMs: number) => Promise<ApiKeyView | undefined>
  /** Whether the key is unchanged since it was looked up: only then is a refusal because of its scopes correct. */
  readonly isCurrent: (key: ApiKeyView, nowMs: number) => Promise<boolean>
  /** Holds the price of a call, or refuses the call: one atomic decision over the balance and the key's budget. */
  readonly hold: (key: ApiKeyView, call: RequestedCall, nowMs: number) => Promise<Admission>
  /** Credits that the key can still spend: the smaller of the balance and the rest of the budget. Never below 0. */
  readonly remaining: (key: ApiKeyView, nowMs: number) => number
  readonly writable: () => boolean
  readonly counters: Readonly<LedgerCounters>
  readonly administration: Administration["Service"]
}

export class Ledger extends Context.Service<Ledger, LedgerAccess>()("larder/serve/Ledger") {
  static readonly layerAdministration = Layer.effect(
    Administration,
    Effect.map(Ledger, (ledger) => ledger.administration)
  )
}
