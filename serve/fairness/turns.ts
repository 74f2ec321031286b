/**
 * Whose call is answered now. Each key, and each account with all its keys, has a bounded number of calls and of bytes in
 * flight: from before the hold until the last byte of the answer has left. What is above waits, keys by turns, and gives up
 * after five seconds; the number of those who wait is bounded, too. Large work is cut into steps that let others through.
 */
import { makePlaces } from "./places.ts"
import { makeRoundRobin } from "./round-robin.ts"

/** One call in flight, or one request with several calls. */
export interface Turn {
  readonly account: string
  /** Bytes that the answer takes until it has left, in place of those that were expected. */
  readonly holds: (bytes: number) => void
  /** The answer has left, or never will. More than once is once. */
  readonly end: () => void
}

/** `late` after five seconds, or where too many wait already; `left` when the caller has gone meanwhile. */
export type Entered = Turn | "late" | "left"

interface Bounds {
  readonly calls: number
  readonly bytes: number
}

const mebibyte = 2 ** 20
/**
 * A caller with 1,000 connections and small answers never waits. Of the largest answers of prices, some 5 MB, a key has two
 * on their way at once: enough to fill a fast line.
 */
const ofKey: Bounds = { calls: 1024, bytes: 8 * mebibyte }
const ofAccount: Bounds = { calls: 2048, bytes: 16 * mebibyte }
/** Of all accounts. As long as it is reached, the slowest readers are cut off, one after the other. */
const mostBytes = 256 * mebibyte
/** Reserved for answers below `largeBytes`, so that large ones never keep them waiting. */
const reservedBytes = 64 * mebibyte
/** Calls that wait, each with what it asks; one more is told at once to come again. */
const mostWaiting = { ofKey: 128, ofAccount: 256, ofAll: 4096 }

export const longestWaitMs = 5_000

/** An answer from this size on is read in a step of its own and leaves in pieces: a tenth of a millisecond's work. */
export const largeBytes = 128 * 1024
/** What is handed to the operating system at once. */
export const chunkBytes = 16 * 1024

interface Caller {
  readonly id: string
  readonly account_id: string
}

interface Share {
  calls: number
  bytes: number
}

interface Waiting {
  readonly caller: Caller
  readonly expected: number
  readonly start: () => void
}

const hasRoom = (share: Share | undefined, { bytes, calls }: Bounds) =>
  share === undefined || (share.calls < calls && share.bytes < bytes)

export const makeTurns = () => {
  const shares = new Map<string, Share>()
  const waiting = makeRoundRobin<Waiting>()
  const waitingOf = new Map<string, number>()
  let waitingOfAll = 0
  const loop = makePlaces(1)
  let total = 0

  const mayStart = (caller: Caller, expected: number) =>
    total < (expected < largeBytes ? mostBytes + reservedBytes : mostBytes) &&
    hasRoom(shares.get(caller.id), ofKey) &&
    hasRoom(shares.get(caller.account_id), ofAccount)

  const add = ({ account_id, id }: Caller, calls: number, bytes: number) => {
    total += bytes
    for (const name of [id, account_id]) {
      const share = shares.get(name) ?? { calls: 0, bytes: 0 }
      share.calls += calls
      share.bytes += bytes
      if (share.calls === 0) shares.delete(name)
      else shares.set(name, share)
    }
  }

  const canStart = ({ caller, expected }: Waiting) => mayStart(caller, expected)
  const wake = () => {
    for (let next = waiting.take(canStart); next !== undefined; next = waiting.take(canStart)) next.start()
  }

  const countWaiting = ({ account_id, id }: Caller, change: 1 | -1) => {
    for (const name of [id, account_id]) {
      const count = (waitingOf.get(name) ?? 0) + change
      if (count === 0) waitingOf.delete(name)
      else waitingOf.set(name, count)
    }
    waitingOfAll += change
  }

  const mayWait = ({ account_id, id }: Caller) =>
    (waitingOf.get(id) ?? 0) < mostWaiting.ofKey &&
    (waitingOf.get(account_id) ?? 0) < mostWaiting.ofAccount &&
    waitingOfAll < mostWaiting.ofAll

  const begin = (caller: Caller, expected: number): Turn => {
    let held = expected
    let hasEnded = false
    add(caller, 1, held)
    return {
      account: caller.account_id,
      holds: (bytes) => {
        if (hasEnded) return
        const more = bytes - held
        held = bytes
        add(caller, 0, more)
        if (more < 0) wake()
      },
      end: () => {
        if (hasEnded) return
        hasEnded = true
        add(caller, -1, -held)
        wake()
      }
    }
  }

  const untilRoom = (caller: Caller, expected: number, signal: AbortSignal) =>
    new Promise<Entered>((resolve) => {
      const giveUp = (why: "late" | "left") => {
        waiting.remove(caller.id, waiter)
        settle(why)
      }
      const leave = () => giveUp("left")
      const timer = setTimeout(() => giveUp("late"), longestWaitMs)
      const settle = (outcome: Entered) => {
        clearTimeout(timer)
        signal.removeEventListener("abort", leave)
        countWaiting(caller, -1)
        resolve(outcome)
      }
      const waiter = { caller, expected, start: () => settle(begin(caller, expected)) }
      waiting.add(caller.id, waiter)
      countWaiting(caller, 1)
      signal.addEventListener("abort", leave)
    })

  /** Resolves when the account may take a little of the event loop: one step in each of its rounds, accounts by turns. */
  const step = async (account: string): Promise<void> => {
    await loop.enter(account)
    setImmediate(loop.leave)
  }

  return {
    /** At once where there is room. */
    enter: (caller: Caller, expected: number, signal: AbortSignal): Entered | Promise<Entered> => {
      if (signal.aborted) return "left"
      if (mayStart(caller, expected)) return begin(caller, expected)
      return mayWait(caller) ? untilRoom(caller, expected, signal) : "late"
    },
    step,
    isFull: () => total >= mostBytes,
    unsentBytes: () => total,
    waiting: () => waitingOfAll
  }
}

export type Turns = ReturnType<typeof makeTurns>
