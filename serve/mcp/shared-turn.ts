/** The turn of one request of the protocol, with one call or many, and the bytes that its answers may take together. */
import type { Turn } from "../fairness/turns.ts"
import type { SharedTurn } from "../pipeline.ts"

/** Bytes of data, `tooLargeTogether` names them. The protocol says each answer twice, as text and as a value. */
const mostBytes = 8 * 2 ** 20
const heldForEach = 3

/** What the turn of a request waits for room for. */
export const expectedOfAll = (bytes: number): number => Math.min(bytes, mostBytes) * heldForEach

export const sharedTurn = (turn: Turn): SharedTurn => {
  let taken = 0
  return {
    ...turn,
    take: (bytes) => {
      if (taken + bytes > mostBytes) return false
      taken += bytes
      turn.holds(taken * heldForEach)
      return true
    }
  }
}
