/**
 * What stops auto-recharge until a person switches it on again: a refund, a dispute, or a debit by the operator that takes
 * the balance below the trigger. The ledger is the authority: no recharge begins after such an entry, even if another
 * process booked it and was killed.
 */
import { Effect, Option, Stream } from "effect"
import { type Entry, isDebit } from "../../ledger/index.ts"
import { creditsToCents, formatCents } from "../amounts.ts"
import type { BillingNeeds } from "../needs.ts"
import { formatMinute, nowText } from "../times.ts"
import { findRecharge, type RechargeRow, stopRecharge } from "./rows.ts"

type Needs = Pick<BillingNeeds, "administration" | "database">

const entriesPerPage = 100
const types = ["refund", "adjustment"] as const

/** Refunds and adjustments of the account, newest first. */
const listEntries = ({ administration }: Needs, account_id: string) =>
  Stream.paginate(null as number | null, (before) =>
    Effect.map(
      administration.entriesBefore({ account_id, before, limit: entriesPerPage, types }),
      (entries) =>
        [
          entries,
          Option.fromUndefinedOr(entries.length < entriesPerPage ? undefined : entries.at(-1)?.position)
        ] as const
    )
  )

/** The position of the newest refund or adjustment; 0 if there is none. */
export const findNewestPosition = ({ administration }: Needs, account_id: string) =>
  Effect.map(
    administration.entriesBefore({ account_id, before: null, limit: 1, types }),
    ([entry]) => entry?.position ?? 0
  )

/** Why this entry stops auto-recharge; undefined if it does not. */
const findReason = (entry: Entry, { trigger_credits }: RechargeRow): string | undefined => {
  const { balance, credits, occurred_at, type } = entry
  if (credits >= 0) return undefined
  const amount = formatCents(creditsToCents(-credits))
  const time = `recorded on ${formatMinute(occurred_at)}`
  if (type === "refund") return `A payment was refunded: ${amount}, ${time}.`
  if (!isDebit(entry)) return `A payment was disputed at the bank: ${amount}, ${time}.`
  return balance < trigger_credits ? `The operator deducted ${amount}, ${time}.` : undefined
}

const findStop = (needs: Needs, recharge: RechargeRow) =>
  listEntries(needs, recharge.account_id).pipe(
    Stream.takeWhile(({ position }) => position > recharge.after_position),
    Stream.map((entry) => findReason(entry, recharge)),
    Stream.filter((reason) => reason !== undefined),
    Stream.runHead,
    Effect.map(Option.getOrUndefined)
  )

/** The settings of auto-recharge, after anything in the ledger that stops it. */
export const findCurrentRecharge = Effect.fn("Billing.findCurrentRecharge")(function* (
  needs: Needs,
  account_id: string
) {
  const { database } = needs
  const recharge = yield* findRecharge(database, account_id)
  if (!recharge?.is_on) return recharge
  const reason = yield* findStop(needs, recharge)
  if (reason === undefined) return recharge
  const isStopped = yield* stopRecharge(database, recharge, reason, yield* nowText)
  if (isStopped) yield* Effect.logInfo("auto-recharge stopped", { account: account_id, reason })
  return yield* findRecharge(database, account_id)
})
