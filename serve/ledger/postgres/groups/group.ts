/**
 * Groups: calls that are decided in one transaction. A server has several groups in flight, each with other accounts, so
 * that its own groups never wait for each other's locks. Calls that arrive meanwhile go into a later group.
 */
import type { CaptureOutcome } from "../../ledger.ts"
import type { OwnHold, OwnHoldOutcome, PricedCall } from "../calls/own-holds.ts"

/** A call whose data was read: it is charged or refused. */
export interface Charge extends PromiseWithResolvers<CaptureOutcome> {
  readonly hold: OwnHold
  readonly requestId: string
  readonly since: number
  /** Fires when the caller has disconnected. */
  readonly signal: AbortSignal | undefined
  /** COMMIT was sent, and nothing is known of it. */
  isInDoubt: boolean
}

/** A call before the read of its data, for which too little may be left beside the holds of this server. */
export interface Undecided extends PromiseWithResolvers<OwnHoldOutcome> {
  readonly call: PricedCall
  readonly since: number
}

export interface CallGroup {
  readonly charges: Array<Charge>
  readonly undecided: Array<Undecided>
}

export const newGroup = (): CallGroup => ({ charges: [], undecided: [] })

export const callsOf = ({ charges, undecided }: CallGroup): ReadonlyArray<PricedCall> => [
  ...charges.map(({ hold }) => hold.call),
  ...undecided.map(({ call }) => call)
]
export const accountsOf = (group: CallGroup): ReadonlyArray<string> =>
  [...new Set(callsOf(group).map(({ key }) => key.account_id))].toSorted()
export const sinceOf = ({ charges, undecided }: CallGroup): number =>
  [...charges, ...undecided].reduce((earliest, { since }) => Math.min(earliest, since), Number.POSITIVE_INFINITY)

/** Up to so many accounts are tried one by one to find the locked one. */
const maxTriedSingly = 8

/** Halves of the accounts, or single accounts, so that one locked account costs few transactions. */
export const splitByAccount = (group: CallGroup): ReadonlyArray<CallGroup> => {
  const accounts = accountsOf(group)
  const size = accounts.length > maxTriedSingly ? Math.ceil(accounts.length / 2) : 1
  const parts = Array.from({ length: Math.ceil(accounts.length / size) }, newGroup)
  const partOf = new Map(accounts.map((id, index) => [id, parts[Math.floor(index / size)]]))
  for (const charge of group.charges) partOf.get(charge.hold.call.key.account_id)?.charges.push(charge)
  for (const undecided of group.undecided) partOf.get(undecided.call.key.account_id)?.undecided.push(undecided)
  return parts
}

/** Halves, so that one bad charge costs a few transactions and not hundreds. Undecided calls write nothing, so they stay in one group. */
export const splitInHalves = ({ charges, undecided }: CallGroup): ReadonlyArray<CallGroup> => {
  const half = Math.ceil(charges.length / 2)
  const parts = [charges.slice(0, half), charges.slice(half)].filter(({ length }) => length > 0)
  return [
    ...parts.map((part) => ({ ...newGroup(), charges: part })),
    ...(undecided.length === 0 ? [] : [{ charges: [], undecided }])
  ]
}

const removeFrom = <A>(calls: Array<A>, isRemoved: (call: A) => boolean): Array<A> => {
  const removed = calls.filter(isRemoved)
  if (removed.length > 0) calls.splice(0, calls.length, ...calls.filter((call) => !isRemoved(call)))
  return removed
}
/** A charge in doubt may have been charged already, so that it cannot be withdrawn. */
export const isWithdrawn = ({ isInDoubt, signal }: Charge): boolean => signal?.aborted === true && !isInDoubt

/** Removes the calls that arrived before `limit` or are withdrawn, and returns them. */
export const removeOver = ({ charges, undecided }: CallGroup, limit: number): CallGroup => ({
  charges: removeFrom(charges, (charge) => charge.since <= limit || isWithdrawn(charge)),
  undecided: removeFrom(undecided, ({ since }) => since <= limit)
})

/** A transaction of this many calls takes about 20 ms, in which other servers wait for its accounts. */
const maxCalls = 500
const countCalls = ({ charges, undecided }: CallGroup) => charges.length + undecided.length

const move = <A>(from: Array<A>, to: Array<A>, count: number) => to.push(...from.splice(0, Math.max(0, count)))

/** Milliseconds after which a suspect no longer waits for a moment in which nothing else does. */
const suspectDelay = 500

/**
 * `isSuspect`: another session may have locked the account. Its calls are sent alone, and only one such group at a time.
 * `now` is monotonic, in milliseconds.
 */
export const makeGroupQueue = (isSuspect: (accountId: string) => boolean, now: () => number) => {
  /** The account at the front is sent first. */
  const waiting = new Map<string, CallGroup>()
  const inFlight = new Set<string>()

  const open = (accountId: string): CallGroup => {
    const group = waiting.get(accountId) ?? newGroup()
    waiting.set(accountId, group)
    return group
  }
  /** What does not fit waits behind the other accounts. Undecided calls get half of the places if there are too many. */
  const fill = (group: CallGroup, accountId: string) => {
    const calls = waiting.get(accountId)
    if (calls === undefined) return
    move(calls.undecided, group.undecided, Math.floor((maxCalls - countCalls(group)) / 2))
    move(calls.charges, group.charges, maxCalls - countCalls(group))
    move(calls.undecided, group.undecided, maxCalls - countCalls(group))
    waiting.delete(accountId)
    if (countCalls(calls) > 0) waiting.set(accountId, calls)
  }

  const findSuspect = () =>
    [...inFlight].some(isSuspect) ? undefined : [...waiting.keys()].find((id) => isSuspect(id) && !inFlight.has(id))

  const takeSuspect = (group: CallGroup, id: string) => {
    fill(group, id)
    inFlight.add(id)
  }

  /** Whether a suspect has waited so long that others, of which there may always be some, must wait for it. */
  const isOverdue = (id: string): boolean => now() - sinceOf(open(id)) > suspectDelay

  return {
    addCharge: (charge: Charge): void => {
      open(charge.hold.call.key.account_id).charges.push(charge)
    },
    addUndecided: (undecided: Undecided): void => {
      open(undecided.call.key.account_id).undecided.push(undecided)
    },
    /** The next group; undefined if there is none. Its accounts are in flight until `release`. */
    take: (): CallGroup | undefined => {
      const group = newGroup()
      const suspect = findSuspect()
      if (suspect !== undefined && isOverdue(suspect)) {
        takeSuspect(group, suspect)
        return group
      }
      for (const id of [...waiting.keys()]) {
        if (inFlight.has(id) || isSuspect(id)) continue
        if (countCalls(group) >= maxCalls) break
        fill(group, id)
        inFlight.add(id)
      }
      if (countCalls(group) === 0 && suspect !== undefined) takeSuspect(group, suspect)
      return countCalls(group) === 0 ? undefined : group
    },
    release: (accountIds: Iterable<string>): void => {
      for (const id of accountIds) inFlight.delete(id)
    },
    /**
     * Adds calls of the group's accounts that arrived while it waited for its locks, as far as `isRead` is true for them. A
     * charge in doubt is not added: it was not looked up, and may be charged already.
     */
    addArrived: (group: CallGroup, accountIds: ReadonlyArray<string>, isRead: (call: PricedCall) => boolean): void => {
      for (const id of accountIds) {
        const calls = waiting.get(id)
        if (calls === undefined || !callsOf(calls).every(isRead)) continue
        if (calls.charges.some(({ isInDoubt }) => isInDoubt)) continue
        fill(group, id)
      }
    },
    /** Puts a group back, before the calls that have arrived since. */
    putBack: ({ charges, undecided }: CallGroup): void => {
      for (const charge of charges.toReversed()) open(charge.hold.call.key.account_id).charges.unshift(charge)
      for (const call of undecided.toReversed()) open(call.call.key.account_id).undecided.unshift(call)
    },
    /** Removes the waiting calls that arrived before `limit` or are withdrawn, and returns them. */
    takeOver: (limit: number): CallGroup => {
      const over = newGroup()
      for (const [id, calls] of waiting) {
        const { charges, undecided } = removeOver(calls, limit)
        over.charges.push(...charges)
        over.undecided.push(...undecided)
        if (countCalls(calls) === 0) waiting.delete(id)
      }
      return over
    },
    isEmpty: () => waiting.size === 0 && inFlight.size === 0
  }
}

export type GroupQueue = ReturnType<typeof makeGroupQueue>
