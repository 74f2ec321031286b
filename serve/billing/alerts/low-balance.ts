/** The balance below which the people of an account get a mail: one row per account that wants one. */
import { Effect, Schema } from "effect"
import { logChange, type Statements } from "../../persistence/index.ts"
import { creditsToCents, formatCents, isValidTrigger, maxTrigger, minTrigger } from "../amounts.ts"
import type { BillingNeeds } from "../needs.ts"
import { takeFirst } from "../payment-rows.ts"
import { InvalidChoice } from "../payments.ts"
import { nowText } from "../times.ts"

const LowBalanceRow = Schema.Struct({
  account_id: Schema.String,
  /** A balance strictly below this is low. */
  threshold_credits: Schema.Int,
  /** When a person last chose another one. */
  changed_at: Schema.String
})
export type LowBalanceRow = typeof LowBalanceRow.Type
const columns = Object.keys(LowBalanceRow.fields).join(", ")

export const findLowBalance = (db: Statements, account_id: string) =>
  takeFirst(db.all(LowBalanceRow, `select ${columns} from console.low_balance where account_id = $1`, [account_id]))

export const listLowBalances = (db: Statements) => db.all(LowBalanceRow, `select ${columns} from console.low_balance`)

const remove = "delete from console.low_balance where account_id = $1"
const save = `
  insert into console.low_balance (account_id, threshold_credits, changed_at) values ($1, $2, $3)
  on conflict (account_id) do update
  set threshold_credits = excluded.threshold_credits, changed_at = excluded.changed_at`

/** Null removes it. Saving the same again changes nothing. */
export const saveLowBalance = Effect.fn("Billing.saveLowBalance")(function* (
  { database }: BillingNeeds,
  account_id: string,
  threshold_credits: number | null
) {
  if (threshold_credits !== null && !isValidTrigger(threshold_credits)) {
    const [least, most] = [minTrigger, maxTrigger].map((credits) => formatCents(creditsToCents(credits)))
    return yield* new InvalidChoice({
      field: "threshold_credits",
      problem: `The balance must be from ${least} to ${most}.`
    })
  }
  const now = yield* nowText
  const write = database.transaction(
    Effect.fnUntraced(function* (db) {
      const before = (yield* findLowBalance(db, account_id))?.threshold_credits ?? null
      if (before === threshold_credits) return before
      yield* threshold_credits === null
        ? db.run(remove, [account_id])
        : db.run(save, [account_id, threshold_credits, now])
      return before
    })
  )
  yield* logChange(write, "low-balance mail saved", (before) =>
    before === threshold_credits
      ? undefined
      : { account: account_id, before: { threshold_credits: before }, after: { threshold_credits } }
  )
})
