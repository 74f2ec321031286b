/**
 * The rules that admit and charge calls, over a state that one writer owns and these functions change. A hold changes it
 * at once, and exists only in memory: a process that crashes between a hold and its charge has charged nothing. A hold is
 * captured (`endHold`), and its entry applied (`applyGroup`), only when the charge is durable.
 *
 * `hold` decides every 402 of the API: the balance here, the budget in `spending.ts`. A refusal is named like its error
 * code (`schemas/error-codes.ts`).
 */
import type { Draft } from "../chain/chain.ts"
import type { ApiKey } from "../chain/records.ts"
import { monthOf, timestampOf } from "../utc-calendar.ts"
import { type AccountState, type KeyState, type LedgerState, requireRecord } from "./ledger-state.ts"
import { leftInBudget, type MonthOfKey, openMonth } from "./spending.ts"

/** A hold on the price of an admitted call. It ends exactly once: captured or released. */
export interface Hold {
  readonly key: KeyState
  /** The key as it was when the call was admitted. */
  readonly record: ApiKey
  readonly month: MonthOfKey
  readonly endpoint: string
  readonly credits: number
  readonly admittedAt: number
  stage: "held" | "charging" | "ended"
}

export type HoldRefusal = "insufficient_balance" | "monthly_spend_cap_reached"
export type HoldOutcome = { readonly hold: Hold } | { readonly refused: HoldRefusal }

/** Credits of the account that calls can still spend. */
const availableCredits = ({ head, held }: AccountState): number => head.balance - held

/** Why the balance or the budget does not allow a call. Spending exactly the whole of either is allowed. */
export const findRefusal = (key: KeyState, credits: number, month: number): HoldRefusal | undefined => {
  if (availableCredits(key.account) < credits) return "insufficient_balance"
  return leftInBudget(key, month) < credits ? "monthly_spend_cap_reached" : undefined
}

/** For a state that was just read: replaces what calls hold of the account, and of the key's budget in a month. */
export const setHeld = (
  key: KeyState,
  month: number,
  held: { readonly account: number; readonly month: number }
): void => {
  key.account.held = held.account
  openMonth(key, month).held = held.month
}

/** Holds the price of a call, or refuses the call. */
export const hold = (
  state: LedgerState,
  keyId: string,
  endpoint: string,
  credits: number,
  now: number
): HoldOutcome => {
  const key = requireRecord(state.keys, keyId)
  const refused = findRefusal(key, credits, monthOf(now))
  if (refused !== undefined) return { refused }
  const { account, record } = key
  const month = openMonth(key, monthOf(now))
  account.held += credits
  month.held += credits
  return { hold: { key, record, month, endpoint, credits, admittedAt: now, stage: "held" } }
}

/** Marks the hold as being charged, and returns the charge; undefined if this request id was already charged. */
export const draftCharge = (state: LedgerState, hold: Hold, requestId: string): Draft | undefined => {
  if (hold.stage !== "held") throw new Error(`the hold of request ${requestId} has been used already`)
  if (!state.charged.add(requestId)) return undefined
  hold.stage = "charging"
  const { account_id, budget_credits, id } = hold.record
  return {
    account_id,
    type: "charge",
    occurred_at: timestampOf(hold.admittedAt),
    key_id: id,
    endpoint: hold.endpoint,
    credits: -hold.credits,
    budget_credits,
    request_id: requestId,
    note: null
  }
}

/** `captured`: its charge is durable. `released`: the call failed, or its charge could not be written. */
export const endHold = (hold: Hold, as: "captured" | "released"): void => {
  if (hold.stage === "ended") throw new Error("a hold has ended twice")
  hold.stage = "ended"
  hold.key.account.held -= hold.credits
  hold.month.held -= hold.credits
  if (as === "captured") hold.month.spent += hold.credits
}

/** For a call that failed. Does nothing if the hold has ended or is being charged. */
export const releaseHold = (hold: Hold): void => {
  if (hold.stage === "held") endHold(hold, "released")
}

/** The smaller of the balance and the rest of the budget, minus the holds of running calls. Never below 0. */
export const remaining = (key: KeyState, now: number): number =>
  Math.max(0, Math.min(availableCredits(key.account), leftInBudget(key, monthOf(now))))
