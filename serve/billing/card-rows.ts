/** Saved cards and the settings of auto-recharge, one row an account. */
import { Effect, Schema } from "effect"
import type { Statements } from "../console-database/console-database.ts"
import type { RechargeChoice, SavedCard } from "./billing.ts"
import type { Card } from "./processor.ts"

const CustomerRow = Schema.Struct({
  customer: Schema.String,
  card: Schema.NullOr(Schema.String),
  card_brand: Schema.NullOr(Schema.String),
  card_last4: Schema.NullOr(Schema.String),
  card_expires: Schema.NullOr(Schema.String)
})
export type CustomerRow = typeof CustomerRow.Type

/** The account at this processor; what another one knew of it is as good as nothing. */
export const findCustomer = (db: Statements, processor: string, account_id: string) =>
  Effect.map(
    db.all(
      CustomerRow,
      `select customer, card, card_brand, card_last4, card_expires
       from console.customer
       where account_id = $1 and processor = $2`,
      [account_id, processor]
    ),
    ([customer]): CustomerRow | undefined => customer
  )

export const savedCardOf = (row: CustomerRow | undefined): SavedCard | null =>
  row === undefined || row.card === null
    ? null
    : { brand: row.card_brand ?? "card", last4: row.card_last4 ?? "", expires: row.card_expires ?? "" }

export const saveCard = (db: Statements, processor: string, account_id: string, customer: string, card: Card) =>
  db.run(
    `insert into console.customer (account_id, processor, customer, card, card_brand, card_last4, card_expires)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (account_id) do update
     set processor = excluded.processor, customer = excluded.customer, card = excluded.card,
       card_brand = excluded.card_brand, card_last4 = excluded.card_last4, card_expires = excluded.card_expires
     returning account_id`,
    [account_id, processor, customer, card.id, card.brand, card.last4, card.expires]
  )

/** The customer stays known. Another card that was saved meanwhile stays, too. */
export const clearCard = (db: Statements, account_id: string, card: string) =>
  db.run(
    `update console.customer
     set card = null, card_brand = null, card_last4 = null, card_expires = null
     where account_id = $1 and card = $2
     returning account_id`,
    [account_id, card]
  )

const RechargeRow = Schema.Struct({
  account_id: Schema.String,
  is_on: Schema.Boolean,
  cents: Schema.Int,
  trigger_credits: Schema.Int,
  off_reason: Schema.NullOr(Schema.String),
  running: Schema.NullOr(Schema.String)
})
export type RechargeRow = typeof RechargeRow.Type
const columns = Object.keys(RechargeRow.fields).join(", ")

export const findRecharge = (db: Statements, account_id: string) =>
  Effect.map(
    db.all(RechargeRow, `select ${columns} from console.recharge where account_id = $1`, [account_id]),
    ([recharge]): RechargeRow | undefined => recharge
  )

export const rechargesThatAreOn = (db: Statements) =>
  db.all(RechargeRow, `select ${columns} from console.recharge where is_on`)

/** A recharge that is under way stays so. Why it went off by itself is told until it is switched on again. */
export const saveRecharge = (db: Statements, account_id: string, choice: RechargeChoice, now: string) =>
  db.run(
    `insert into console.recharge (account_id, is_on, cents, trigger_credits, changed_at)
     values ($1, $2, $3, $4, $5)
     on conflict (account_id) do update
     set is_on = excluded.is_on, cents = excluded.cents, trigger_credits = excluded.trigger_credits,
       off_reason = case when excluded.is_on then null else recharge.off_reason end, changed_at = excluded.changed_at
     returning account_id`,
    [account_id, choice.is_on, choice.cents, choice.trigger_credits, now]
  )

/** One at a time, whoever asks from wherever: undefined where it is off or another one is under way. */
export const claimRecharge = (db: Statements, account_id: string, payment_id: string) =>
  Effect.map(
    db.all(
      RechargeRow,
      `update console.recharge
       set running = $2
       where account_id = $1 and is_on and running is null
       returning ${columns}`,
      [account_id, payment_id]
    ),
    ([claimed]): RechargeRow | undefined => claimed
  )

export const endRecharge = (db: Statements, account_id: string, payment_id: string) =>
  db.run("update console.recharge set running = null where account_id = $1 and running = $2 returning account_id", [
    account_id,
    payment_id
  ])

/** The payment failed that is under way. One that ended before has had its say. */
export const endAndSwitchOff = (db: Statements, account_id: string, payment_id: string, reason: string, now: string) =>
  db.run(
    `update console.recharge
     set running = null, is_on = false, off_reason = case when is_on then $3 else off_reason end, changed_at = $4
     where account_id = $1 and running = $2
     returning account_id`,
    [account_id, payment_id, reason, now]
  )

export const switchOff = (db: Statements, account_id: string, reason: string, now: string) =>
  db.run(
    `update console.recharge
     set is_on = false, off_reason = $2, changed_at = $3
     where account_id = $1 and is_on
     returning account_id`,
    [account_id, reason, now]
  )

/** Recharges that were under way at another processor do not keep this one from working. */
export const endRechargesElsewhere = (db: Statements, processor: string) =>
  db.run(
    `update console.recharge
     set running = null
     where running in (select id from console.payment where processor <> $1)
     returning account_id`,
    [processor]
  )
