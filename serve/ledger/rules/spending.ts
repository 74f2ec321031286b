/** What a key has spent, and what its calls hold, by the UTC month of their admission. */
import type { ApiKey } from "../chain/records.ts"

export interface MonthOfKey {
  readonly key_id: string
  /** 12 × year + month - 1. */
  readonly month: number
  spent: number
  /** Held for calls that were admitted in this month and have not ended. */
  held: number
}

/** What was spent before the start. Read on demand. */
export interface StoredSpending {
  /** Spending of this and later months was read at the start. */
  readonly month: number
  readonly readMonth: (accountId: string, keyId: string, month: number) => number
}

export interface KeySpending {
  readonly record: ApiKey
  readonly months: Map<number, MonthOfKey>
  readonly stored: StoredSpending | undefined
}

/** Reading blocks the main thread for a millisecond or more, so what was read at the start is not read again. */
const readSpent = ({ record: { account_id, id }, stored }: KeySpending, month: number): number =>
  stored !== undefined && month < stored.month ? stored.readMonth(account_id, id, month) : 0

export const openMonth = (key: KeySpending, month: number): MonthOfKey => {
  const known = key.months.get(month)
  if (known !== undefined) return known
  const opened = { key_id: key.record.id, month, spent: readSpent(key, month), held: 0 }
  key.months.set(month, opened)
  return opened
}

/** Credits that the budget still allows to be held in this month. */
export const leftInBudget = (key: KeySpending, month: number): number => {
  const { held, spent } = openMonth(key, month)
  return key.record.budget_credits - spent - held
}
