/**
 * The ledger as the request pipeline sees it: who calls, may it spend, and the charge that is durable before the answer
 * leaves. One process holds it. What runs on every request is a plain function or one shared promise.
 */
import { Context, Effect, Layer } from "effect"
import { fingerprint } from "../access/api-key.ts"
import { administer } from "./administer.ts"
import { Administration } from "./administration.ts"
import { embeddedStore } from "./embedded-store.ts"
import { makeGroupWriter, type WriterCounters } from "./group-writer.ts"
import { type Admission, type ApiKeyView, charge, type Hold, hold, release, remaining, restore } from "./machine.ts"
import type { LedgerStore } from "./store.ts"

export type { Admission, ApiKeyView, Hold, Refusal } from "./machine.ts"

export interface LedgerCounters extends WriterCounters {
  refused_insufficient_balance: number
  refused_spend_cap_reached: number
}

export interface LedgerAccess {
  /** The key, or undefined where it is unknown or revoked. Keys are looked up by their SHA-256, never compared. */
  readonly authenticate: (token: string) => ApiKeyView | undefined
  /** Sets the price of a call aside, or refuses it. Nothing comes between the check and the hold. */
  readonly hold: (keyId: string, endpoint: string, credits: number, nowMs: number) => Admission
  /** Resolves when the charge is durable. Rejects when it could not be written: the hold is given back, nothing is charged. */
  readonly commit: (hold: Hold, requestId: string) => Promise<void>
  /** Gives a hold back, of a call that failed. Does nothing to one that has ended or is being charged. */
  readonly release: (hold: Hold) => void
  /** Credits that the key can still spend: the smaller of balance and budget left. Never below 0. */
  readonly remaining: (keyId: string, nowMs: number) => number
  /** Whether charges can be written now. */
  readonly writable: () => boolean
  readonly counters: Readonly<LedgerCounters>
  readonly administration: Administration["Service"]
}

const make = Effect.fnUntraced(function* (store: LedgerStore) {
  const state = restore(yield* store.load)
  const counters: LedgerCounters = {
    commits: 0,
    groups: 0,
    durable_seconds: 0,
    failed_groups: 0,
    refused_insufficient_balance: 0,
    refused_spend_cap_reached: 0
  }
  const writer = yield* Effect.acquireRelease(
    Effect.sync(() => makeGroupWriter(state, store, counters)),
    (writer) => Effect.promise(() => writer.close())
  )
  const administration = yield* administer(state, writer, store)

  return Ledger.of({
    authenticate: (token) => state.valid.get(fingerprint(token))?.view,
    hold: (keyId, endpoint, credits, nowMs) => {
      const admission = hold(state, keyId, endpoint, credits, nowMs)
      if ("refused" in admission) counters[`refused_${admission.refused}`]++
      return admission
    },
    commit: (held, requestId) => {
      const draft = charge(state, held, requestId)
      if (draft !== undefined) return writer.charge(held, draft)
      release(held)
      return Promise.reject(new Error(`request ${requestId} has been charged already: its id was used twice`))
    },
    release,
    remaining: (keyId, nowMs) => remaining(state, keyId, nowMs),
    writable: writer.isWritable,
    counters,
    administration
  })
})

export class Ledger extends Context.Service<Ledger, LedgerAccess>()("larder/serve/Ledger") {
  /** Over any store. The scope waits for what is being written. */
  static readonly make = make
  /** In a folder: `$LARDER_HOME/ledger`. */
  static readonly layer = (directory: string) => Layer.effect(Ledger, Effect.flatMap(embeddedStore(directory), make))
  /** What operators may do to the same ledger. */
  static readonly layerAdministration = Layer.effect(
    Administration,
    Effect.map(Ledger, (ledger) => ledger.administration)
  )
}
