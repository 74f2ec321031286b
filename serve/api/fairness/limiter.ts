/**
 * Limits concurrent calls, fairly between callers. Each key and each account has quotas for calls and bytes in flight,
 * from before the hold until the last byte of the response is sent. Calls above a quota wait up to five seconds, keys
 * round robin; the number of waiting calls is also limited. Large work is split into steps; other calls run in between.
 */
import { makeRoundRobin } from "./round-robin.ts"
import { makeSlots } from "./slots.ts"

/** Allows one call to run. */
export interface Permit {
  readonly account: string
  readonly setBytes: (bytes: number) => void
  /** Call this when the response is sent or abandoned. Idempotent. */
  readonly release: () => void
}

/** `too many in flight`: the wait timed out, or too many calls are waiting. */
export type Acquired = Permit | "too many in flight" | "disconnected"

interface Quota {
  readonly calls: number
  readonly bytes: number
}

const mebibyte = 2 ** 20
/**
 * A caller with 1,000 connections and small responses never waits. The largest responses, prices, have 5 MB: two of
 * them can be in flight per key, which saturates a fast connection.
 */
const keyQuota: Quota = { calls: 1024, bytes: 8 * mebibyte }
const accountQuota: Quota = { calls: 2048, bytes: 16 * mebibyte }
/** For all accounts together. Once it is reached, stalled readers are disconnected, or else the slowest one. */
const maxBytes = 256 * mebibyte
/** Reserved for responses below `largeBytes`. */
const reservedBytes = 64 * mebibyte
/** Memory of an ordinary waiting call and its connection: 13 kB, or 16 kB for a short message of an assistant. */
const waitingCallBytes = 20_000
/**
 * Memory of waiting calls, for as many calls as can be in flight: a thousand calls of a key are served even if their
 * responses together exceed its quota for bytes. A call above a limit is refused immediately.
 */
const maxWaitingBytes = {
  perKey: 1024 * waitingCallBytes,
  perAccount: 2048 * waitingCallBytes,
  overall: 8192 * waitingCallBytes
}

const timeoutMs = 5_000

/** Responses of this size or more are read in a separate step, and sent with one step per this many bytes: 0.1 ms each. */
export const largeBytes = 128 * 1024
export const chunkBytes = 16 * 1024

interface Caller {
  readonly id: string
  readonly account_id: string
}

interface Usage {
  calls: number
  bytes: number
  waitingBytes: number
}

interface Waiting {
  readonly caller: Caller
  readonly expectedBytes: number
  readonly start: () => void
}

const isBelow = (usage: Usage | undefined, { bytes, calls }: Quota) =>
  usage === undefined || (usage.calls < calls && usage.bytes < bytes)

export const makeLimiter = () => {
  /** By key and by account. */
  const usages = new Map<string, Usage>()
  const waiting = makeRoundRobin<Waiting>()
  let waitingCalls = 0
  let totalWaitingBytes = 0
  const loop = makeSlots(1)
  let totalBytes = 0

  const canStart = ({ caller, expectedBytes }: Omit<Waiting, "start">) =>
    totalBytes < (expectedBytes < largeBytes ? maxBytes + reservedBytes : maxBytes) &&
    isBelow(usages.get(caller.id), keyQuota) &&
    isBelow(usages.get(caller.account_id), accountQuota)

  const add = ({ account_id, id }: Caller, calls: number, bytes: number, waitingBytes = 0) => {
    totalBytes += bytes
    totalWaitingBytes += waitingBytes
    for (const name of [id, account_id]) {
      const usage = usages.get(name) ?? { calls: 0, bytes: 0, waitingBytes: 0 }
      usage.calls += calls
      usage.bytes += bytes
      usage.waitingBytes += waitingBytes
      if (usage.calls === 0 && usage.waitingBytes === 0) usages.delete(name)
      else usages.set(name, usage)
    }
  }

  const startWaiting = () => {
    for (let next = waiting.take(canStart); next !== undefined; next = waiting.take(canStart)) next.start()
  }

  const mayWait = ({ account_id, id }: Caller, bytes: number) =>
    (usages.get(id)?.waitingBytes ?? 0) + bytes <= maxWaitingBytes.perKey &&
    (usages.get(account_id)?.waitingBytes ?? 0) + bytes <= maxWaitingBytes.perAccount &&
    totalWaitingBytes + bytes <= maxWaitingBytes.overall

  const begin = (caller: Caller, expectedBytes: number): Permit => {
    let size = expectedBytes
    let isReleased = false
    add(caller, 1, size)
    return {
      account: caller.account_id,
      setBytes: (bytes) => {
        if (isReleased) return
        const change = bytes - size
        size = bytes
        add(caller, 0, change)
        if (change < 0) startWaiting()
      },
      release: () => {
        if (isReleased) return
        isReleased = true
        add(caller, -1, -size)
        startWaiting()
      }
    }
  }

  const waitForCapacity = (caller: Caller, expectedBytes: number, signal: AbortSignal, memory: number) =>
    new Promise<Acquired>((resolve) => {
      const giveUp = (reason: "too many in flight" | "disconnected") => {
        waiting.remove(caller.id, waiter)
        settle(reason)
      }
      const disconnect = () => giveUp("disconnected")
      const timer = setTimeout(() => giveUp("too many in flight"), timeoutMs)
      const settle = (outcome: Acquired) => {
        clearTimeout(timer)
        signal.removeEventListener("abort", disconnect)
        waitingCalls--
        add(caller, 0, 0, -memory)
        resolve(outcome)
      }
      const waiter = { caller, expectedBytes, start: () => settle(begin(caller, expectedBytes)) }
      waiting.add(caller.id, waiter)
      waitingCalls++
      add(caller, 0, 0, memory)
      signal.addEventListener("abort", disconnect)
    })

  /**
   * Resolves when the account may do one step of work: one per iteration of the event loop, accounts round robin. Sending
   * comes before reading: otherwise the response to a search of 150 kB would wait for the reads of all others twice.
   */
  const step = async (account: string, work: "read" | "send"): Promise<void> => {
    await loop.acquire(account, { isUrgent: work === "send" })
    setImmediate(loop.release)
  }

  return {
    /** Returns a promise only if the call has to wait. `requestBytes` returns the memory that its request takes meanwhile. */
    acquire: (
      caller: Caller,
      expectedBytes: number,
      signal: AbortSignal,
      requestBytes: () => number
    ): Acquired | Promise<Acquired> => {
      if (signal.aborted) return "disconnected"
      if (canStart({ caller, expectedBytes })) return begin(caller, expectedBytes)
      const memory = Math.max(waitingCallBytes, requestBytes())
      return mayWait(caller, memory) ? waitForCapacity(caller, expectedBytes, signal, memory) : "too many in flight"
    },
    step,
    isFull: () => totalBytes >= maxBytes,
    unsentBytes: () => totalBytes,
    waiting: () => waitingCalls
  }
}

export type Limiter = ReturnType<typeof makeLimiter>
