/**
 * What is wrong with the money of accounts, for mails to their people: a balance below the threshold that they chose,
 * auto-recharge that was stopped, such as by a declined card, and one that a ceiling prevents. Nothing is stored here.
 */
import { Clock, Effect } from "effect"
import { type AccountSummary, Administration } from "../../ledger/index.ts"
import { ConsoleDatabase } from "../../persistence/index.ts"
import { creditsToCents, formatCents } from "../amounts.ts"
import { findLimit, sumRequested } from "../recharges/limits.ts"
import { listRecharges, type RechargeRow } from "../recharges/rows.ts"
import { findCurrentRecharge } from "../recharges/stops.ts"
import { formatMinute } from "../times.ts"
import { type LowBalanceRow, listLowBalances } from "./low-balance.ts"

export interface AccountAlert {
  readonly account: { readonly id: string; readonly name: string }
  readonly topic: "balance" | "stop" | "ceiling"
  /** Differs from that of every other occurrence of the topic in the account. */
  readonly state: string
  readonly subject: string
  /** Sentences for people. */
  readonly text: string
  /** The page of the console where people can do something about it. */
  readonly path: `/${string}`
}

const maxConcurrency = 4

const formatCredits = (credits: number) => formatCents(creditsToCents(credits))

const describeEnd = ({ balance_credits }: AccountSummary) =>
  balance_credits > 0 ? "When it is used up, calls are refused." : "Calls are refused."

const judgeBalance = (
  account: AccountSummary,
  { changed_at, threshold_credits }: LowBalanceRow,
  recharge: RechargeRow | undefined
): AccountAlert | undefined => {
  if (account.balance_credits >= threshold_credits) return undefined
  const next = recharge?.is_on
    ? `Auto-recharge begins below ${formatCredits(recharge.trigger_credits)}; you can also add credits`
    : "Add credits, or set up auto-recharge"
  return {
    account,
    topic: "balance",
    state: `below ${threshold_credits}, chosen at ${changed_at}`,
    subject: "Your Larder balance is low",
    text: `The balance is ${formatCredits(account.balance_credits)}, below the ${formatCredits(threshold_credits)} that was chosen for this mail. ${describeEnd(account)} ${next}:`,
    path: "/billing"
  }
}

const describeStop = (account: AccountSummary, reason: string): AccountAlert => ({
  account,
  topic: "stop",
  state: reason,
  subject: "Larder has stopped your auto-recharge",
  text: `Auto-recharge was switched off. ${reason} Your card is not charged again until you switch auto-recharge on. The balance is ${formatCredits(account.balance_credits)}. ${describeEnd(account)} Add credits, or switch auto-recharge on again:`,
  path: "/billing/auto-recharge"
})

const judgeRecharge = Effect.fnUntraced(function* (account: AccountSummary, listed: RechargeRow) {
  const needs = { administration: yield* Administration, database: yield* ConsoleDatabase }
  const isDue = account.balance_credits < listed.trigger_credits
  // the ledger may have an entry that stops it
  const recharge = (listed.is_on && isDue ? yield* findCurrentRecharge(needs, account.id) : listed) ?? listed
  if (!recharge.is_on) return recharge.off_reason === null ? undefined : describeStop(account, recharge.off_reason)
  // the ceilings already count a running recharge, which may end the low balance
  if (!isDue || recharge.running !== null) return undefined
  const now = yield* Clock.currentTimeMillis
  const limit = findLimit(recharge, yield* sumRequested(needs.database, account.id, now), now)
  if (limit === undefined || limit.by === "pause") return undefined
  const until = new Date(limit.until).toISOString()
  const ceiling = limit.by === "day" ? recharge.daily_ceiling_cents : recharge.monthly_ceiling_cents
  return {
    account,
    topic: "ceiling",
    state: `of the ${limit.by} until ${until}`,
    subject: "A ceiling holds back your Larder auto-recharge",
    text: `The balance is ${formatCredits(account.balance_credits)}, but another recharge of ${formatCents(recharge.cents)} would exceed the ceiling of ${formatCents(ceiling)} for this ${limit.by}. The card is not charged before ${formatMinute(until)}. ${describeEnd(account)} Raise the ceiling, or add credits:`,
    path: "/billing/auto-recharge"
  } satisfies AccountAlert
})

/**
 * The accounts that may get mails, and their alerts now. A suspended account has none: it cannot buy credits, and its
 * pages name the operator.
 */
export const listAccountAlerts = Effect.fn("Billing.listAccountAlerts")(function* () {
  const administration = yield* Administration
  const { background } = yield* ConsoleDatabase
  const thresholds = new Map((yield* listLowBalances(background)).map((row) => [row.account_id, row]))
  const recharges = new Map((yield* listRecharges(background)).map((row) => [row.account_id, row]))
  const judge = Effect.fnUntraced(
    function* (account_id: string) {
      const account = yield* administration.account({ account_id })
      if (account.suspended_at !== null) return []
      const [threshold, recharge] = [thresholds.get(account_id), recharges.get(account_id)]
      const alerts = [
        threshold && judgeBalance(account, threshold, recharge),
        recharge && (yield* judgeRecharge(account, recharge))
      ]
      return alerts.filter((alert) => alert !== undefined)
    },
    Effect.catchTag("UnknownAccount", () => Effect.succeed([]))
  )
  const accounts = [...new Set([...thresholds.keys(), ...recharges.keys()])]
  return {
    accounts: new Set(accounts),
    alerts: (yield* Effect.forEach(accounts, judge, { concurrency: maxConcurrency })).flat()
  }
})
