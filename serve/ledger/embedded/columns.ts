/** Rows of SQLite as the records spell them. The tables are strict, so what a column says is of its type. */
import type { Row } from "../../persistence/sqlite.ts"
import type { Entry } from "../records.ts"

export const entryColumns = `sequence, account_id, position, type, occurred_at, key_id, endpoint, credits, balance,
  budget_credits, daily_budget_credits, weekly_budget_credits, request_id, note, expires_at, grants, hash`

/** Node makes rows without a prototype, which are equal to no record. */
export const entryOf = (row: Row): Entry => ({ ...row }) as unknown as Entry // the columns above

export const textIn = (row: Row | undefined, column: string): string => String(row?.[column])
export const numberIn = (row: Row | undefined, column: string): number => Number(row?.[column])
