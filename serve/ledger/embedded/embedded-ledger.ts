/**
 * The ledger that one process holds: the state in memory, over a store that makes its groups durable. Code that runs on
 * every request is a plain function or one shared promise; nothing runs between the check and the hold.
 */
import { isScope } from "@larder/schemas/scopes.ts"
import { Effect } from "effect"
import { fingerprint } from "../api-key.ts"
import { type Admission, Ledger, noCounts } from "../ledger.ts"
import { chargedTwice } from "../rules/charged-requests.ts"
import { type ApiKeyView, isCurrent, keyWith, type LedgerState, restore } from "../rules/ledger-state.ts"
import { charge, type Hold, hold, release, remaining } from "../rules/machine.ts"
import { administer, type LedgerUser } from "./administer.ts"
import { embeddedStore } from "./embedded-store.ts"
import { type GroupWriter, makeGroupWriter } from "./group-writer.ts"
import { type LedgerFile, openLedgerFile } from "./ledger-file.ts"
import type { LedgerStore } from "./store.ts"

const commit = (state: LedgerState, writer: GroupWriter, held: Hold, requestId: string): Promise<void> => {
  const draft = charge(state, held, requestId)
  if (draft !== undefined) return writer.charge(held, draft)
  release(held)
  return Promise.reject(chargedTwice(requestId))
}

/** Works over any store. Closing the scope waits for pending writes. */
export const ledgerOver = Effect.fnUntraced(function* (store: LedgerStore, user: LedgerUser = "server") {
  const loaded = yield* store.load
  for (const { id, scopes } of loaded.keys) {
    const unknown = scopes.filter((scope) => !isScope(scope))
    if (unknown.length === 0) continue
    yield* Effect.logWarning(`${id} has scopes that this version of Larder does not know; they allow nothing`).pipe(
      Effect.annotateLogs({ scopes: unknown })
    )
  }
  const state = restore(loaded)
  const counters = noCounts()
  const writer = yield* Effect.acquireRelease(
    Effect.sync(() => makeGroupWriter(state, store, counters)),
    (writer) => Effect.promise(() => writer.close())
  )
  const administration = yield* administer(state, writer, store, user)

  const admit = (key: ApiKeyView, endpoint: string, credits: number, nowMs: number): Admission => {
    if (!isCurrent(state.keys.get(key.id), key, nowMs)) return { refused: "key_changed" }
    const admission = hold(state, key.id, endpoint, credits, nowMs)
    if ("refused" in admission) {
      counters[`refused_${admission.refused}`]++
      return admission
    }
    const held = admission.hold
    return {
      held: {
        commit: async (requestId) => commit(state, writer, held, requestId),
        release: () => release(held)
      }
    }
  }

  return Ledger.of({
    authenticate: async (token, nowMs) => keyWith(state, fingerprint(token), nowMs),
    isCurrent: async (key, nowMs) => isCurrent(state.keys.get(key.id), key, nowMs),
    hold: async (key, endpoint, credits, nowMs) => admit(key, endpoint, credits, nowMs),
    remaining: (key, nowMs) => remaining(state, key.id, nowMs),
    writable: writer.isWritable,
    counters,
    administration
  })
})

/** In a file that is already open. */
export const ledgerIn = (file: LedgerFile["Service"], user: LedgerUser = "server") =>
  Effect.flatMap(embeddedStore(file), (store) => ledgerOver(store, user))

/** In a folder: `$LARDER_HOME/ledger`. */
export const embeddedLedger = (directory: string) => Effect.flatMap(openLedgerFile(directory), (file) => ledgerIn(file))
