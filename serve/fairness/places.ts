/** A few places to work in, given to accounts by turns. */
import { makeRoundRobin } from "./round-robin.ts"

export interface Places {
  /** Resolves when there is a place. Who was let in leaves once. */
  readonly enter: (account: string) => Promise<void>
  readonly leave: () => void
}

export const makePlaces = (count: number): Places => {
  const waiting = makeRoundRobin<() => void>()
  let free = count
  return {
    enter: (account) =>
      new Promise((resolve) => {
        if (free === 0) return waiting.add(account, resolve)
        free--
        resolve()
      }),
    leave: () => {
      const next = waiting.take()
      if (next === undefined) free++
      else next()
    }
  }
}
