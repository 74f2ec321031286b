/**
 * The rules of the contract, section 6, as one table each: which numbers admit a call, in which order they refuse it, and
 * when a secret is known. Written from the contract and not from the ledger's code. A key that has no budget per day or week
 * counts as having one of 9,000,000,000,000,000 credits, which is the most that a budget can be.
 */
import type { Scope } from "@larder/schemas"

export const timeOf = (ms: number): string => new Date(ms).toISOString()
export const dayOf = (ms: number): string => timeOf(ms).slice(0, 10)

export type Refusal =
  | "insufficient_balance"
  | "daily_spend_cap_reached"
  | "weekly_spend_cap_reached"
  | "monthly_spend_cap_reached"

export const noBudget = 9_000_000_000_000_000

/** 1970-01-05 was a Monday. */
const weekOf = (ms: number) => Math.floor((ms / 86_400_000 - 4) / 7)

/** Budgets of a key, the shortest window first. `of` names the window of a moment; names of different windows differ. */
export const windows = [
  { budget: "day", of: dayOf, refusal: "daily_spend_cap_reached" },
  { budget: "week", of: (ms: number) => `week ${weekOf(ms)}`, refusal: "weekly_spend_cap_reached" },
  { budget: "month", of: (ms: number) => timeOf(ms).slice(0, 7), refusal: "monthly_spend_cap_reached" }
] as const satisfies ReadonlyArray<{ budget: string; of: (ms: number) => string; refusal: Refusal }>

export type Budgets = Readonly<Record<(typeof windows)[number]["budget"], number>>

/** What a key is between two changes. It has two secrets while it is rotated; none is known beyond the key's end. */
export interface Terms {
  readonly until: number
  readonly scopes: ReadonlyArray<Scope>
  readonly budgets: Budgets
  readonly secrets: ReadonlyArray<{ readonly secret: string; readonly until: number }>
  readonly isRevoked: boolean
}

export const isKnown = ({ isRevoked, secrets, until }: Terms, secret: string, now: number): boolean =>
  !isRevoked && now < until && secrets.some((one) => one.secret === secret && now < one.until)

export interface Call {
  readonly endpoint: string
  readonly scope: Scope
  readonly credits: number
}
export const prices: Call = { endpoint: "/v1/commodities/prices", scope: "get-commodity-prices", credits: 10 }
export const stores: Call = { endpoint: "/v1/stores", scope: "search-stores", credits: 100 }

export const birthCredits = 5_000
