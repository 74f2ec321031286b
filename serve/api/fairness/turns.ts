/**
 * Fair sharing between callers. Each key and each account has quotas for calls and bytes in flight: from before the
 * hold until the last byte of the answer is sent. Calls above a quota wait up to five seconds, keys round robin; the
 * number of waiting calls is also limited. Large work is split into steps, so that other calls run in between.
 */
import { makeRoundRobin } from "./round-robin.ts"
import { makeSlots } from "./slots.ts"

export interface Turn {
  readonly account: string
  readonly setBytes: (bytes: number) => void
  /** Call this when the answer is sent or abandoned. Idempotent. */
  readonly end: () => void
}

/** The turn of a request that answers several calls, with the byte budget that they share. */
export interface SharedTurn extends Turn {
  readonly take: (bytes: number) => boolean
}

/** `late`: timed out, or too many calls are waiting. `left`: the caller disconnected. */
export type Entered = Turn | "late" | "left"

interface Quota {
  readonly calls: number
  readonly bytes: number
}

const mebibyte = 2 ** 20
/**
 * A caller with 1,000 connections and small answers never waits. The largest answers, prices, have 5 MB: two of them
 * can be in flight per key, which saturates a fast connection.
 */
const keyQuota: Quota = { calls: 1024, bytes: 8 * mebibyte }
const accountQuota: Quota = { calls: 2048, bytes: 16 * mebibyte }
/** For all accounts together. While it is exceeded, the slowest readers are disconnected one by one. */
const maxBytes = 256 * mebibyte
/** Reserved for answers below `largeBytes`: large answers never block them. */
const reservedBytes = 64 * mebibyte
/** Waiting calls. A call above a limit is refused immediately. */
const maxWaiting = { perKey: 128, perAccount: 256, overall: 4096 }

const timeoutMs = 5_000

/** Answers of this size or more are read in their own step, and sent with one step per this many bytes: 0.1 ms each. */
export const largeBytes = 128 * 1024
export const chunkBytes = 16 * 1024

interface Caller {
  readonly id: string
  readonly account_id: string
}

interface Share {
  calls: number
  bytes: number
  /** Calls that wait. */
  waiting: number
}

interface Waiting {
  readonly caller: Caller
  readonly expected: number
  readonly start: () => void
}

const hasRoom = (share: Share | undefined, { bytes, calls }: Quota) =>
  share === undefined || (share.calls < calls && share.bytes < bytes)

export const makeTurns = () => {
  const shares = new Map<string, Share>()
  const waiting = makeRoundRobin<Waiting>()
  let waitingTotal = 0
  const loop = makeSlots(1)
  let totalBytes = 0

  const mayStart = (caller: Caller, expected: number) =>
    totalBytes < (expected < largeBytes ? maxBytes + reservedBytes : maxBytes) &&
    hasRoom(shares.get(caller.id), keyQuota) &&
    hasRoom(shares.get(caller.account_id), accountQuota)

  const add = ({ account_id, id }: Caller, calls: number, bytes: number, waiting = 0) => {
    totalBytes += bytes
    waitingTotal += waiting
    for (const name of [id, account_id]) {
      const share = shares.get(name) ?? { calls: 0, bytes: 0, waiting: 0 }
      share.calls += calls
      share.bytes += bytes
      share.waiting += waiting
      if (share.calls === 0 && share.waiting === 0) shares.delete(name)
      else shares.set(name, share)
    }
  }

  const canStart = ({ caller, expected }: Waiting) => mayStart(caller, expected)
  const startWaiting = () => {
    for (let next = waiting.take(canStart); next !== undefined; next = waiting.take(canStart)) next.start()
  }

  const mayWait = ({ account_id, id }: Caller) =>
    (shares.get(id)?.waiting ?? 0) < maxWaiting.perKey &&
    (shares.get(account_id)?.waiting ?? 0) < maxWaiting.perAccount &&
    waitingTotal < maxWaiting.overall

  const begin = (caller: Caller, expected: number): Turn => {
    let size = expected
    let hasEnded = false
    add(caller, 1, size)
    return {
      account: caller.account_id,
      setBytes: (bytes) => {
        if (hasEnded) return
        const change = bytes - size
        size = bytes
        add(caller, 0, change)
        if (change < 0) startWaiting()
      },
      end: () => {
        if (hasEnded) return
        hasEnded = true
        add(caller, -1, -size)
        startWaiting()
      }
    }
  }

  const waitForRoom = (caller: Caller, expected: number, signal: AbortSignal) =>
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
        add(caller, 0, 0, -1)
        resolve(outcome)
      }
      const waiter = { caller, expected, start: () => settle(begin(caller, expected)) }
      waiting.add(caller.id, waiter)
      add(caller, 0, 0, 1)
      signal.addEventListener("abort", leave)
    })

  /** Resolves when the account may do one step of work: one per iteration of the event loop, accounts round robin. */
  const step = async (account: string): Promise<void> => {
    await loop.acquire(account)
    setImmediate(loop.release)
  }

  return {
    /** Returns immediately, without a promise, if the quotas allow the call or too many calls are waiting. */
    enter: (caller: Caller, expected: number, signal: AbortSignal): Entered | Promise<Entered> => {
      if (signal.aborted) return "left"
      if (mayStart(caller, expected)) return begin(caller, expected)
      return mayWait(caller) ? waitForRoom(caller, expected, signal) : "late"
    },
    step,
    isFull: () => totalBytes >= maxBytes,
    unsentBytes: () => totalBytes,
    waiting: () => waitingTotal
  }
}

export type Turns = ReturnType<typeof makeTurns>
