/**
 * Whose call is answered now. Each key, and each account with all its keys, has a bounded number of calls and of bytes in
 * flight: from before the hold until the last byte of the answer has left. What is above waits, accounts by turns, and gives
 * up after five seconds. So no caller can fill the memory, and large work is cut into steps that let others through.
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

/** `late` after five seconds; `left` when the caller has gone meanwhile. */
export type Entered = Turn | "late" | "left"

interface Bounds {
  readonly calls: number
  readonly bytes: number
}

const mebibyte = 2 ** 20
/**
 * A caller with 500 connections and small answers never waits. Of the largest answers of prices, some 5 MB, a key has two
 * on their way at once: enough to fill a fast line.
 */
const ofKey: Bounds = { calls: 512, bytes: 8 * mebibyte }
const ofAccount: Bounds = { calls: 1024, bytes: 16 * mebibyte }
/** Of all accounts. As long as it is reached, the slowest readers are cut off, one after the other. */
const mostBytes = 256 * mebibyte
/** Beyond that, for small answers alone: large ones of others never keep them waiting. */
const reservedBytes = 64 * mebibyte

export const longestWaitMs = 5_000

/** An answer from this size on is read in a step of its own and leaves in pieces: a tenth of a millisecond's work. */
export const largeBytes = 128 * 1024

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

  const goes = ({ caller, expected }: Waiting) => mayStart(caller, expected)
  const wake = () => {
    for (let next = waiting.take(goes); next !== undefined; next = waiting.take(goes)) next.start()
  }

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
        waiting.remove(caller.account_id, waiter)
        settle(why)
      }
      const leave = () => giveUp("left")
      const timer = setTimeout(() => giveUp("late"), longestWaitMs)
      const settle = (outcome: Entered) => {
        clearTimeout(timer)
        signal.removeEventListener("abort", leave)
        resolve(outcome)
      }
      const waiter = { caller, expected, start: () => settle(begin(caller, expected)) }
      waiting.add(caller.account_id, waiter)
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
      return mayStart(caller, expected) ? begin(caller, expected) : untilRoom(caller, expected, signal)
    },
    step,
    isFull: () => total >= mostBytes,
    unsentBytes: () => total,
    waiting: () => waiting.count()
  }
}

export type Turns = ReturnType<typeof makeTurns>
