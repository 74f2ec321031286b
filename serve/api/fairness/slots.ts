/** A bounded number of slots, such as for concurrent compressions. Waiting accounts are served round robin. */
import { makeRoundRobin } from "./round-robin.ts"

export const makeSlots = (count: number) => {
  const waiting = makeRoundRobin<() => void>()
  let free = count
  return {
    /** Resolves with true once a slot is taken, or with false if the signal fires first. Release each slot once. */
    acquire: (account: string, signal?: AbortSignal): Promise<boolean> =>
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
    release: (): void => {
      const next = waiting.take()
      if (next === undefined) free++
      else next()
    }
  }
}
