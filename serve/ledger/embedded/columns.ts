/** SQLite rows in the spelling of the records. The tables are strict, so every value has the type of its column. */
import type { Row } from "../../persistence/sqlite.ts"
import type { Entry } from "../chain/records.ts"

export const entryColumns = `sequence, account_id, position, type, occurred_at, key_id, endpoint, credits, balance,
  budget_credits, daily_budget_credits, weekly_budget_credits, request_id, note, expires_at, grants, hash`

/** Copies the row: Node creates rows without a prototype, and these never compare equal to a record. */
export const entryOf = (row: Row): Entry => ({ ...row }) as unknown as Entry // the columns above

export const textIn = (row: Row | undefined, column: string): string => String(row?.[column])
export const numberIn = (row: Row | undefined, column: string): number => Number(row?.[column])
