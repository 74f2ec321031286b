/**
 * Fair sharing between callers. Each key and each account has quotas for calls and bytes in flight: from before the hold until
 * the last byte of the answer is sent. Calls above a quota wait, keys round robin, with a timeout of five seconds; the number
 * of waiting calls is limited, too. Large work is split into steps, so that other calls run between them.
 */

import { makeRoundRobin } from "./round-robin.ts"
import { makeSlots } from "./slots.ts"

/** One call in flight, or one request with several calls. */
export interface Turn {
  readonly account: string
  /** Replaces the expected size with the real one, in bytes. */
  readonly holds: (bytes: number) => void
  /** The answer is sent or given up. Idempotent. */
  readonly end: () => void
}

/** The turn of a request that answers several calls, with the byte budget that they share. */
export interface SharedTurn extends Turn {
  /** Takes bytes from the budget for an answer; false if too few are left. */
  readonly take: (bytes: number) => boolean
}

/** `late`: timed out, or too many calls wait already. `left`: the caller disconnected. */
export type Entered = Turn | "late" | "left"

interface Bounds {
  readonly calls: number
  readonly bytes: number
}

const mebibyte = 2 ** 20
/**
 * A caller with 1,000 connections and small answers never waits. The largest answers, prices, have 5 MB: two of them are in
 * flight per key, which fills a fast connection.
 */
const ofKey: Bounds = { calls: 1024, bytes: 8 * mebibyte }
const ofAccount: Bounds = { calls: 2048, bytes: 16 * mebibyte }
/** Limit for all accounts together. While it is exceeded, the slowest readers are disconnected one by one. */
const maxBytes = 256 * mebibyte
/** Reserved for answers below `largeBytes`: large answers never block them. */
const reservedBytes = 64 * mebibyte
/** Limits of waiting calls. A call above them is refused immediately. */
const maxWaiting = { ofKey: 128, ofAccount: 256, ofAll: 4096 }

const timeoutMs = 5_000

/** From this size on, answers are read in their own step, and sent with one step per this many bytes: 0.1 ms each. */
export const largeBytes = 128 * 1024
/** Largest single write to a socket. */
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
  const loop = makeSlots(1)
  let total = 0

  const mayStart = (caller: Caller, expected: number) =>
    total < (expected < largeBytes ? maxBytes + reservedBytes : maxBytes) &&
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
    (waitingOf.get(id) ?? 0) < maxWaiting.ofKey &&
    (waitingOf.get(account_id) ?? 0) < maxWaiting.ofAccount &&
    waitingOfAll < maxWaiting.ofAll

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
      const timer = setTimeout(() => giveUp("late"), timeoutMs)
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

  /** Resolves when the account may do one step of work: one per iteration of the event loop, accounts round robin. */
  const step = async (account: string): Promise<void> => {
    await loop.acquire(account)
    setImmediate(loop.release)
  }

  return {
    /** Returns without waiting, and without a promise, if the quotas allow the call or too many calls wait. */
    enter: (caller: Caller, expected: number, signal: AbortSignal): Entered | Promise<Entered> => {
      if (signal.aborted) return "left"
      if (mayStart(caller, expected)) return begin(caller, expected)
      return mayWait(caller) ? untilRoom(caller, expected, signal) : "late"
    },
    step,
    isFull: () => total >= maxBytes,
    unsentBytes: () => total,
    waiting: () => waitingOfAll
  }
}

export type Turns = ReturnType<typeof makeTurns>
