/** A bounded number of slots, such as for concurrent compressions. Waiting accounts are served round robin. */
import { makeRoundRobin } from "./round-robin.ts"

interface Waiting {
  readonly start: () => void
  readonly isUrgent: boolean
}

interface AcquireOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether it comes before those of the same account that are not. */
  readonly isUrgent?: boolean
}

export const makeSlots = (count: number) => {
  const waiting = makeRoundRobin<Waiting>()
  let free = count
  return {
    /** Resolves with true once a slot is taken, or with false if the signal fires first. Release each slot once. */
    acquire: (account: string, { isUrgent = false, signal }: AcquireOptions = {}): Promise<boolean> =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve(false)
        if (free > 0) {
          free--
          return resolve(true)
        }
        const giveUp = () => {
          waiting.remove(account, waiter)
          resolve(false)
        }
        const start = () => {
          signal?.removeEventListener("abort", giveUp)
          resolve(true)
        }
        const waiter = { start, isUrgent }
        signal?.addEventListener("abort", giveUp)
        waiting.add(account, waiter, (other) => isUrgent && !other.isUrgent)
      }),
    release: (): void => {
      const next = waiting.take()
      if (next === undefined) free++
      else next.start()
    }
  }
}
