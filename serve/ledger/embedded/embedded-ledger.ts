/**
 * The ledger that one process holds: the state in memory, over a store that makes its groups durable. Nothing runs
 * between the check and the hold of a call.
 *
 * Group commit: what arrives in one iteration of the event loop, or while the last group is being written, becomes
 * durable together. A group shares one promise, and no fiber runs per charge, which matters at 30,000 charges a second.
 */
import { isScope } from "@larder/schemas"
import { Effect } from "effect"
import { fingerprint } from "../api-key.ts"
import { chainEntries, type Draft } from "../chain/chain.ts"
import type { Account, ApiKey } from "../chain/records.ts"
import { type Admission, Ledger, type LedgerCounters, newCounters } from "../ledger.ts"
import {
  type AdmissionRequest,
  admit,
  captureHold,
  draftCharge,
  type Hold,
  releaseCharging,
  releaseHold,
  remaining
} from "../rules/admission.ts"
import type { Decision } from "../rules/decisions.ts"
import {
  applyGroup,
  duplicateRequestIdError,
  findKey,
  type Group,
  isCurrent,
  type LedgerState,
  requireRecord,
  restoreState
} from "../rules/ledger-state.ts"
import { administerEmbedded } from "./administer.ts"
import { type LedgerStore, openEmbeddedStore } from "./embedded-store.ts"
import { type LedgerFile, openLedgerFile } from "./ledger-file.ts"

const newGroup = () => ({
  accounts: [] as Account[],
  keys: [] as ApiKey[],
  drafts: [] as Draft[],
  holds: [] as Hold[],
  durable: Promise.withResolvers<void>(),
  since: performance.now()
})
type PendingGroup = ReturnType<typeof newGroup>

export type GroupWriter = ReturnType<typeof makeGroupWriter>

const retryDelay = 1_000

const makeGroupWriter = (state: LedgerState, store: LedgerStore, counters: LedgerCounters) => {
  let pending: PendingGroup | undefined
  let writing: Promise<void> | undefined
  let isWritable = true
  let probe: NodeJS.Timeout | undefined

  const openGroup = (): PendingGroup => {
    if (pending !== undefined) return pending
    if (writing === undefined) setImmediate(write)
    pending = newGroup()
    return pending
  }

  const write = () => {
    const group = pending
    if (group === undefined) return
    pending = undefined
    const { accounts, keys } = group
    const written = { accounts, keys, entries: chainEntries(state, group.drafts) }
    writing = store.append(written).then(
      () => succeed(group, written),
      (error) => fail(group, error)
    )
  }

  const succeed = (group: PendingGroup, written: Group) => {
    applyGroup(state, written)
    for (const hold of group.holds) captureHold(hold)
    counters.commits += group.holds.length
    counters.groups++
    counters.durable_seconds += (performance.now() - group.since) / 1_000
    isWritable = true
    scheduleNext()
    group.durable.resolve()
  }

  const fail = (group: PendingGroup, error: unknown) => {
    for (const hold of group.holds) releaseCharging(hold)
    counters.failed_groups++
    isWritable = false
    clearTimeout(probe)
    probe = setTimeout(() => openGroup().durable.promise.catch(() => {}), retryDelay).unref() // a failure schedules the next
    scheduleNext()
    group.durable.reject(error)
  }

  const scheduleNext = () => {
    writing = undefined
    if (pending !== undefined) setImmediate(write)
  }

  return {
    /** Resolves when the charge is durable. Rejects if it could not be written; the hold is then released. */
    charge: (hold: Hold, draft: Draft): Promise<void> => {
      const group = openGroup()
      group.drafts.push(draft)
      group.holds.push(hold)
      return group.durable.promise
    },
    /** Resolves when the decision is durable and in effect. */
    decide: ({ accounts, keys, entries }: Decision): Promise<void> => {
      const group = openGroup()
      group.accounts.push(...accounts)
      group.keys.push(...keys)
      group.drafts.push(...entries)
      return group.durable.promise
    },
    /** Whether the last group could be written. After a failure, an empty group is tried every second. */
    isWritable: () => isWritable,
    /** Waits for pending writes. Nothing must be added afterwards. */
    close: async () => {
      while (pending !== undefined || writing !== undefined) {
        await (pending?.durable.promise ?? writing)?.catch(() => {})
      }
      clearTimeout(probe)
    }
  }
}

const commit = async (state: LedgerState, writer: GroupWriter, hold: Hold, requestId: string) => {
  const draft = draftCharge(state, hold, requestId)
  if (draft !== undefined) {
    await writer.charge(hold, draft)
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

  const admitCall = (request: AdmissionRequest): Admission => {
    const admission = admit(state, request)
    if ("hold" in admission) {
      const held = admission.hold
      return {
        held: {
          commit: (requestId) => commit(state, writer, held, requestId),
          release: () => releaseHold(held)
        }
      }
    }
    if (admission.refused !== "key_changed") counters[`refused_${admission.refused}`]++
    return admission
  }

  return Ledger.of({
    authenticate: async (token, nowMs) => findKey(state, fingerprint(token), nowMs),
    isCurrent: async (key, nowMs) => isCurrent(state.keys.get(key.id), key, nowMs),
    hold: async (key, { credits, endpoint }, nowMs) => admitCall({ key, endpoint, credits, nowMs }),
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
