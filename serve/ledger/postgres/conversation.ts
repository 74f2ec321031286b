/**
 * What one server says to the database: group after group, one under way at a time. What arrives meanwhile goes into the
 * next one, so a call takes part in two groups, that of its hold and that of its charge, and has no statement of its own.
 *
 * While the database is away holds and look-ups are refused at once, and nothing is charged.
 */
import { LedgerUnavailable } from "../errors.ts"
import type { LedgerCounters } from "../ledger.ts"
import type { Draft } from "../machine.ts"
import { monthOf } from "../moments.ts"
import { type GroupStatements, wasRefused } from "./database.ts"
import { joinServers, type Membership, type WaitingCharge } from "./membership.ts"
import type { GroupAnswer, GroupAsked, HoldAsked, StoredKey } from "./wire.ts"

/** The outcome of a hold, and the name under which it was placed. */
export interface Decided {
  readonly outcome: GroupAnswer["holds"][number]
  readonly membership: Membership
}
type Released = GroupAsked["released"][number]

interface Waiting<Question, Answer> extends PromiseWithResolvers<Answer> {
  readonly question: Question
}
const waitingFor = <Question, Answer>(question: Question): Waiting<Question, Answer> => ({
  question,
  ...Promise.withResolvers<Answer>()
})

interface Group {
  readonly charges: Array<Waiting<Draft, void>>
  readonly released: Array<Released>
  /** By SHA-256. */
  readonly keys: Map<string, Waiting<string, StoredKey | null>>
  readonly holds: Array<Waiting<HoldAsked, Decided>>
  readonly since: number
}

const noGroup = (since: number): Group => ({ charges: [], released: [], keys: new Map(), holds: [], since })

/** A server that says nothing for five seconds is taken for dead. */
const heartbeat = 1_000

const unavailable = (cause: unknown) =>
  cause instanceof LedgerUnavailable ? cause : new LedgerUnavailable({ action: "be written", cause })

export interface Listener {
  /** What each of the keys of a group can still spend after it. */
  readonly remaining: (credits: GroupAnswer["remaining"]) => void
  /** The database went away, or came back. */
  readonly lost: (cause: LedgerUnavailable) => void
  readonly found: () => void
}

export const converse = async (
  statements: GroupStatements,
  counters: LedgerCounters,
  listener: Listener,
  now: () => number
) => {
  const membership = await joinServers(statements)
  let pending: Group | undefined
  let writing: Promise<void> | undefined
  let lost: LedgerUnavailable | undefined

  const open = (): Group => {
    if (pending !== undefined) return pending
    if (writing === undefined) setImmediate(write)
    pending = noGroup(performance.now())
    return pending
  }

  const write = () => {
    const group = pending
    if (group === undefined) return
    pending = undefined
    writing = send(group).then(() => {
      writing = undefined
      if (pending !== undefined) setImmediate(write)
    })
  }

  const send = async (group: Group): Promise<void> => {
    const asked: GroupAsked = {
      month: monthOf(now()),
      charges: group.charges.map(({ question }) => question),
      released: group.released,
      keys: [...group.keys.keys()],
      holds: group.holds.map(({ question }) => question)
    }
    try {
      const answer = await statements.takeGroup(membership.current().id, asked)
      if (answer === null) await lose(group, "this server was silent for too long")
      else succeed(group, answer)
    } catch (cause) {
      await (wasRefused(cause) ? sendApart(group, cause) : lose(group, cause))
    }
  }

  /** One charge of the group was refused, such as one whose request id was used before. The others shall not suffer. */
  const sendApart = async (group: Group, cause: unknown): Promise<void> => {
    const [charge, ...others] = group.charges
    if (charge === undefined) return lose(group, cause)
    const rest = group.released.length + group.keys.size + group.holds.length
    if (others.length === 0 && rest === 0) {
      const { credits, key_id, occurred_at } = charge.question
      open().released.push({ key_id: key_id ?? "", month: monthOf(Date.parse(occurred_at)), credits: -credits })
      return charge.reject(
        new Error(`request ${charge.question.request_id} was not charged: ${unavailable(cause).message}`)
      )
    }
    for (const one of group.charges) await send({ ...noGroup(group.since), charges: [one] })
    await send({ ...group, charges: [] })
  }

  const succeed = (group: Group, answer: GroupAnswer) => {
    counters.commits += group.charges.length
    counters.groups++
    counters.durable_seconds += (performance.now() - group.since) / 1_000
    listener.remaining(answer.remaining)
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
    lost = unavailable(cause)
    counters.failed_groups++
    listener.lost(lost)
    refuse(lost, [...group.keys.values(), ...group.holds])
    if (pending !== undefined) refuse(lost, [...pending.keys.values(), ...pending.holds, ...pending.charges]) // never sent
    pending = undefined
    await membership.rejoin(group.charges.map(waitingCharge), (error) => {
      lost = unavailable(error)
    })
    lost = undefined
    listener.found()
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
      if (lost !== undefined) throw lost
      const waiting = waitingFor<HoldAsked, Decided>(question)
      open().holds.push(waiting)
      return waiting.promise
    },
    /** Resolves when the charge is durable. Rejects when nothing is charged: the hold ended with its membership, too. */
    charge: async (question: Draft, heldUnder: Membership): Promise<void> => {
      if (lost !== undefined) throw lost
      if (heldUnder !== membership.current()) throw unavailable("the hold was lost with the connection")
      const waiting = waitingFor<Draft, void>(question)
      open().charges.push(waiting)
      return waiting.promise
    },
    release: (released: Released, heldUnder: Membership): void => {
      if (lost === undefined && heldUnder === membership.current()) open().released.push(released)
    },
    isWritable: () => lost === undefined,
    /** Ends what is under way, and leaves. */
    close: async () => {
      clearInterval(beat)
      if (lost !== undefined) {
        await membership.leave().catch(() => {}) // the database is away, and forgets this server by itself
        return
      }
      while (pending !== undefined || writing !== undefined) {
        await (writing ?? new Promise((resolve) => setImmediate(resolve)))
      }
      await membership.leave().catch(() => {})
    }
  }
}

export type Conversation = Awaited<ReturnType<typeof converse>>
