/**
 * The rules of the contract, section 6, as tables: which limits admit a call, in which order they refuse it, and when a
 * secret is valid. Written from the contract, not from the code of the ledger. A missing daily or weekly budget counts as one
 * of 9,000,000,000,000,000 credits, the maximum of a budget.
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

/** Budgets of a key, the shortest window first. `periodAt` names the period that contains a moment. */
export const windows = [
  { budget: "day", periodAt: dayOf, refusal: "daily_spend_cap_reached" },
  { budget: "week", periodAt: (ms: number) => `week ${weekOf(ms)}`, refusal: "weekly_spend_cap_reached" },
  { budget: "month", periodAt: (ms: number) => timeOf(ms).slice(0, 7), refusal: "monthly_spend_cap_reached" }
] as const satisfies ReadonlyArray<{ budget: string; periodAt: (ms: number) => string; refusal: Refusal }>

export type Budgets = Readonly<Record<(typeof windows)[number]["budget"], number>>

/** The state of a key between two changes. A rotated key has two secrets for a while; none is valid after the key expires. */
export interface Terms {
  readonly until: number
  readonly scopes: ReadonlyArray<Scope>
  readonly budgets: Budgets
  readonly secrets: ReadonlyArray<{ readonly secret: string; readonly until: number }>
  readonly isRevoked: boolean
}

export const isKnown = ({ isRevoked, secrets, until }: Terms, secret: string, now: number): boolean =>
  !isRevoked && now < until && secrets.some((known) => known.secret === secret && now < known.until)

export interface Call {
  readonly endpoint: string
  readonly scope: Scope
  readonly credits: number
}
export const prices: Call = { endpoint: "/v1/commodities/prices", scope: "get-commodity-prices", credits: 10 }
export const stores: Call = { endpoint: "/v1/stores", scope: "search-stores", credits: 100 }

export const startingCredits = 5_000
