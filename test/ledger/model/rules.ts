/**
 * The rules of the contract, section 6, as tables: which limits admit a call, in which order they refuse it, and when a
 * secret is valid. Written from the contract, not from the code of the ledger.
 */
import type { Scope } from "@larder/schemas"

export const timeOf = (ms: number): string => new Date(ms).toISOString()
export const dayOf = (ms: number): string => timeOf(ms).slice(0, 10)

export const monthOf = (ms: number): string => timeOf(ms).slice(0, 7)

export type Refusal = "insufficient_balance" | "monthly_spend_cap_reached"

/** The state of a key between two changes. A rotated key has two secrets for a while; none is valid after the key expires. */
export interface Terms {
  readonly until: number
  readonly scopes: ReadonlyArray<Scope>
  readonly budget: number
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
