/**
 * The ledger that one process holds: the state in memory, over a store that makes its groups durable. Nothing runs
 * between the check and the hold of a call.
 */
import { isScope } from "@larder/schemas"
import { Effect } from "effect"
import { fingerprint } from "../api-key.ts"
import { type Admission, Ledger, newCounters, type RequestedCall } from "../ledger.ts"
import { draftCharge, type Hold, hold, releaseHold, remaining } from "../rules/admission.ts"
import {
  type ApiKeyView,
  duplicateRequestIdError,
  findKey,
  isCurrent,
  type LedgerState,
  requireRecord,
  restoreState
} from "../rules/ledger-state.ts"
import { administerEmbedded } from "./administer-embedded.ts"
import { type LedgerStore, openEmbeddedStore } from "./embedded-store.ts"
import { type GroupWriter, makeGroupWriter } from "./group-writer.ts"
import { type LedgerFile, openLedgerFile } from "./ledger-file.ts"

const capture = async (state: LedgerState, writer: GroupWriter, hold: Hold, requestId: string, patience: number) => {
  const draft = draftCharge(state, hold, requestId)
  if (draft !== undefined) {
    await writer.charge(hold, draft, patience)
    return "charged" as const
  }
  releaseHold(hold)
  throw duplicateRequestIdError(requestId)
}

/** Works over any store. Closing the scope waits for pending writes. */
export const openLedgerOver = Effect.fnUntraced(function* (store: LedgerStore) {
  const loaded = yield* store.load
  for (const { id, scopes } of loaded.keys) {
    const unknown = scopes.filter((scope) => !isScope(scope))
    if (unknown.length === 0) continue
    yield* Effect.logWarning(`${id} has scopes that this version of Larder does not include; they allow nothing`).pipe(
      Effect.annotateLogs({ scopes: unknown })
    )
  }
  const state = restoreState(loaded)
  const counters = newCounters()
  const writer = yield* Effect.acquireRelease(
    Effect.sync(() => makeGroupWriter(state, store, counters)),
    (writer) => Effect.promise(() => writer.close())
  )
  const administration = yield* administerEmbedded(state, writer, store)

  const admit = async (key: ApiKeyView, { credits, endpoint }: RequestedCall, nowMs: number): Promise<Admission> => {
    if (!isCurrent(state.keys.get(key.id), key, nowMs)) return { refused: "key_changed" }
    const admission = hold(state, key.id, endpoint, credits, nowMs)
    if ("refused" in admission) {
      counters[`refused_${admission.refused}`]++
      return admission
    }
    const held = admission.hold
    return {
      held: {
        capture: (requestId, { patience = 0 } = {}) => capture(state, writer, held, requestId, patience),
        release: () => releaseHold(held)
      }
    }
  }

  return Ledger.of({
    authenticate: async (token, nowMs) => findKey(state, fingerprint(token), nowMs),
    isCurrent: async (key, nowMs) => isCurrent(state.keys.get(key.id), key, nowMs),
    hold: admit,
    remaining: (key, nowMs) => remaining(requireRecord(state.keys, key.id), nowMs),
    writable: writer.isWritable,
    counters,
    administration
  })
})

export const openLedgerInFile = (file: LedgerFile["Service"]) => Effect.flatMap(openEmbeddedStore(file), openLedgerOver)

/** The same for a server, which starts its threads at once. */
export const openServerLedger = Effect.fnUntraced(function* (file: LedgerFile["Service"]) {
  const store = yield* openEmbeddedStore(file)
  const [ledger] = yield* Effect.all([openLedgerOver(store), store.startThreads], { concurrency: "unbounded" })
  return ledger
})

/** `directory` is `$LARDER_HOME/ledger`. */
export const openEmbeddedLedger = (directory: string) =>
  Effect.flatMap(openLedgerFile(directory), (file) => openLedgerInFile(file))
