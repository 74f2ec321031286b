/**
 * Sends groups: each is one transaction, which locks the accounts, reads, decides, writes and commits in two round trips.
 * COMMIT is not sent before the locks are answered. So whoever locks an account later finds all that was charged to it.
 */
import { Effect } from "effect"
import type { CaptureOutcome, LedgerCounters } from "../../ledger.ts"
import { endHold } from "../../rules/admission.ts"
import { applyGroup, type LedgerState } from "../../rules/ledger-state.ts"
import type { OwnHolds, PricedCall } from "../calls/own-holds.ts"
import { maxWait, type SendStatements, type UseConnection } from "../sql/database.ts"
import { classifyFailure, hasSqlState, isConnectionLost } from "../sql/failures.ts"
import * as statements from "../sql/group-statements.ts"
import { decideCharges, decideUndecided, type GroupDecision } from "./decide-group.ts"
import type { makeFailedGroups } from "./failed-groups.ts"
import { accountsOf, type CallGroup, type Charge, callsOf, type GroupQueue, sinceOf } from "./group.ts"
import type { LockedAccounts } from "./locked-accounts.ts"
import type { Outage } from "./outage.ts"

/** Milliseconds for which a group waits for its locks. Other servers wait for what it has locked already. */
const lockTimeout = 200
/** The same for a part of a group that has waited for it already, if the part can be split again. */
const partLockTimeout = 50
/** For the group of a suspect, which waits alone. Longer than the idle timeout of a session. */
const suspectLockTimeout = 2_000
/**
 * Milliseconds after which a second group is sent beside one that is not answered, because of locks or a slow network.
 * Sent sooner, groups would be smaller, and each costs the database a commit: servers would need a tenth more CPU.
 */
const maxPatience = 20
const maxDeadlocks = 5
/** The database may end one session, and serve others. */
const maxReconnects = 1

/** The state after calls were decided in a group. `at` is a time before its rows were read. */
export type OnDecided = (calls: ReadonlyArray<PricedCall>, state: LedgerState, at: number) => void

export const makeGroupWriter = (options: {
  /** Each runs one transaction at a time. */
  readonly connections: ReadonlyArray<UseConnection>
  /** Rejects work that takes too long. */
  readonly run: <A, E>(work: Effect.Effect<A, E>) => Promise<A>
  readonly queue: GroupQueue
  readonly own: OwnHolds
  readonly locked: LockedAccounts
  readonly outage: Outage
  readonly failed: ReturnType<typeof makeFailedGroups>
  readonly counters: LedgerCounters
  readonly onDecided: OnDecided
  readonly now: () => number
}) => {
  const { connections, counters, failed, locked, now, onDecided, outage, own, queue, run } = options
  const busySince = new Map<UseConnection, number>()
  let isScheduled = false

  const end = ({ hold, resolve }: Charge, outcome: CaptureOutcome) => {
    own.end(hold, outcome === "charged" ? "captured" : "released")
    if (outcome === "charged") counters.charges++
    else if (`refused_${outcome}` in counters) counters[`refused_${outcome}` as keyof LedgerCounters]++
    resolve(outcome)
  }

  /** Removes the calls that a lost transaction has charged. */
  const settle = (group: CallGroup, charged: ReadonlySet<string>, state: LedgerState, at: number) => {
    const settled: Array<PricedCall> = []
    for (const charge of group.charges.splice(0)) {
      charge.isInDoubt = false
      if (charged.has(charge.requestId)) {
        end(charge, "charged")
        settled.push(charge.hold.call)
      } else group.charges.push(charge)
    }
    onDecided(settled, state, at)
  }

  const decideAll = (group: CallGroup, state: LedgerState): GroupDecision => {
    const decision = decideCharges(state, group)
    for (const { call, reject, resolve } of group.undecided.splice(0)) {
      try {
        const decided = decideUndecided(state, call, own.count(call))
        resolve(decided === "fits" ? { hold: own.place(call) } : decided)
      } catch (error) {
        reject(error)
      }
    }
    return decision
  }

  /** `sent` receives the charges for which COMMIT is sent. */
  const transaction = (group: CallGroup, timeout: number, sent: Array<Charge>) =>
    Effect.fnUntraced(function* (send: SendStatements) {
      const at = now()
      const accounts = accountsOf(group)
      const calls = callsOf(group)
      const keys = new Set(calls.map(({ key }) => key.id))
      const months = new Set(calls.map(({ month }) => month))
      const inDoubt = group.charges.flatMap(({ isInDoubt, requestId }) => (isInDoubt ? [requestId] : []))
      const [, , , rows = [], charged = []] = yield* send([
        statements.begin,
        ...statements.lock(accounts, `${timeout}ms`),
        statements.readLockedKeys([...keys], [...months]),
        ...(inDoubt.length === 0 ? [] : [statements.findCharged(inDoubt)])
      ])
      locked.clear(accounts)
      const state = statements.restoreFromRows(rows)
      if (inDoubt.length > 0) settle(group, statements.listCharged(charged), state, at)
      queue.addArrived(group, accounts, ({ key, month }) => keys.has(key.id) && months.has(month))
      failed.removeOver(group)
      const decision = decideAll(group, state)
      if (decision.entries.length === 0) {
        yield* send([statements.rollback])
        return { ...decision, state, at }
      }
      for (const charge of group.charges) charge.isInDoubt = true
      sent.push(...group.charges)
      yield* send([statements.write(decision.entries), statements.commit])
      return { ...decision, state, at }
    })

  type Completed = GroupDecision & { readonly state: LedgerState; readonly at: number }
  const succeed = ({ charges }: CallGroup, decision: Completed, since: number) => {
    applyGroup(decision.state, { accounts: [], keys: [], entries: decision.entries })
    for (const decided of decision.charges) if ("hold" in decided) endHold(decided.hold, "captured")
    for (const [index, charge] of charges.entries()) {
      const decided = decision.charges[index]
      if (decided === undefined || "error" in decided) {
        own.end(charge.hold, "released")
        charge.reject(decided?.error)
      } else end(charge, "hold" in decided ? "charged" : decided.refused)
    }
    const calls = charges.map(({ hold }) => hold.call)
    onDecided(calls, decision.state, decision.at)
    if (decision.entries.length === 0) return
    outage.recordSuccess()
    counters.groups++
    counters.durable_seconds += (now() - since) / 1_000
  }

  const attempt = async (group: CallGroup, use: UseConnection, isPart: boolean): Promise<ReadonlyArray<CallGroup>> => {
    const since = sinceOf(group)
    let [deadlocks, reconnects] = [0, 0]
    for (;;) {
      failed.removeOver(group)
      if (callsOf(group).length === 0) return []
      const sent: Array<Charge> = []
      const outcome = await run(use(transaction(group, chooseTimeout(group, isPart), sent))).then(
        (decision) => ({ decision }),
        (cause: unknown) => ({ cause })
      )
      if ("decision" in outcome) {
        succeed(group, outcome.decision, since)
        return []
      }
      const { cause } = outcome
      const failure = classifyFailure(cause)
      // the database has answered, so it has not committed
      if (hasSqlState(cause) && failure !== "lost") for (const charge of sent) charge.isInDoubt = false
      const isRetried =
        failure === "rolled back" ? deadlocks++ < maxDeadlocks : isConnectionLost(cause) && reconnects++ < maxReconnects
      // a probe finds out whether another session has locked a table, or rows that belong to an account
      if (failure === "locked" && sent.length > 0) await outage.check()
      if (!isRetried) return failed.handle(group, cause)
    }
  }

  const chooseTimeout = (group: CallGroup, isPart: boolean): number => {
    const [id = "", ...others] = accountsOf(group)
    if (others.length > 0) return isPart ? partLockTimeout : lockTimeout
    if (!locked.isSuspect(id)) return lockTimeout
    const left = maxWait - (now() - sinceOf(group))
    return Math.ceil(Math.min(suspectLockTimeout, Math.max(lockTimeout, left)))
  }

  /** A mistake of ours must not keep the accounts in flight, nor leave a call without an answer. */
  const attemptOrFail = async (...args: Parameters<typeof attempt>): Promise<ReadonlyArray<CallGroup>> => {
    try {
      return await attempt(...args)
    } catch (defect) {
      failed.failUnexpected(args[0], defect)
      return []
    }
  }

  const send = async (group: CallGroup, use: UseConnection) => {
    const parts = [group]
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const accounts = accountsOf(part)
      if (outage.isLost())
        queue.putBack(part) // there its calls are answered when their time is over
      else parts.unshift(...(await attemptOrFail(part, use, part !== group)))
      const kept = new Set(parts.flatMap(accountsOf))
      queue.release(accounts.filter((id) => !kept.has(id)))
    }
  }

  const isNextDue = () => [...busySince.values()].every((since) => now() - since >= maxPatience)

  const dispatch = () => {
    isScheduled = false
    while (isNextDue() && !outage.isLost()) {
      const use = connections.find((connection) => !busySince.has(connection))
      const group = use && queue.take()
      if (use === undefined || group === undefined) return
      busySince.set(use, now())
      send(group, use).finally(() => {
        busySince.delete(use)
        schedule()
      })
    }
  }
  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(dispatch)
  }

  return { schedule }
}
