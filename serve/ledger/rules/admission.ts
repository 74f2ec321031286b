/**
 * The rules that admit and charge calls, as functions over a state that one writer owns: no I/O, no clock, no
 * randomness. Time and ids come in, decisions come out. Holds change the state immediately. Decisions become part of it
 * (`apply`, `settle`) only when they are durable.
 *
 * `hold` decides every 402 of the API: the balance here, the budgets in `spending.ts`. A refusal is named like its error
 * code, which `schemas/error-codes.ts` explains; `schemas/api-errors.ts` has the text.
 *
 * Holds exist only in memory: a process that crashes between a hold and its charge has charged nothing.
 */
import type { Draft } from "../chain/chain.ts"
import type { ApiKey } from "../chain/records.ts"
import { dayNumber, timestampOf } from "../moments.ts"
import { formatGrants, sumExpired, type Taken, takeCredits } from "./expiring-grants.ts"
import { type AccountState, type KeyState, type LedgerState, requireRecord } from "./ledger-state.ts"
import { addSpent, type CapReached, type DayOfKey, findReachedCap, openDay, unspentInBudgets } from "./spending.ts"

/** A hold on the price of one admitted call. It ends exactly once: captured or released. */
export interface Hold {
  readonly key: KeyState
  /** The key as it was when the call was admitted. */
  readonly record: ApiKey
  readonly day: DayOfKey
  readonly taken: ReadonlyArray<Taken>
  readonly endpoint: string
  readonly credits: number
  readonly admittedAt: number
  stage: "held" | "charging" | "ended"
}

export type HoldRefusal = "insufficient_balance" | CapReached
export type HoldOutcome = { readonly hold: Hold } | { readonly refused: HoldRefusal }

const insufficientBalance: HoldOutcome = { refused: "insufficient_balance" }

/** Credits that the calls of all keys together can spend. */
const sumAvailable = ({ expiredAt, grants, head, held }: AccountState, now: number): number =>
  head.balance - held - (grants.length === 0 ? 0 : sumExpired(grants, Math.max(now, expiredAt)))

/** Admits a call and holds its price, or says why not. Spending exactly the whole balance or budget is allowed. */
export const hold = (
  state: LedgerState,
  keyId: string,
  endpoint: string,
  credits: number,
  now: number
): HoldOutcome => {
  const key = requireRecord(state.keys, keyId)
  if (sumAvailable(key.account, now) < credits) return insufficientBalance
  const refused = findReachedCap(key, credits, dayNumber(now))
  return refused === undefined ? { hold: placeHold(key, { endpoint, credits, now }) } : { refused }
}

/** Holds the price of a call. The caller has checked that there is room for it. */
export const placeHold = (
  key: KeyState,
  { credits, endpoint, now }: { readonly endpoint: string; readonly credits: number; readonly now: number }
): Hold => {
  const { account, record } = key
  const day = openDay(key, dayNumber(now))
  account.held += credits
  day.held += credits
  const taken = takeCredits(account.grants, credits, Math.max(now, account.expiredAt))
  return { key, record, day, taken, endpoint, credits, admittedAt: now, stage: "held" }
}

/** The charge of an admitted call, or undefined if this request id was already charged. */
export const draftCharge = (state: LedgerState, held: Hold, requestId: string): Draft | undefined => {
  if (held.stage !== "held") throw new Error(`the hold of request ${requestId} has been used already`)
  if (!state.charged.add(requestId)) return undefined
  held.stage = "charging"
  const { account_id, budget_credits, daily_budget_credits, id, weekly_budget_credits } = held.record
  return {
    account_id,
    type: "charge",
    occurred_at: timestampOf(held.admittedAt),
    key_id: id,
    endpoint: held.endpoint,
    credits: -held.credits,
    budget_credits,
    daily_budget_credits,
    weekly_budget_credits,
    request_id: requestId,
    note: null,
    expires_at: null,
    grants: formatGrants(held.taken)
  }
}

/** Captures the hold: its charge is durable. */
export const captureHold = (held: Hold): void => {
  endHold(held)
  addSpent(held.key, held.day.day, held.credits)
}

/** Releases the hold: its charge could not be written. */
export const releaseCharging = (held: Hold): void => endHold(held)

/**
 * Releases the hold of a call that failed before it was charged. Does nothing if the hold has ended or is being
 * charged.
 */
export const releaseHold = (held: Hold): void => {
  if (held.stage === "held") endHold(held)
}

const endHold = (held: Hold) => {
  if (held.stage === "ended") throw new Error("a hold has ended twice")
  held.stage = "ended"
  held.key.account.held -= held.credits
  held.day.held -= held.credits
  for (const { credits, grant } of held.taken) grant.held -= credits
}

/**
 * What the key can still spend: the smallest of balance and remaining budgets, minus the holds of running calls. Never
 * below 0.
 */
export const remaining = (state: LedgerState, keyId: string, now: number): number =>
  remainingOf(requireRecord(state.keys, keyId), now)

export const remainingOf = (key: KeyState, now: number): number =>
  Math.max(0, Math.min(sumAvailable(key.account, now) + key.account.reserved, unspentInBudgets(key, dayNumber(now))))
