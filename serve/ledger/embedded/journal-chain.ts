/** Whether the entries of a journal follow those that the database has, and each other. */
import { beginning, breakBefore, type ChainHead } from "../chain.ts"
import type { Group } from "../machine.ts"
import { moneyOutOf } from "../money-out.ts"
import type { Entry } from "../records.ts"

/** Where reading the journal has arrived. */
export interface Place {
  /** Number of the last entry that the database had before. */
  readonly lastTakenUp: number
  /** Number of the last entry that was read. */
  last: number | undefined
  /** Where the accounts have arrived; those that only the journal knows join when they are met. */
  readonly heads: Map<string, ChainHead>
  /** Credits that have gone out of an account with money, where some have; see `moneyOutOf`. */
  readonly moneyOut: Map<string, number>
}

/** What is wrong in the groups of the next file, or undefined. Moves `place` to their end. */
export const breakIn = (groups: ReadonlyArray<Group>, place: Place): string | undefined => {
  for (const group of groups) {
    for (const { id } of group.accounts) if (!place.heads.has(id)) place.heads.set(id, beginning)
    for (const entry of group.entries) {
      const problem = gapBefore(entry, place) ?? chainBreakBefore(entry, place)
      if (problem !== undefined) return problem
      place.last = entry.sequence
    }
  }
  return undefined
}

/** The first file may begin with what the database has, when the last stop came between taking up and removing. */
const gapBefore = ({ sequence }: Entry, { last, lastTakenUp }: Place) => {
  const before = last ?? Math.min(sequence - 1, lastTakenUp)
  return sequence === before + 1 ? undefined : `entry ${sequence} follows entry ${before}, so entries are missing`
}

const chainBreakBefore = (entry: Entry, { heads, lastTakenUp, moneyOut }: Place) => {
  if (entry.sequence <= lastTakenUp) return undefined
  const place = `entry ${entry.position} of account ${entry.account_id}`
  const head = heads.get(entry.account_id)
  if (head === undefined) return `${place} is of an account that is not there`
  const gone = (moneyOut.get(entry.account_id) ?? 0) + moneyOutOf(entry)
  if (entry.balance < -gone) return `${place} leaves a balance of ${entry.balance} credits`
  if (gone > 0) moneyOut.set(entry.account_id, gone)
  heads.set(entry.account_id, entry)
  return breakBefore(head, entry)
}
