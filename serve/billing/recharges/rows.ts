/** The settings of auto-recharge, one row per account. */
import { Effect, Schema } from "effect"
import type { Statements } from "../../persistence/index.ts"
import { changeRow, listParameters, takeFirst } from "../payment-rows.ts"

const RechargeRow = Schema.Struct({
  account_id: Schema.String,
  is_on: Schema.Boolean,
  /** The amount of each recharge, in US cents. */
  cents: Schema.Int,
  /** A balance strictly below this starts a recharge. */
  trigger_credits: Schema.Int,
  /** The most that recharges may request per UTC day and month, in US cents. */
  daily_ceiling_cents: Schema.Int,
  monthly_ceiling_cents: Schema.Int,
  /** The newest refund or adjustment seen by the person who last saved the settings. */
  after_position: Schema.Int,
  /** Why auto-recharge was stopped. A person who switches it on clears it. */
  off_reason: Schema.NullOr(Schema.String),
  /** The payment of the running recharge. */
  running: Schema.NullOr(Schema.String)
})
export type RechargeRow = typeof RechargeRow.Type
export type RechargeChoice = Pick<
  RechargeRow,
  "is_on" | "cents" | "trigger_credits" | "daily_ceiling_cents" | "monthly_ceiling_cents"
>
const columns = Object.keys(RechargeRow.fields).join(", ")

export const findRecharge = (db: Statements, account_id: string) =>
  takeFirst(db.all(RechargeRow, `select ${columns} from console.recharge where account_id = $1`, [account_id]))

/** The settings of all accounts whose auto-recharge is on or was stopped. */
export const listRecharges = (db: Statements) =>
  db.all(RechargeRow, `select ${columns} from console.recharge where is_on or off_reason is not null`)

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

/** Does not affect a running recharge. */
export const saveRecharge = (
  db: Statements,
  account_id: string,
  choice: RechargeChoice,
  after_position: number,
  now: string
) =>
  db.run(
    `insert into console.recharge (account_id, is_on, cents, trigger_credits, daily_ceiling_cents,
       monthly_ceiling_cents, after_position, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (account_id) do update
     set is_on = excluded.is_on, cents = excluded.cents, trigger_credits = excluded.trigger_credits,
       daily_ceiling_cents = excluded.daily_ceiling_cents, monthly_ceiling_cents = excluded.monthly_ceiling_cents,
       after_position = excluded.after_position, changed_at = excluded.changed_at,
       off_reason = case when excluded.is_on then null else recharge.off_reason end`,
    [
      account_id,
      choice.is_on,
      choice.cents,
      choice.trigger_credits,
      choice.daily_ceiling_cents,
      choice.monthly_ceiling_cents,
      after_position,
      now
    ]
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

/** `reason` is null if a person switches auto-recharge off. */
export const switchOff = (db: Statements, account_id: string, reason: string | null, now: string) =>
  db.run(
    "update console.recharge set is_on = false, off_reason = $2, changed_at = $3 where account_id = $1 and is_on",
    [account_id, reason, now]
  )

/** Switches auto-recharge off, unless a person has saved the settings since they were read. Returns whether it did. */
export const stopRecharge = (
  db: Statements,
  { account_id, after_position }: RechargeRow,
  reason: string,
  now: string
) =>
  changeRow(
    db,
    `update console.recharge
     set is_on = false, off_reason = $3, changed_at = $4
     where account_id = $1 and is_on and after_position = $2
     returning account_id`,
    [account_id, after_position, reason, now]
  )

/** Ends recharges that still run at another processor, so that they do not block recharges at this one. */
export const endOtherProcessorsRecharges = (db: Statements, processor: string) =>
  db.run(
    `update console.recharge
     set running = null
     where running in (select id from console.payment where processor <> $1)`,
    [processor]
  )
