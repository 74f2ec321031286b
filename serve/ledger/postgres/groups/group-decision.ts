/**
 * Decides a group while the database locks its accounts, with the rules in `admission.ts`: which calls are held, what is
 * charged, which leases are taken, kept, returned or requested. Nothing takes effect before it is written.
 */
import { chainEntries } from "../../chain/chain.ts"
import { type AdmissionOutcome, type Hold, releaseHold } from "../../rules/admission.ts"
import type { MonthOfKey } from "../../rules/spending.ts"
import { monthOf } from "../../utc-calendar.ts"
import { holdingName, type KnownAccounts } from "../leases/known-accounts.ts"
import type { LeasePolicy, UseCounts } from "../leases/lease-rules.ts"
import type { AccountRead, GroupChanges, GroupRead, LeaseChange, ReadRequest } from "../sql/statements.ts"
import type { Holding } from "../sql/write-group.ts"
import { accountOfCharge, accountOfHold, accountsOf, type CallGroup } from "./group.ts"
import { addToSlice, changeSlice, type PendingSlice, planSlice } from "./slices.ts"

export interface GroupDecision {
  readonly changes: GroupChanges | undefined
  readonly entries: GroupChanges["entries"]
  /** The outcomes of the group's holds, in order; `deferred` if another server decides. */
  readonly outcomes: ReadonlyArray<AdmissionOutcome | "deferred">
  readonly holdings: ReadonlyMap<string, ReadonlyMap<string, Holding>>
  /** Accounts that the server leases from now on. */
  readonly leased: ReadonlyArray<string>
  readonly sliced: ReadonlyArray<PendingSlice>
  readonly read: GroupRead
  readonly months: ReadonlyArray<number>
}

/** `now` is the time of lookups. */
export const listReads = (group: CallGroup, now: number): ReadRequest => ({
  accounts: accountsOf(group).toSorted(),
  keys: [
    ...new Set([
      ...group.holds.map(({ request }) => request.key.id),
      ...group.charges.map(({ request }) => request.hold.key.record.id),
      ...group.byId.keys()
    ])
  ],
  sha256: [...group.bySha256.keys()],
  months: [
    ...new Set([
      monthOf(now),
      ...group.holds.map(({ request }) => monthOf(request.nowMs)),
      ...group.charges.map(({ request }) => request.hold.month.month)
    ])
  ]
})

const isDifferent = (before: Holding | undefined, { credits, reserved }: Holding) =>
  before?.credits !== credits || before.reserved !== reserved

/** The rows that bring the database up to date with what the server holds. A heartbeat deletes rows of 0 credits. */
export const findDifferences = (
  before: ReadonlyMap<string, Holding>,
  after: ReadonlyMap<string, Holding>
): ReadonlyArray<Holding> => [
  ...[...after.values()].filter((holding) => isDifferent(before.get(holdingName(holding)), holding)),
  ...[...before].flatMap(([name, holding]) => (after.has(name) ? [] : [{ ...holding, credits: 0, reserved: 0 }]))
]

const noHoldings: ReadonlyMap<string, Holding> = new Map()

export const decideGroup = (
  group: CallGroup,
  read: GroupRead,
  months: ReadonlyArray<number>,
  context: {
    readonly member: string
    readonly known: KnownAccounts
    readonly uses: UseCounts
    readonly leasePolicy: LeasePolicy
  }
): GroupDecision => {
  const { leasePolicy, known, member, uses } = context
  const accounts = new Map(read.accounts.map((account) => [account.record.id, account]))
  known.refresh(read, months)
  const isHeldByOthers = (id: string) => read.held.some(({ account_id }) => account_id === id)
  const isLeasedByOther = (id: string) => {
    const account = accounts.get(id)
    return account?.is_leased === true && account.leased_by !== member
  }

  const slicesOfOthers = Map.groupBy(
    read.slices.filter(({ server_id }) => server_id !== member),
    ({ account_id }) => account_id
  )
  const recalled = new Set<string>()
  const outcomes = group.holds.map(({ request }) => {
    const { key, nowMs } = request
    const id = key.account_id
    if (isLeasedByOther(id) || recalled.has(id)) return "deferred"
    const decided = known.decide(request)
    // credits that others have reserved, but hold for no call, are still available
    if (!("refused" in decided) || decided.refused === "key_changed" || !slicesOfOthers.has(id)) return decided
    const { refused } = decided
    const isRecallUseful =
      refused === "insufficient_balance"
        ? isHeldByOthers(id)
        : read.held.some(({ key_id, month }) => key_id === key.id && month === monthOf(nowMs))
    if (!isRecallUseful) return decided
    recalled.add(id)
    return "deferred"
  })
  const admitted = outcomes.flatMap((outcome) => (outcome !== "deferred" && "hold" in outcome ? [outcome.hold] : []))
  const chargingHolds = new Set<Hold>(group.charges.map(({ request }) => request.hold))
  const entries = chainEntries(
    known.state(),
    group.charges.map(({ request }) => request.draft)
  )

  const charged = new Set(group.charges.map(accountOfCharge))
  const called = new Set([...charged, ...group.holds.map(accountOfHold)])
  /** If the clock of the database was set back, earlier events count as long ago. */
  const isRecent = (ms: number | null) => ms !== null && ms >= 0 && ms < leasePolicy.sharedDuration
  const mayLease = (id: string, { lease_asked, shared_for, used_by }: AccountRead) => {
    if (group.returned.has(id) || lease_asked || isHeldByOthers(id)) return false
    if (known.isLeased(id)) return true
    const wasShared = (used_by !== null && used_by !== member) || isRecent(shared_for)
    return uses.isFrequent(id) && !wasShared
  }

  const maySlice = (id: string, { recalled_for, lease_asked }: AccountRead) =>
    !(
      group.returned.has(id) ||
      lease_asked ||
      recalled.has(id) ||
      read.slices.some((slice) => slice.account_id === id && slice.server_id === member && slice.is_asked) ||
      isRecent(recalled_for)
    ) && uses.isFrequent(id)

  const leases = new Map<string, LeaseChange>()
  const sliced: Array<PendingSlice> = []
  const [begun, ended]: [Array<string>, Array<string>] = [[], []]
  const holdings = new Map<string, ReadonlyMap<string, Holding>>()
  const leased: Array<string> = []
  const notifications: Array<string> = []
  for (const id of accountsOf(group)) {
    const account = accounts.get(id)
    if (account === undefined) continue
    const { hash, lease_asked, leased_by, position, balance, used_by } = account
    const head = { position, balance, hash }
    if (isLeasedByOther(id)) {
      // no other server can take the lease of an account while this server holds credits of it
      if (charged.has(id)) throw new Error(`account ${id} was leased while this server held credits of it`)
      if (lease_asked || !called.has(id)) continue
      leases.set(id, { head, leased_by, lease_asked: true, used_by, is_shared: true, is_recalled: false })
      notifications.push(`asked ${leased_by} ${id}`)
      continue
    }
    if (called.has(id)) uses.add(id)
    const shouldLease = mayLease(id, account)
    if (shouldLease) leased.push(id)
    const slice =
      !shouldLease && maySlice(id, account)
        ? planSlice([...chargingHolds, ...admitted], id, months)
        : new Map<MonthOfKey, number>()
    const hadSlice = read.slices.some(({ account_id, server_id }) => account_id === id && server_id === member)
    if (slice.size > 0) {
      sliced.push(changeSlice(id, known.slice(id) ?? new Map(), slice))
      if (!hadSlice) begun.push(id)
    } else if (hadSlice) ended.push(id)
    // a slice that the lease replaces ends now, before the lease is written: the lease has room for all of it
    if (slice.size === 0 && (!shouldLease || known.isSliced(id))) known.endLease(id)
    holdings.set(id, shouldLease ? noHoldings : known.listHoldings(id, chargingHolds, slice))
    const next = {
      leased_by: shouldLease ? member : null,
      lease_asked: false,
      used_by: called.has(id) ? member : used_by
    }
    const isNew = next.leased_by !== leased_by || lease_asked || next.used_by !== used_by
    const isShared = lease_asked || (next.used_by !== used_by && used_by !== null)
    const isRecalled = recalled.has(id)
    if (isNew || isRecalled || charged.has(id)) {
      leases.set(id, { head, ...next, is_shared: isShared, is_recalled: isRecalled })
    }
    if (isRecalled)
      for (const other of slicesOfOthers.get(id) ?? []) notifications.push(`asked ${other.server_id} ${id}`)
    if ((leased_by !== null && !shouldLease) || (hadSlice && slice.size === 0)) notifications.push(`free ${id}`)
  }
  for (const id of group.released)
    if (!known.isLeased(id) && !known.isSliced(id) && !holdings.has(id)) holdings.set(id, known.listHoldings(id))

  const changed = [...holdings].flatMap(([id, after]) => findDifferences(known.recorded(id), after))
  const isEmpty = entries.length + changed.length + leases.size + begun.length + ended.length === 0
  const changes = isEmpty
    ? undefined
    : { entries, holdings: changed, leases, notifications, begun, ended, recalled: [...recalled] }
  return { changes, entries, outcomes, holdings, leased, sliced, read, months }
}

/** Undoes a decision that was not written. */
export const undoDecision = ({ outcomes, sliced }: GroupDecision, known: KnownAccounts): void => {
  for (const { slice, whenNotWritten } of sliced) addToSlice(slice, whenNotWritten)
  for (const outcome of outcomes) {
    if (outcome === "deferred" || "refused" in outcome) continue
    releaseHold(outcome.hold)
    known.unregister(outcome.hold)
  }
}
