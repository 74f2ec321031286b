/**
 * Decides and writes a group, and applies the result. Calls of accounts that the server has leased are decided in its
 * memory, and need the database only for their charge. Other calls are decided while the database locks their accounts.
 */
import { channel } from "node:diagnostics_channel"
import { type ChainHead, chainEntries } from "../../chain/chain.ts"
import type { LedgerCounters } from "../../ledger.ts"
import { type AdmissionOutcome, type AdmissionRequest, captureHold } from "../../rules/admission.ts"
import { applyGroup } from "../../rules/ledger-state.ts"
import { monthOf } from "../../utc-calendar.ts"
import type { KnownAccounts } from "../leases/known-accounts.ts"
import type { ClockReadings, LeaseTrust } from "../leases/lease-rules.ts"
import { countUses, type LeasePolicy } from "../leases/lease-rules.ts"
import type { ReadRequest, ServerStatements } from "../sql/statements.ts"
import type { Holding } from "../sql/write-group.ts"
import type { DeferredCalls } from "./deferred-calls.ts"
import { accountOfCharge, accountOfHold, type CallGroup, type GroupQueue, newGroup } from "./group.ts"
import { decideGroup, findDifferences, type GroupDecision, listReads, undoDecision } from "./group-decision.ts"
import type { LockedAccounts } from "./locked-accounts.ts"
import type { Returns } from "./returns.ts"
import { addToSlice } from "./slices.ts"

export interface DecisionEvent {
  /** `leased`: a server has taken the lease of an account. Otherwise: what decided a call. */
  readonly what: "leased" | "lease" | "slice"
  readonly server_id: string
  readonly account_id: string
  /** Whether the server has a slice of the account; for `leased`, whether it had one when it took the lease. */
  readonly had_slice: boolean
}

/** For tools in the same process; costs nothing without subscribers. Decisions in the database are not reported. */
export const decisionChannel = channel("larder:ledger.decision")

const silenceError = () => new Error("this server was silent for too long")

export const makeGroupWriter = (options: {
  readonly statements: ServerStatements
  readonly known: KnownAccounts
  readonly trust: LeaseTrust
  readonly leasePolicy: LeasePolicy
  readonly counters: LedgerCounters
  readonly queue: GroupQueue
  readonly locked: LockedAccounts
  readonly deferred: DeferredCalls
  readonly returns: Returns
  readonly memberId: () => string
}) => {
  const { returns, counters, deferred, leasePolicy, known, locked, memberId, queue, statements, trust } = options
  const useCounts = countUses(leasePolicy)
  /** Number of groups that the database has decided under the server's current name. */
  let groups = 0
  const member = () => ({ id: memberId(), groups })

  const decideNow = (call: AdmissionRequest): AdmissionOutcome | undefined => {
    const decided = trust.isTrusted() ? known.decideLeased(call) : undefined
    if (decided === undefined) return undefined
    const { account_id } = call.key
    const isSliced = known.isSliced(account_id)
    if (isSliced) returns.markSliceUsed(account_id)
    if (decisionChannel.hasSubscribers) publish({ what: isSliced ? "slice" : "lease", account_id, had_slice: isSliced })
    return decided
  }
  const publish = (event: Omit<DecisionEvent, "server_id">) =>
    decisionChannel.publish({ ...event, server_id: memberId() } satisfies DecisionEvent)

  const sendHeartbeat = async () => {
    const since = trust.now()
    const requested = await statements.heartbeat(member())
    if (requested === undefined) throw silenceError()
    trust.renew(since)
    returns.returnLeases(requested)
    known.evictIdle()
    useCounts.deleteOld()
    returns.returnSurplus()
    returns.returnIdleSlices()
  }

  /** Decides holds that arrived while the lease was being taken. */
  const decideLeased = ({ holds }: CallGroup) => {
    for (const waiting of holds.splice(0)) {
      const decided = decideNow(waiting.request)
      if (decided === undefined) holds.push(waiting)
      else waiting.resolve(decided)
    }
  }

  /** Writes charges, which need no decision, and the end of holds. */
  const charge = async (group: CallGroup): Promise<void> => {
    const { charges, released } = group
    // other servers also write entries of such an account, so its head has to be read
    if (charges.some((charge) => known.isSliced(accountOfCharge(charge)))) return decide(group)
    const holds = new Set(charges.map(({ request }) => request.hold))
    const before = new Map<string, ChainHead>()
    for (const id of charges.map(accountOfCharge).toSorted()) {
      const account = known.state().accounts.get(id)
      if (account !== undefined) before.set(id, account.head)
    }
    const holdings = new Map<string, ReadonlyMap<string, Holding>>()
    for (const id of new Set([...before.keys(), ...released])) {
      if (!known.isLeased(id) && !known.isSliced(id)) holdings.set(id, known.listHoldings(id, holds))
    }
    const changed = [...holdings].flatMap(([id, after]) => findDifferences(known.recorded(id), after))
    if (charges.length + changed.length === 0) return
    const entries = chainEntries(
      known.state(),
      charges.map(({ request }) => request.draft)
    )
    const requested = await statements.charge({ entries, before, holdings: changed }, member())
    if (requested === "not a member") throw silenceError()
    if (requested === "changed") return decide(group)
    succeed(group, entries, holdings)
    returns.returnLeases(requested)
  }

  const decide = async (group: CallGroup): Promise<void> => {
    const since = trust.now()
    const reads = listReads(group, since.timeOfDay)
    let decision: GroupDecision | undefined
    try {
      const outcome = await statements.decide(member(), reads, (read) => {
        if (decision !== undefined) undoDecision(decision, known)
        addArrivedCalls(group, reads)
        decision = decideGroup(group, read, reads.months, { member: memberId(), known, uses: useCounts, leasePolicy })
        return decision.changes
      })
      if (outcome === "not a member" || decision === undefined) throw silenceError()
    } catch (cause) {
      if (decision !== undefined) undoDecision(decision, known)
      throw cause
    }
    if (decision.changes !== undefined) {
      groups++
      trust.renew(since)
    }
    applyDecision(group, decision)
  }

  const applyDecision = (group: CallGroup, decision: GroupDecision) => {
    const { entries, holdings, leased, months, outcomes, read, sliced } = decision
    succeed(group, entries, holdings)
    for (const id of leased) {
      if (!known.isLeased(id) && decisionChannel.hasSubscribers) {
        const had_slice = read.slices.some(({ account_id, server_id }) => account_id === id && server_id === memberId())
        publish({ what: "leased", account_id: id, had_slice })
      }
      known.lease(id, read, months)
    }
    for (const { id, slice, whenWritten } of sliced) {
      addToSlice(slice, whenWritten)
      known.lease(id, read, months)
      known.beginSlice(id, slice)
      returns.markSliceUsed(id)
    }
    for (const [index, waiting] of group.holds.entries()) {
      const outcome = outcomes[index] ?? "deferred"
      if (outcome === "deferred") deferred.add(waiting)
      else waiting.resolve(outcome)
    }
    resolveLookUps(group)
  }

  /** Adds calls of the same accounts that arrived while the group waited for its locks: fewer groups are better. */
  const addArrivedCalls = (group: CallGroup, { accounts, keys, months }: ReadRequest) => {
    const next = queue.collected()
    if (next === undefined) return
    for (const charge of next.charges.splice(0)) {
      const isRead = accounts.includes(accountOfCharge(charge)) && keys.includes(charge.request.hold.key.record.id)
      ;(isRead ? group : next).charges.push(charge)
    }
    for (const hold of next.holds.splice(0)) {
      const { key, nowMs } = hold.request
      const isRead = accounts.includes(key.account_id) && keys.includes(key.id) && months.includes(monthOf(nowMs))
      ;(isRead ? group : next).holds.push(hold)
    }
  }

  const lookUp = async (group: CallGroup) => {
    const { byId, bySha256, since } = group
    const reads = listReads({ ...newGroup(since), bySha256, byId }, trust.now().timeOfDay)
    known.refresh(await statements.read(member(), reads), reads.months)
    resolveLookUps(group)
  }
  const resolveLookUps = ({ byId, bySha256 }: CallGroup) => {
    for (const { resolve } of [...bySha256.values(), ...byId.values()]) resolve()
  }

  const succeed = (
    { charges, returned, holds, released }: CallGroup,
    entries: GroupDecision["entries"],
    holdings: GroupDecision["holdings"]
  ) => {
    applyGroup(known.state(), { accounts: [], keys: [], entries })
    for (const [id, after] of holdings) known.record(id, after)
    for (const { request } of charges) {
      captureHold(request.hold)
      known.unregister(request.hold)
      locked.reset(request.draft.account_id)
    }
    for (const hold of holds) locked.reset(accountOfHold(hold))
    counters.commits += charges.length
    for (const { resolve } of charges.splice(0)) resolve()
    released.clear()
    returned.clear()
  }

  return {
    /** The decision from the server's memory; undefined if the database has to decide. */
    decideNow,
    write: async (group: CallGroup): Promise<void> => {
      if (group.isHeartbeat) await sendHeartbeat()
      decideLeased(group)
      if (group.holds.length + group.returned.size > 0) await decide(group)
      else {
        if (group.charges.length + group.released.size > 0) await charge(group)
        if (group.bySha256.size + group.byId.size > 0) await lookUp(group)
      }
      counters.groups++
      counters.durable_seconds += (performance.now() - group.since) / 1_000
    },
    /** The server was registered under a new name at this time. */
    joined: (since: ClockReadings): void => {
      groups = 0
      trust.renew(since)
    }
  }
}
