/** The settings of auto-recharge, one row per account. */
import { Effect, Schema } from "effect"
import type { Statements } from "../persistence/index.ts"
import { changeRow, listParameters, takeFirst } from "./payment-rows.ts"
import type { RechargeChoice } from "./payments.ts"

const RechargeRow = Schema.Struct({
  account_id: Schema.String,
  is_on: Schema.Boolean,
  /** The amount of each recharge, in US cents. */
  cents: Schema.Int,
  /** A balance strictly below this starts a recharge. */
  trigger_credits: Schema.Int,
  off_reason: Schema.NullOr(Schema.String),
  /** The payment of the running recharge. */
  running: Schema.NullOr(Schema.String)
})
export type RechargeRow = typeof RechargeRow.Type
const columns = Object.keys(RechargeRow.fields).join(", ")

export const findRecharge = (db: Statements, account_id: string) =>
  takeFirst(db.all(RechargeRow, `select ${columns} from console.recharge where account_id = $1`, [account_id]))

export const listAutoRechargeAccounts = (db: Statements) =>
  Effect.map(
    db.all(Schema.Struct({ account_id: Schema.String }), "select account_id from console.recharge where is_on"),
    (rows) => rows.map(({ account_id }) => account_id)
  )

/** The settings of the given accounts, if their auto-recharge is on. */
export const findActiveRecharges = (db: Statements, accounts: ReadonlyArray<string>) =>
  db.all(
    RechargeRow,
    `select ${columns}
     from console.recharge
     where is_on and account_id in (${listParameters(accounts)})`,
    accounts
  )

/** Does not affect a running recharge. Clears the reason why auto-recharge was switched off. */
export const saveRecharge = (db: Statements, account_id: string, choice: RechargeChoice, now: string) =>
  db.run(
    `insert into console.recharge (account_id, is_on, cents, trigger_credits, changed_at)
     values ($1, $2, $3, $4, $5)
     on conflict (account_id) do update
     set is_on = excluded.is_on, cents = excluded.cents, trigger_credits = excluded.trigger_credits,
       off_reason = null, changed_at = excluded.changed_at`,
    [account_id, choice.is_on, choice.cents, choice.trigger_credits, now]
  )

/** Marks the payment as the running recharge. Undefined if auto-recharge is off or another recharge is running. */
export const claimRecharge = (db: Statements, account_id: string, payment_id: string) =>
  takeFirst(
    db.all(
      RechargeRow,
      `update console.recharge
       set running = $2
       where account_id = $1 and is_on and running is null
       returning ${columns}`,
      [account_id, payment_id]
    )
  )

/** Returns whether the payment was the running recharge. */
export const endRecharge = (db: Statements, account_id: string, payment_id: string) =>
  changeRow(
    db,
    "update console.recharge set running = null where account_id = $1 and running = $2 returning account_id",
    [account_id, payment_id]
  )

/** `reason` is null if a person switches auto-recharge off; this also deletes the reason of an earlier switch-off. */
export const switchOff = (db: Statements, account_id: string, reason: string | null, now: string) =>
  db.run(
    `update console.recharge
     set is_on = false, off_reason = $2, changed_at = $3
     where account_id = $1 and (is_on or (off_reason is not null and cast($2 as text) is null))`,
    [account_id, reason, now]
  )

/** Ends recharges that still run at another processor, so that they do not block recharges at this one. */
export const endOtherProcessorsRecharges = (db: Statements, processor: string) =>
  db.run(
    `update console.recharge
     set running = null
     where running in (select id from console.payment where processor <> $1)`,
    [processor]
  )
