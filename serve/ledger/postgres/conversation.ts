/**
 * What one server says to the database: group after group, one under way at a time. What arrives meanwhile goes into the
 * next one. Calls of accounts whose lease the server has are admitted in its memory, and take part in one group, that of
 * their charge; other calls are decided in the database, and take part in two.
 *
 * While the database is away holds and look-ups are refused at once, and nothing is charged.
 */

import type { ChainHead } from "../chain.ts"
import { type LedgerUnavailable, unavailable } from "../errors.ts"
import type { LedgerCounters } from "../ledger.ts"
import { type ApiKeyView, apply, chain, type Draft, giveBack, type Hold, release, settle } from "../machine.ts"
import { monthOf } from "../moments.ts"
import { callsElsewhere } from "./calls-elsewhere.ts"
import { wasLockedOut, wasRefused } from "./database.ts"
import type { DoubtFiles } from "./doubt-files.ts"
import {
  accountByAccount,
  accountOfCharge,
  accountOfHold,
  accountsOf,
  askers,
  type Call,
  type Charge,
  chargeByCharge,
  type Decided,
  type Group,
  newGroup,
  type Waiting,
  waitingFor
} from "./group.ts"
import type { JoinStatements } from "./joining.ts"
import { addTo, askedBy, differences, type Judgement, judge, type LeaseHabits, undo, uses } from "./judgement.ts"
import type { KnownAccounts } from "./known-accounts.ts"
import { type Clocks, leaseTrust } from "./lease-trust.ts"
import { lockedAccounts, lockedOut } from "./locked-accounts.ts"
import { joinServers, type Membership, type WaitingCharge } from "./membership.ts"
import type { Asked, ServerStatements } from "./statements.ts"
import type { Holding } from "./written.ts"

/** A server that says nothing for five seconds is taken for dead. */
const heartbeat = 1_000
/** Milliseconds for which a group waits for calls that are held already, of accounts that several servers call. */
const gathering = 2
/** More leases than that are given back, those taken longest ago first. */
const mostLeases = 20_000
const notWritten = unavailable("be written")

export interface Listener {
  /** The database went away, or came back. */
  readonly lost: (cause: LedgerUnavailable) => void
  readonly found: () => void
  /** Somebody has locked an account. */
  readonly locked: (accountId: string) => void
}

export const converse = async (options: {
  readonly statements: ServerStatements & JoinStatements
  readonly known: KnownAccounts
  readonly doubts: DoubtFiles
  readonly counters: LedgerCounters
  readonly listener: Listener
  readonly habits: LeaseHabits
  readonly clocks: Clocks
}) => {
  const { clocks, counters, doubts, habits, known, listener, statements } = options
  const trust = leaseTrust(clocks)
  const membership = await joinServers(statements, doubts)
  const used = uses(habits)
  let groups = 0
  let pending: Group | undefined
  let writing: Promise<void> | undefined
  /** Parts of a refused group that are still to be sent, one after the other. */
  let parts: Array<Group> = []
  let lost: LedgerUnavailable | undefined
  const locked = lockedAccounts()
  const elsewhere = callsElsewhere((calls) => open().holds.push(...calls))

  const open = (): Group => {
    if (pending !== undefined) return pending
    if (writing === undefined) writeSoon()
    pending = newGroup(performance.now())
    return pending
  }

  /** Servers that share an account write one after the other: the more calls a group has the better. */
  const writeSoon = () => {
    if (known.expectsCharges()) setTimeout(write, gathering)
    else setImmediate(write)
  }

  const write = () => {
    const group = pending
    if (group === undefined) return
    pending = undefined
    writing = sendAll(group).then(() => {
      writing = undefined
      if (pending !== undefined) writeSoon()
    })
  }

  const sendAll = async (group: Group) => {
    for (let part: Group | undefined = group; part !== undefined; part = parts.shift()) await send(part)
  }

  const member = () => ({ id: membership.current().id, groups })

  const send = async (group: Group): Promise<void> => {
    try {
      if (group.beats) await beat()
      decideLeased(group)
      if (group.holds.length + group.given.size > 0) await decide(group)
      else {
        if (group.charges.length + group.released.size > 0) await charge(group)
        if (group.bySha256.size + group.byId.size > 0) await lookUpAll(group)
      }
      counters.groups++
      counters.durable_seconds += (performance.now() - group.since) / 1_000
    } catch (cause) {
      const concernsAccounts = accountsOf(group).length > 0 // else a whole table is locked
      if (wasLockedOut(cause) && concernsAccounts) sendApart(group, accountByAccount(group), cause)
      else if (wasRefused(cause) && group.charges.length > 0) sendApart(group, chargeByCharge(group), cause)
      else await lose(group, cause)
    }
  }

  const silentForTooLong = () => new Error("this server was silent for too long")

  const beat = async () => {
    const since = trust.now()
    const asked = await statements.beat(member())
    if (asked === undefined) throw silentForTooLong()
    trust.renew(since)
    giveAll(asked)
    known.forgetSome()
    used.forget()
    let tooMany = [...known.leased()].length - mostLeases
    for (const id of known.leased()) if (tooMany-- > 0) give(id)
  }

  /** Holds that came while the lease was on its way. */
  const decideLeased = ({ holds }: Group) => {
    for (const waiting of holds.splice(0)) {
      const decided = decideNow(waiting.question)
      if (decided === undefined) holds.push(waiting)
      else waiting.resolve(decided)
    }
  }

  /** Charges, which need no decision, and what is held no more. */
  const charge = async (group: Group): Promise<void> => {
    const { charges, released } = group
    // others write entries of such an account, too: where it stands has to be read
    if (charges.some((charge) => known.isSliced(accountOfCharge(charge)))) return decide(group)
    const holds = new Set(charges.map(({ question }) => question.hold))
    const before = new Map<string, ChainHead>()
    for (const id of charges.map(accountOfCharge).toSorted()) {
      const account = known.state().accounts.get(id)
      if (account !== undefined) before.set(id, account.head)
    }
    const holdings = new Map<string, ReadonlyMap<string, Holding>>()
    for (const id of new Set([...before.keys(), ...released])) {
      if (!known.isLeased(id) && !known.isSliced(id)) holdings.set(id, known.heldOf(id, holds))
    }
    const changed = [...holdings].flatMap(([id, after]) => differences(known.recorded(id), after))
    if (charges.length + changed.length === 0) return
    const entries = chain(
      known.state(),
      charges.map(({ question }) => question.draft)
    )
    const written = await statements.charge({ entries, before, holdings: changed }, member())
    if (written.outcome === "not a member") throw silentForTooLong()
    if (written.outcome === "moved") return decide(group)
    succeed(group, entries, holdings)
    giveAll(written.asked)
  }

  const decide = async (group: Group): Promise<void> => {
    const since = trust.now()
    const asked = askedBy(group, since.timeOfDay)
    let judgement: Judgement | undefined
    try {
      const outcome = await statements.decide(member(), asked, (read) => {
        if (judgement !== undefined) undo(judgement, known)
        takeAlong(group, asked)
        judgement = judge(group, read, asked.months, { member: member().id, known, uses: used, habits })
        return judgement.judged
      })
      if (outcome === "not a member" || judgement === undefined) throw silentForTooLong()
    } catch (cause) {
      if (judgement !== undefined) undo(judgement, known)
      throw cause
    }
    if (judgement.judged !== undefined) {
      groups++
      trust.renew(since)
    }
    const { entries, holdings, leased, months, outcomes, read, sliced } = judgement
    succeed(group, entries, holdings)
    for (const id of leased) known.lease(id, read, months)
    for (const { id, slice, whenWritten } of sliced) {
      addTo(slice, whenWritten)
      known.lease(id, read, months)
      known.beginSlice(id, slice)
    }
    for (const [index, waiting] of group.holds.entries()) {
      const outcome = outcomes[index] ?? "elsewhere"
      if (outcome === "elsewhere") elsewhere.add(waiting)
      else waiting.resolve(outcome)
    }
    for (const { resolve } of [...group.bySha256.values(), ...group.byId.values()]) resolve()
  }

  /** Calls of the same accounts that came while others had them locked: the fewer groups the better. */
  const takeAlong = (group: Group, { accounts, keys, months }: Asked) => {
    if (pending === undefined) return
    const { charges, holds } = pending
    for (const charge of charges.splice(0)) {
      const isRead = accounts.includes(accountOfCharge(charge)) && keys.includes(charge.question.hold.key.record.id)
      ;(isRead ? group : pending).charges.push(charge)
    }
    for (const hold of holds.splice(0)) {
      const { key, nowMs } = hold.question
      const isRead = accounts.includes(key.account_id) && keys.includes(key.id) && months.includes(monthOf(nowMs))
      ;(isRead ? group : pending).holds.push(hold)
    }
  }

  const lookUpAll = async (group: Group) => {
    const asked = askedBy({ ...newGroup(group.since), bySha256: group.bySha256, byId: group.byId }, clocks.timeOfDay())
    known.refresh(await statements.read(member(), asked), asked.months)
    for (const { resolve } of [...group.bySha256.values(), ...group.byId.values()]) resolve()
  }

  /** The charges are durable. */
  const succeed = (
    { charges, given, holds, released }: Group,
    entries: Judgement["entries"],
    holdings: Judgement["holdings"]
  ) => {
    apply(known.state(), { accounts: [], keys: [], entries })
    for (const [id, after] of holdings) known.record(id, after)
    for (const { question } of charges) {
      settle(question.hold)
      known.unregister(question.hold)
      locked.forget(question.draft.account_id)
    }
    for (const hold of holds) locked.forget(accountOfHold(hold))
    counters.commits += charges.length
    for (const { resolve } of charges.splice(0)) resolve()
    released.clear()
    given.clear()
  }

  /** Also where the server has begun to end the lease, and could not write that. */
  const give = (id: string) => {
    known.endLease(id)
    open().given.add(id)
  }
  /** At once it would meet the same lock, for which all other calls wait. */
  const giveLater = (ids: ReadonlySet<string>) => {
    const asked = [...ids]
    const heldUnder = membership.current()
    const again = () => {
      if (lost === undefined && heldUnder === membership.current()) giveAll(asked)
    }
    if (asked.length > 0) setTimeout(again, lockedOut).unref()
  }
  const giveAll = (ids: ReadonlyArray<string>) => {
    for (const id of ids) give(id)
  }

  /** A charge was refused, such as one whose request id was used before, or an account is locked. Others shall not suffer. */
  const sendApart = (group: Group, apart: ReadonlyArray<Group>, cause: unknown) => {
    const isSuspect = (part: Group) => Number(locked.isSuspect(accountOf(part)))
    if (apart.length > 1) parts.unshift(...apart.toSorted((a, b) => isSuspect(a) - isSuspect(b)))
    else if (wasLockedOut(cause) && locked.mayTryAgain(accountOf(group))) sendAgain(group)
    else giveUp(group, cause)
  }

  /** Of a group with calls of one account. */
  const accountOf = (group: Group): string => accountsOf(group)[0] ?? ""

  /** With what has come meanwhile. */
  const sendAgain = ({ charges, given, holds }: Group) => {
    const next = open()
    next.charges.unshift(...charges)
    next.holds.unshift(...holds)
    for (const id of given) next.given.add(id)
  }

  /** Nothing of the group was written. */
  const giveUp = (group: Group, cause: unknown) => {
    const { charges, given, released } = group
    counters.failed_groups++
    const error = notWritten(cause)
    const accountId = accountOf(group)
    locked.forget(accountId)
    if (wasLockedOut(cause)) {
      locked.lockOut(accountId)
      listener.locked(accountId)
    }
    for (const { question } of charges) giveBackCall(question.hold)
    for (const id of released) open().released.add(id)
    giveLater(given)
    refuse(error, askers(group))
    for (const { question, reject } of charges) {
      reject(
        wasLockedOut(cause)
          ? error
          : new Error(`request ${question.draft.request_id} was not charged: ${error.message}`)
      )
    }
  }

  /** The call costs nothing, and holds nothing any more. */
  const giveBackCall = (hold: Hold) => {
    giveBack(hold)
    ended(hold)
  }
  const ended = (hold: Hold) => {
    known.unregister(hold)
    const id = hold.key.record.account_id
    if (!known.isLeased(id) && !known.backIntoSlice(hold)) open().released.add(id)
  }

  const refuse = (error: LedgerUnavailable, waiting: Iterable<{ readonly reject: (error: unknown) => void }>) => {
    for (const { reject } of waiting) reject(error)
  }

  const waitingCharge = ({ question, reject, resolve }: Waiting<Charge, void>): WaitingCharge => ({
    requestId: question.draft.request_id ?? "",
    reject,
    resolve: () => {
      counters.commits++
      resolve()
    }
  })

  /** The group got no answer, or none that can be used. */
  const lose = async (group: Group, cause: unknown) => {
    lost = notWritten(cause)
    locked.forgetAll()
    counters.failed_groups++
    listener.lost(lost)
    refuse(lost, askers(group))
    // never sent, or part of a group that was refused: nothing of them is written
    const unsent = pending === undefined ? parts : [...parts, pending]
    for (const part of unsent) refuse(lost, [...askers(part), ...part.charges])
    elsewhere.refuseAll(lost)
    pending = undefined
    parts = []
    known.forgetAll()
    let since = trust.now()
    const isMember = await membership.rejoin(group.charges.map(waitingCharge), (error) => {
      lost = notWritten(error)
      since = trust.now()
    })
    if (!isMember) return
    groups = 0
    trust.renew(since)
    lost = undefined
    listener.found()
  }

  const decideNow = ({ credits, endpoint, key, nowMs }: Call): Decided | undefined =>
    trust.isTrusted() ? known.decideLeased(key, endpoint, credits, nowMs) : undefined

  const beating = setInterval(() => {
    if (lost === undefined) open().beats = true
  }, heartbeat)

  const asking = (map: "bySha256" | "byId", name: string): Promise<void> => {
    if (lost !== undefined) throw lost
    const asked = open()[map]
    const waiting = asked.get(name) ?? waitingFor<string, void>(name)
    asked.set(name, waiting)
    return waiting.promise
  }

  return {
    current: membership.current,
    /** The key with this SHA-256 as the server knows it, or else as it is now. */
    authenticate: async (sha256: string, nowMs: number): Promise<ApiKeyView | undefined> => {
      const key = known.find(sha256, nowMs)
      if (key !== undefined) return key
      await asking("bySha256", sha256)
      return known.find(sha256, nowMs)
    },
    isCurrent: async (key: ApiKeyView, nowMs: number): Promise<boolean> => {
      if (!known.isTrue(key) || !trust.isTrusted()) await asking("byId", key.id)
      return known.isCurrent(key, nowMs)
    },
    hold: async (call: Call): Promise<Decided> => {
      if (lost !== undefined) throw lost
      locked.refuse(call.key.account_id)
      const decided = decideNow(call)
      if (decided !== undefined) return decided
      const waiting = waitingFor<Call, Decided>(call)
      open().holds.push(waiting)
      return waiting.promise
    },
    /** Resolves when the charge is durable. Its hold ends either way. */
    charge: async (hold: Hold, draft: Draft, heldUnder: Membership): Promise<void> => {
      if (lost !== undefined) throw lost
      if (heldUnder !== membership.current()) throw notWritten("the hold was lost with the connection")
      const waiting = waitingFor<Charge, void>({ hold, draft })
      open().charges.push(waiting)
      return waiting.promise
    },
    release: (hold: Hold, heldUnder: Membership): void => {
      if (hold.stage !== "held") return
      release(hold)
      if (lost === undefined && heldUnder === membership.current()) ended(hold)
    },
    /** Another server, or an operator, says something about leases. */
    told: (notice: string): void => {
      const [what = "", first = "", second = ""] = notice.split(" ")
      if (lost !== undefined) return
      if (what === "free") elsewhere.look(first)
      if (what === "asked" && first === membership.current().id) give(second)
    },
    isWritable: () => lost === undefined,
    /** Ends what is under way, and leaves. A database that is away is tried once more. */
    close: async () => {
      clearInterval(beating)
      membership.tryNoMore()
      while (pending !== undefined || writing !== undefined) {
        await (writing ?? new Promise((resolve) => setImmediate(resolve)))
      }
      elsewhere.refuseAll(notWritten("this server stops"))
      await membership.leave().catch(() => {}) // the database is away, and forgets this server by itself
    }
  }
}

export type Conversation = Awaited<ReturnType<typeof converse>>
