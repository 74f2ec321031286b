/** A bounded number of slots, such as for concurrent compressions. Waiting accounts are served round robin. */
import { makeRoundRobin } from "./round-robin.ts"

interface Slots {
  /** Resolves with true once a slot is taken; with false when the signal fires first. Each slot taken is released once. */
  readonly acquire: (account: string, signal?: AbortSignal) => Promise<boolean>
  readonly release: () => void
}

export const makeSlots = (count: number): Slots => {
  const waiting = makeRoundRobin<() => void>()
  let free = count
  return {
    acquire: (account, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve(false)
        if (free > 0) {
          free--
          return resolve(true)
        }
        const giveUp = () => {
          waiting.remove(account, start)
          resolve(false)
        }
        const start = () => {
          signal?.removeEventListener("abort", giveUp)
          resolve(true)
        }
        signal?.addEventListener("abort", giveUp)
        waiting.add(account, start)
      }),
    release: () => {
      const next = waiting.take()
      if (next === undefined) free++
      else next()
    }
  }
}
