/**
 * The reference model of the histories: plain lists, whose sums are computed on demand, and no code of the ledger. It is
 * slow, and has no groups, stores or servers.
 */
import type { Scope } from "@larder/schemas"
import type { CommitRefusal, UsageOfDay } from "@larder/serve/ledger"
import type { Booking } from "@larder/serve/ledger/administration.ts"
import type { HoldRefusal } from "@larder/serve/ledger/rules/admission.ts"
import type { Traits } from "./subject.ts"

export const timeOf = (ms: number): string => new Date(ms).toISOString()
export const monthOf = (ms: number): string => timeOf(ms).slice(0, 7)

export const textOfExpiry = (expiresAt: number | null): string | null => (expiresAt === null ? null : timeOf(expiresAt))

/** An entry that must be written. Overlapping calls are written in any order. */
export interface Expected {
  readonly type: "grant" | "charge" | Booking["type"]
  readonly occurred_at: string
  readonly key_id: string | null
  readonly endpoint: string | null
  readonly credits: number
  readonly request_id: string | null
  readonly note: string | null
  readonly budget_credits: number | null
}

export interface AccountModel {
  readonly id: string
  readonly name: string
  readonly created_at: string
  suspendedAt: string | null
  /** Oldest first, as far as the order is known. */
  readonly expected: Array<Expected>
}

/** What an operator can change of a key. */
export interface Terms {
  readonly secret: string
  /** The replaced secret of a rotated key. */
  readonly former: { readonly secret: string; readonly until: number } | null
  readonly scopes: ReadonlyArray<Scope>
  readonly budget: number
  readonly expiresAt: number | null
  readonly revokedAt: string | null
  /** Counts the changes, from 1. */
  readonly revision: number
}

export interface KeyModel extends Mutable<Terms> {
  readonly id: string
  readonly account: AccountModel
  readonly created_at: string
}
type Mutable<A> = { -readonly [Name in keyof A]: A[Name] }

export const isKnown = ({ expiresAt, former, revokedAt, secret }: Terms, sent: string, at: number): boolean =>
  revokedAt === null &&
  (expiresAt === null || at < expiresAt) &&
  (sent === secret || (sent === former?.secret && at < former.until))

export interface HoldModel {
  readonly key: KeyModel
  /** The secret that the caller sent. */
  readonly secret: string
  readonly server: number
  readonly endpoint: string
  readonly scope: Scope
  readonly credits: number
  readonly admittedAt: number
  /** The budget of the key when the call was admitted. */
  readonly budget: number
  /** The budget under which it was charged, if it was charged while the budget changed. */
  chargedBudget?: number | undefined
}

export type Outcome = "held" | HoldRefusal
export type CommitOutcome = "charged" | CommitRefusal

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

export class Model {
  now = Date.parse("2026-10-15T12:00:00.000Z")
  readonly accounts: Array<AccountModel> = []
  readonly keys: Array<KeyModel> = []
  /** Open holds. */
  holds: Array<HoldModel> = []
  /** Holds that have ended while their server ran. */
  ended: Array<HoldModel> = []
  /** Bookings of money. */
  readonly bookings: Array<Booking> = []
  /** Request ids that a server recognizes as charged. */
  charged: Array<string> = []
  isDown = false
  readonly traits: Traits

  constructor(traits: Traits) {
    this.traits = traits
  }

  /** Keys that can call. */
  validKeys(): ReadonlyArray<KeyModel> {
    return this.keys.filter((key) => isKnown(key, key.secret, this.now) && key.account.suspendedAt === null)
  }

  /** Keys that can be changed. */
  notRevoked(): ReadonlyArray<KeyModel> {
    return this.keys.filter(({ revokedAt }) => revokedAt === null)
  }

  /** Other servers' holds are unknown to a server that decides again. */
  private knownHolds(server: number): ReadonlyArray<HoldModel> {
    return this.traits.decidesAgain ? this.holds.filter((hold) => hold.server === server) : this.holds
  }

  balance(account: AccountModel): number {
    return sum(account.expected.map(({ credits }) => credits))
  }

  /** The balance minus holds. */
  available(account: AccountModel, server: number): number {
    const held = this.knownHolds(server).filter(({ key }) => key.account === account)
    return this.balance(account) - sum(held.map(({ credits }) => credits))
  }

  /** Credits charged to the key in the month of a moment. */
  spent(key: KeyModel, at = this.now): number {
    const charges = key.account.expected.filter(
      ({ key_id, occurred_at }) => key_id === key.id && occurred_at.slice(0, 7) === monthOf(at)
    )
    return sum(charges.map(({ credits }) => Math.abs(credits)))
  }

  /** The rest of a budget in the month of a moment, minus holds. Negative if the budget was lowered. */
  budgetLeft(key: KeyModel, server: number, at = this.now): number {
    const held = this.knownHolds(server).filter((hold) => hold.key === key && monthOf(hold.admittedAt) === monthOf(at))
    return key.budget - this.spent(key, at) - sum(held.map(({ credits }) => credits))
  }

  /** Charged calls per day, key and endpoint; both days are inclusive. */
  usage(account: AccountModel, from: string, to: string): ReadonlyArray<UsageOfDay> {
    const charges = account.expected.flatMap(({ credits, endpoint, key_id, occurred_at }) =>
      key_id === null || endpoint === null ? [] : [{ day: occurred_at.slice(0, 10), key_id, endpoint, credits }]
    )
    const inPeriod = charges.filter(({ day }) => from <= day && day <= to)
    const rows = Map.groupBy(inPeriod, ({ day, endpoint, key_id }) => `${day} ${key_id} ${endpoint}`)
    return [...rows.values()].flatMap((calls) =>
      calls.slice(0, 1).map(({ day, endpoint, key_id }) => {
        return { day, key_id, endpoint, calls: calls.length, credits: -sum(calls.map(({ credits }) => credits)) }
      })
    )
  }

  remaining(key: KeyModel, server: number): number {
    return Math.max(0, Math.min(this.available(key.account, server), this.budgetLeft(key, server)))
  }

  decide(key: KeyModel, server: number, credits: number): Outcome {
    if (this.available(key.account, server) < credits) return "insufficient_balance"
    return this.budgetLeft(key, server) < credits ? "monthly_spend_cap_reached" : "held"
  }

  /** The same, as if a hold had been released. */
  decideWithout(released: HoldModel, ...call: Parameters<Model["decide"]>): Outcome {
    const { holds } = this
    this.holds = holds.filter((hold) => hold !== released)
    const outcome = this.decide(...call)
    this.holds = holds
    return outcome
  }

  /** What becomes of an admitted call now. */
  decideCharge({ admittedAt, credits, key, scope, secret }: HoldModel): CommitOutcome {
    if (!this.traits.decidesAgain) return "charged"
    if (!isKnown(key, secret, admittedAt)) return "unknown_key"
    if (key.account.suspendedAt !== null) return "account_suspended"
    if (!key.scopes.includes(scope)) return "missing_scope"
    if (this.balance(key.account) < credits) return "insufficient_balance"
    return key.budget - this.spent(key, admittedAt) < credits ? "monthly_spend_cap_reached" : "charged"
  }

  isOfAnotherMonth(hold: HoldModel): boolean {
    return monthOf(hold.admittedAt) !== monthOf(this.now)
  }

  release(hold: HoldModel): void {
    this.holds = this.holds.filter((other) => other !== hold)
    this.ended.push(hold)
  }

  charge(hold: HoldModel, requestId: string): void {
    this.release(hold)
    this.charged.push(requestId)
    hold.key.account.expected.push({
      type: "charge",
      occurred_at: timeOf(hold.admittedAt),
      key_id: hold.key.id,
      endpoint: hold.endpoint,
      credits: -hold.credits,
      request_id: requestId,
      note: null,
      budget_credits: hold.chargedBudget ?? (this.traits.decidesAgain ? hold.key.budget : hold.budget)
    })
  }

  book(
    account: AccountModel,
    type: "grant" | Booking["type"],
    credits: number,
    note: string,
    request_id: string | null = null
  ): void {
    const nothing = { key_id: null, endpoint: null, budget_credits: null }
    account.expected.push({ ...nothing, type, occurred_at: timeOf(this.now), credits, request_id, note })
  }

  /** Removes what a server that has ended had in memory. */
  forget(server: number): void {
    this.holds = this.holds.filter((hold) => hold.server !== server)
    this.ended = this.ended.filter((hold) => hold.server !== server)
    if (this.traits.remembersRequestIds === "while it runs") this.charged = []
  }
}
