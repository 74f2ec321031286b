/** A few places to work in, given to accounts by turns. */
import { makeRoundRobin } from "./round-robin.ts"

export interface Places {
  /** Resolves when there is a place, and with false when the signal fires before. Who was let in leaves once. */
  readonly enter: (account: string, signal?: AbortSignal) => Promise<boolean>
  readonly leave: () => void
}

export const makePlaces = (count: number): Places => {
  const waiting = makeRoundRobin<() => void>()
  let free = count
  return {
    enter: (account, signal) =>
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
    leave: () => {
      const next = waiting.take()
      if (next === undefined) free++
      else next()
    }
  }
}
