/** The turn of one MCP request with all its calls, and the byte budget that its answers share. */
import type { SharedTurn, Turn } from "../api/fairness/turns.ts"

/** Budget in bytes of data; `tooLargeTogether` states it. MCP sends each answer twice, as text and as a value. */
const mostBytes = 8 * 2 ** 20
const heldForEach = 3

/** Expected bytes of a request when its turn begins. */
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
