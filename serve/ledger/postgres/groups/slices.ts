/** Slices: credits that a server reserves for its next calls of an account, if other servers also have calls of it. */
import type { Hold } from "../../rules/admission.ts"
import type { KeyState } from "../../rules/ledger-state.ts"
import { leftInBudget, type MonthOfKey } from "../../rules/spending.ts"

/**
 * A change of a slice that is being written. Until the outcome is known, calls may use only what both the old and the new
 * slice reserve. Then the rest of the slice that applies is added.
 */
export interface PendingSlice {
  readonly id: string
  readonly slice: Map<MonthOfKey, number>
  readonly whenWritten: ReadonlyMap<MonthOfKey, number>
  readonly whenNotWritten: ReadonlyMap<MonthOfKey, number>
}

/** A slice is this many times what the calls of a group hold, and at most this part of what is left. */
const sliceFactor = 4
const maxShareOfRemaining = 1 / 8

/** Credits beyond what the calls of a group hold, by key and month. Each part reduces what is left for the next one. */
export const planSlice = (
  calls: Iterable<Hold>,
  id: string,
  months: ReadonlyArray<number>
): ReadonlyMap<MonthOfKey, number> => {
  const needed = new Map<MonthOfKey, { readonly key: KeyState; readonly credits: number }>()
  for (const { credits, key, month } of calls) {
    if (key.record.account_id !== id || !months.includes(month.month)) continue
    needed.set(month, { key, credits: (needed.get(month)?.credits ?? 0) + credits })
  }
  let reserved = 0
  const reservedByKey = new Map<KeyState, number>()
  const slice = new Map<MonthOfKey, number>()
  for (const [month, { credits, key }] of needed) {
    const { head, held } = key.account
    const left = Math.min(
      head.balance - held - reserved,
      leftInBudget(key, month.month) - (reservedByKey.get(key) ?? 0)
    )
    const part = Math.min(credits * sliceFactor, Math.floor(left * maxShareOfRemaining))
    if (part < credits) continue // less than the next group needs
    slice.set(month, part)
    reserved += part
    reservedByKey.set(key, (reservedByKey.get(key) ?? 0) + part)
  }
  return slice
}

export const changeSlice = (
  id: string,
  slice: Map<MonthOfKey, number>,
  next: ReadonlyMap<MonthOfKey, number>
): PendingSlice => {
  const [whenWritten, whenNotWritten] = [new Map<MonthOfKey, number>(), new Map<MonthOfKey, number>()]
  for (const month of new Set([...slice.keys(), ...next.keys()])) {
    const [before, after] = [slice.get(month) ?? 0, next.get(month) ?? 0]
    const common = Math.min(before, after)
    slice.set(month, common)
    whenWritten.set(month, after - common)
    whenNotWritten.set(month, before - common)
  }
  return { id, slice, whenWritten, whenNotWritten }
}

export const addToSlice = (slice: Map<MonthOfKey, number>, added: ReadonlyMap<MonthOfKey, number>): void => {
  for (const [month, credits] of added) slice.set(month, (slice.get(month) ?? 0) + credits)
}
