/**
 * What one server says to the database: group after group, one under way at a time. What arrives meanwhile goes into the
 * next one, so a call takes part in two groups, that of its hold and that of its charge, and has no statement of its own.
 *
 * While the database is away holds and look-ups are refused at once, and nothing is charged.
 */
import { type LedgerUnavailable, unavailable } from "../errors.ts"
import type { LedgerCounters } from "../ledger.ts"
import type { Draft } from "../machine.ts"
import { type GroupStatements, wasLockedOut, wasRefused } from "./database.ts"
import type { DoubtFiles } from "./doubt-files.ts"
import {
  accountByAccount,
  chargeByCharge,
  type Decided,
  type Group,
  heldBy,
  newGroup,
  questionOf,
  type Released,
  type Waiting,
  waitingFor
} from "./group.ts"
import { joinServers, type Membership, type WaitingCharge } from "./membership.ts"
import type { GroupAnswer, HoldAsked, StoredKey } from "./wire.ts"

/** A server that says nothing for five seconds is taken for dead. */
const heartbeat = 1_000
/** How long calls of an account are refused that somebody has locked in the database: others shall not wait for it each time. */
const lockedOut = 5_000
/**
 * Groups in a row that find an account locked, for a second each, before its calls are refused. A busy account is locked by
 * other servers, one after the other and each for as long as its disk takes: that is no reason to refuse. A larger number
 * would make the calls of all other accounts wait as often.
 */
const patience = 2

const notWritten = unavailable("be written")

export interface Listener {
  /** What each of the keys of a group can still spend after it. */
  readonly remaining: (credits: GroupAnswer["remaining"]) => void
  /** The database went away, or came back. */
  readonly lost: (cause: LedgerUnavailable) => void
  readonly found: () => void
  /** Somebody has locked an account. */
  readonly locked: (accountId: string) => void
}

export const converse = async (
  statements: GroupStatements,
  doubts: DoubtFiles,
  counters: LedgerCounters,
  listener: Listener,
  now: () => number
) => {
  const membership = await joinServers(statements, doubts)
  let pending: Group | undefined
  let writing: Promise<void> | undefined
  /** Parts of a refused group that are still to be sent, one after the other. */
  let parts: Array<Group> = []
  let lost: LedgerUnavailable | undefined
  /** Until when the calls of an account are refused. */
  const locked = new Map<string, number>()
  /** How many groups in a row have found an account locked. */
  const lockouts = new Map<string, number>()

  const open = (): Group => {
    if (pending !== undefined) return pending
    if (writing === undefined) setImmediate(write)
    pending = newGroup(performance.now())
    return pending
  }

  const write = () => {
    const group = pending
    if (group === undefined) return
    pending = undefined
    writing = sendAll(group).then(() => {
      writing = undefined
      if (pending !== undefined) setImmediate(write)
    })
  }

  const sendAll = async (group: Group) => {
    for (let part: Group | undefined = group; part !== undefined; part = parts.shift()) await send(part)
  }

  const send = async (group: Group): Promise<void> => {
    try {
      const answer = await statements.takeGroup(membership.current().id, questionOf(group, now()))
      if (answer === null) await lose(group, "this server was silent for too long")
      else succeed(group, answer)
    } catch (cause) {
      const concernsAccounts = group.charges.length + group.holds.length > 0 // else a whole table is locked
      if (wasLockedOut(cause) && concernsAccounts) sendApart(group, accountByAccount(group), cause)
      else if (wasRefused(cause) && group.charges.length > 0) sendApart(group, chargeByCharge(group), cause)
      else await lose(group, cause)
    }
  }

  /** A charge was refused, such as one whose request id was used before, or an account is locked. Others shall not suffer. */
  const sendApart = (group: Group, apart: ReadonlyArray<Group>, cause: unknown) => {
    const isSuspect = (part: Group) => Number(lockouts.has(accountOf(part)))
    if (apart.length > 1) parts.unshift(...apart.toSorted((a, b) => isSuspect(a) - isSuspect(b)))
    else if (wasLockedOut(cause) && isPatient(group)) sendAgain(group)
    else giveUp(group, cause)
  }

  /** Of a group with calls of one account. */
  const accountOf = ({ charges, holds }: Group): string => (charges[0] ?? holds[0])?.question.account_id ?? ""

  const isPatient = (group: Group): boolean => {
    const times = (lockouts.get(accountOf(group)) ?? 0) + 1
    lockouts.set(accountOf(group), times)
    return times < patience && lockouts.size === 1 // several at once: all accounts may be, and each costs a second
  }

  /** With what has come meanwhile. */
  const sendAgain = ({ charges, holds }: Group) => {
    const next = open()
    next.charges.unshift(...charges)
    next.holds.unshift(...holds)
  }

  /** Nothing of the group was written. */
  const giveUp = (group: Group, cause: unknown) => {
    const { charges, holds, keys, released } = group
    counters.failed_groups++
    const error = notWritten(cause)
    const accountId = accountOf(group)
    lockouts.delete(accountId)
    if (wasLockedOut(cause)) {
      locked.set(accountId, performance.now() + lockedOut)
      listener.locked(accountId)
    }
    open().released.push(...released, ...charges.map(({ question }) => heldBy(question)))
    refuse(error, [...keys.values(), ...holds])
    for (const { question, reject } of charges) {
      reject(
        wasLockedOut(cause) ? error : new Error(`request ${question.request_id} was not charged: ${error.message}`)
      )
    }
  }

  const succeed = (group: Group, answer: GroupAnswer) => {
    counters.commits += group.charges.length
    counters.groups++
    counters.durable_seconds += (performance.now() - group.since) / 1_000
    listener.remaining(answer.remaining)
    for (const { question } of [...group.charges, ...group.holds]) lockouts.delete(question.account_id)
    for (const charge of group.charges) charge.resolve()
    for (const [index, key] of [...group.keys.values()].entries()) key.resolve(answer.keys[index] ?? null)
    for (const [index, hold] of group.holds.entries()) {
      hold.resolve({ outcome: answer.holds[index] ?? "key_changed", membership: membership.current() })
    }
  }

  const refuse = (error: LedgerUnavailable, waiting: Iterable<{ readonly reject: (error: unknown) => void }>) => {
    for (const { reject } of waiting) reject(error)
  }

  const waitingCharge = ({ question, reject, resolve }: Waiting<Draft, void>): WaitingCharge => ({
    requestId: question.request_id ?? "",
    reject,
    resolve: () => {
      counters.commits++
      resolve()
    }
  })

  /** The group got no answer, or none that can be used. */
  const lose = async (group: Group, cause: unknown) => {
    lost = notWritten(cause)
    lockouts.clear()
    counters.failed_groups++
    listener.lost(lost)
    refuse(lost, [...group.keys.values(), ...group.holds])
    // never sent, or part of a group that was refused: nothing of them is written
    const unsent = pending === undefined ? parts : [...parts, pending]
    for (const { charges, holds, keys } of unsent) refuse(lost, [...keys.values(), ...holds, ...charges])
    pending = undefined
    parts = []
    const isMember = await membership.rejoin(group.charges.map(waitingCharge), (error) => {
      lost = notWritten(error)
    })
    if (!isMember) return
    lost = undefined
    listener.found()
  }

  const refuseLocked = (accountId: string) => {
    if (lost !== undefined) throw lost
    const until = locked.get(accountId)
    if (until === undefined) return
    if (performance.now() < until) throw notWritten(`somebody has locked account ${accountId} in the database`)
    locked.delete(accountId)
  }

  const beat = setInterval(() => {
    if (lost === undefined && writing === undefined) open()
  }, heartbeat)

  return {
    /** The key with this SHA-256 as it is now, or null. */
    lookUp: async (sha256: string): Promise<StoredKey | null> => {
      if (lost !== undefined) throw lost
      const { keys } = open()
      const waiting = keys.get(sha256) ?? waitingFor<string, StoredKey | null>(sha256)
      keys.set(sha256, waiting)
      return waiting.promise
    },
    hold: async (question: HoldAsked): Promise<Decided> => {
      refuseLocked(question.account_id)
      const waiting = waitingFor<HoldAsked, Decided>(question)
      open().holds.push(waiting)
      return waiting.promise
    },
    /** Resolves when the charge is durable. Its hold ends either way. */
    charge: async (question: Draft, heldUnder: Membership): Promise<void> => {
      if (lost !== undefined) throw lost
      if (heldUnder !== membership.current()) throw notWritten("the hold was lost with the connection")
      const waiting = waitingFor<Draft, void>(question)
      open().charges.push(waiting)
      return waiting.promise
    },
    release: (released: Released, heldUnder: Membership): void => {
      if (lost === undefined && heldUnder === membership.current()) open().released.push(released)
    },
    isWritable: () => lost === undefined,
    /** Ends what is under way, and leaves. A database that is away is tried once more. */
    close: async () => {
      clearInterval(beat)
      membership.tryNoMore()
      while (pending !== undefined || writing !== undefined) {
        await (writing ?? new Promise((resolve) => setImmediate(resolve)))
      }
      await membership.leave().catch(() => {}) // the database is away, and forgets this server by itself
    }
  }
}

export type Conversation = Awaited<ReturnType<typeof converse>>
