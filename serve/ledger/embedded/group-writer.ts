/**
 * Group commit: what arrives in one iteration of the event loop, or while the last group is being written, becomes
 * durable together. A flush blocks the event loop, so a group whose charges may all wait also takes those of further
 * iterations, while the loop is busy. A group shares one promise, and no fiber runs per charge, which matters at 30,000
 * charges a second.
 */
import { chainEntries, type Draft } from "../chain/chain.ts"
import type { Account, ApiKey } from "../chain/records.ts"
import type { LedgerCounters } from "../ledger.ts"
import { endHold, type Hold } from "../rules/admission.ts"
import type { Decision } from "../rules/decisions.ts"
import { applyGroup, type Group, type LedgerState } from "../rules/ledger-state.ts"
import type { LedgerStore } from "./embedded-store.ts"

const newGroup = (since: number, writeBy: number) => ({
  accounts: [] as Account[],
  keys: [] as ApiKey[],
  drafts: [] as Draft[],
  holds: [] as Hold[],
  durable: Promise.withResolvers<void>(),
  since,
  /** One of its charges or changes waits no longer. */
  writeBy
})
type PendingGroup = ReturnType<typeof newGroup>

const retryDelay = 1_000
/** In milliseconds. In a shorter iteration of the event loop, no call was read: waiting would gather nothing. */
const busyIteration = 1

export const makeGroupWriter = (
  state: LedgerState,
  store: LedgerStore,
  counters: LedgerCounters,
  now = () => performance.now()
) => {
  let pending: PendingGroup | undefined
  let writing: Promise<void> | undefined
  let isWritable = true
  let probe: NodeJS.Timeout | undefined

  /** For a charge or change that waits for others at most `patience` milliseconds. */
  const openGroup = (patience = 0): PendingGroup => {
    const at = now()
    if (pending !== undefined) {
      pending.writeBy = Math.min(pending.writeBy, at + patience)
      return pending
    }
    if (writing === undefined) setImmediate(writeWhenDue)
    pending = newGroup(at, at + patience)
    return pending
  }

  /** Runs at the end of an iteration of the event loop; `previous` is when it ran at the end of the one before. */
  const writeWhenDue = (previous = Number.NEGATIVE_INFINITY) => {
    const at = now()
    const isBusy = at - previous >= busyIteration
    if (isBusy && pending !== undefined && at < pending.writeBy) setImmediate(writeWhenDue, at)
    else write()
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
    for (const hold of group.holds) endHold(hold, "captured")
    counters.charges += group.holds.length
    counters.groups++
    counters.durable_seconds += (now() - group.since) / 1_000
    isWritable = true
    scheduleNext()
    group.durable.resolve()
  }

  const fail = (group: PendingGroup, error: unknown) => {
    for (const hold of group.holds) endHold(hold, "released")
    counters.failed_groups++
    isWritable = false
    clearTimeout(probe)
    probe = setTimeout(() => openGroup().durable.promise.catch(() => {}), retryDelay).unref() // a failure schedules the next
    scheduleNext()
    group.durable.reject(error)
  }

  const scheduleNext = () => {
    writing = undefined
    if (pending !== undefined) setImmediate(writeWhenDue)
  }

  return {
    /**
     * Resolves when the charge is durable. Rejects if it could not be written; the hold is then released. `patience` is as
     * in `CaptureOptions`.
     */
    charge: (hold: Hold, draft: Draft, patience: number): Promise<void> => {
      const group = openGroup(patience)
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

export type GroupWriter = ReturnType<typeof makeGroupWriter>
