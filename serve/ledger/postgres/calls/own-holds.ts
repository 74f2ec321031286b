/**
 * The holds of this server's running calls: all that it keeps in memory between calls. They make a single server decide
 * like one that reads and charges in one step. Holds of other servers are unknown here; the database decides between them.
 */
import type { Scope } from "@larder/schemas"
import type { Admission } from "../../ledger.ts"
import type { ApiKeyView } from "../../rules/ledger-state.ts"

export interface PricedCall {
  readonly key: ApiKeyView
  /** The fingerprint of the secret that the caller sent. */
  readonly sha256: string
  readonly endpoint: string
  readonly scope: Scope
  readonly credits: number
  /** The time of admission, which decides the month that the call counts towards. */
  readonly now: number
  readonly month: number
}

/** Ends exactly once: `end` throws the second time. */
export interface OwnHold {
  readonly call: PricedCall
  stage: "held" | "charging" | "ended"
}

export type AdmissionRefusal = Extract<Admission, { readonly refused: unknown }>
export type OwnHoldOutcome = { readonly hold: OwnHold } | AdmissionRefusal

/** What calls hold of an account, and of the budget of a key in a month. */
export interface Held {
  readonly account: number
  readonly month: number
}

/** The account and the month that a call counts towards. */
type BudgetOfCall = Pick<PricedCall, "key" | "month">
const monthName = ({ key, month }: BudgetOfCall) => `${key.id} ${month}`

const newSums = () => ({ accounts: new Map<string, number>(), months: new Map<string, number>() })
type Sums = ReturnType<typeof newSums>

const addTo = (sums: Map<string, number>, name: string, credits: number) => {
  const sum = (sums.get(name) ?? 0) + credits
  if (sum === 0) sums.delete(name)
  else sums.set(name, sum)
}
const add = ({ accounts, months }: Sums, call: PricedCall, credits: number) => {
  addTo(accounts, call.key.account_id, credits)
  addTo(months, monthName(call), credits)
}

const sum = (all: ReadonlyArray<Sums>, budget: BudgetOfCall): Held => {
  const name = monthName(budget)
  let [account, month] = [0, 0]
  for (const { accounts, months } of all) {
    account += accounts.get(budget.key.account_id) ?? 0
    month += months.get(name) ?? 0
  }
  return { account, month }
}

/** Groups of charges that are kept, so that rows that were read before them can be brought up to date. */
const maxGroups = 64

export const trackOwnHolds = () => {
  const held = newSums()
  /** The charges between two moments, the newest last; its moment is `newest`. */
  const charged: Array<Sums> = []
  let newest = 0
  let isObserved = true

  const recordCharge = (call: PricedCall) => {
    if (isObserved) {
      isObserved = false
      newest++
      charged.push(newSums())
      if (charged.length > maxGroups) charged.shift()
    }
    const last = charged.at(-1)
    if (last !== undefined) add(last, call, call.credits)
  }

  return {
    place: (call: PricedCall): OwnHold => {
      add(held, call, call.credits)
      return { call, stage: "held" }
    },
    end: (hold: OwnHold, as: "captured" | "released"): void => {
      if (hold.stage === "ended") throw new Error("a hold has ended twice")
      hold.stage = "ended"
      add(held, hold.call, -hold.call.credits)
      if (as === "captured") recordCharge(hold.call)
    },
    /** Now, for `countSince`: a read that is sent now may or may not include what is charged later. */
    moment: (): number => {
      isObserved = true
      return newest
    },
    /** What this server's calls hold. */
    count: (budget: BudgetOfCall): Held => sum([held], budget),
    /** The same, with what was charged after a moment. Undefined if that was too long ago. */
    countSince: (budget: BudgetOfCall, moment: number): Held | undefined => {
      const groups = newest - moment
      if (groups > charged.length) return undefined
      return sum(groups === 0 ? [held] : [held, ...charged.slice(-groups)], budget)
    }
  }
}

export type OwnHolds = ReturnType<typeof trackOwnHolds>
