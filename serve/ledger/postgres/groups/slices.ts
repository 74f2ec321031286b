/** Slices: credits that a server reserves for its next calls of an account, if other servers also have calls of it. */
import type { Hold } from "../../rules/admission.ts"
import type { KeyState } from "../../rules/ledger-state.ts"
import { type DayOfKey, leftInBudgets } from "../../rules/spending.ts"

/**
 * A change of a slice that is being written. Until the outcome is known, calls may use only what both the old and the new
 * slice reserve. Then the rest of the slice that applies is added.
 */
export interface PendingSlice {
  readonly id: string
  readonly slice: Map<DayOfKey, number>
  readonly whenWritten: ReadonlyMap<DayOfKey, number>
  readonly whenNotWritten: ReadonlyMap<DayOfKey, number>
}

/** A slice is this many times what the calls of a group hold, and at most this part of what is left. */
const sliceFactor = 4
const maxShareOfRemaining = 1 / 8

/** Credits beyond what the calls of a group hold, by key and day. Each part reduces what is left for the next one. */
export const planSlice = (
  calls: Iterable<Hold>,
  id: string,
  days: ReadonlyArray<number>
): ReadonlyMap<DayOfKey, number> => {
  const needed = new Map<DayOfKey, { readonly key: KeyState; readonly credits: number }>()
  for (const { credits, day, key } of calls) {
    if (key.record.account_id !== id || !days.includes(day.day)) continue
    needed.set(day, { key, credits: (needed.get(day)?.credits ?? 0) + credits })
  }
  let reserved = 0
  const reservedByKey = new Map<KeyState, number>()
  const slice = new Map<DayOfKey, number>()
  for (const [day, { credits, key }] of needed) {
    const { head, held } = key.account
    const left = Math.min(head.balance - held - reserved, leftInBudgets(key, day.day) - (reservedByKey.get(key) ?? 0))
    const part = Math.min(credits * sliceFactor, Math.floor(left * maxShareOfRemaining))
    if (part < credits) continue // less than the next group needs
    slice.set(day, part)
    reserved += part
    reservedByKey.set(key, (reservedByKey.get(key) ?? 0) + part)
  }
  return slice
}

export const changeSlice = (
  id: string,
  slice: Map<DayOfKey, number>,
  next: ReadonlyMap<DayOfKey, number>
): PendingSlice => {
  const [whenWritten, whenNotWritten] = [new Map<DayOfKey, number>(), new Map<DayOfKey, number>()]
  for (const day of new Set([...slice.keys(), ...next.keys()])) {
    const [before, after] = [slice.get(day) ?? 0, next.get(day) ?? 0]
    const common = Math.min(before, after)
    slice.set(day, common)
    whenWritten.set(day, after - common)
    whenNotWritten.set(day, before - common)
  }
  return { id, slice, whenWritten, whenNotWritten }
}

export const addToSlice = (slice: Map<DayOfKey, number>, added: ReadonlyMap<DayOfKey, number>): void => {
  for (const [day, credits] of added) slice.set(day, (slice.get(day) ?? 0) + credits)
}
