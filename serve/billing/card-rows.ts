/** Saved cards and the settings of auto-recharge, one row per account. */
import { createHash } from "node:crypto"
import { Effect, Schema } from "effect"
import type { Statements } from "../persistence/console-database.ts"
import type { RechargeChoice, SavedCard } from "./billing.ts"
import type { PaymentRow } from "./payment-rows.ts"
import type { Card } from "./processor.ts"

const CustomerRow = Schema.Struct({
  customer: Schema.String,
  card: Schema.NullOr(Schema.String),
  card_brand: Schema.NullOr(Schema.String),
  card_last4: Schema.NullOr(Schema.String),
  card_expires: Schema.NullOr(Schema.String)
})
export type CustomerRow = typeof CustomerRow.Type

/** The account's customer at this processor. A row of another processor counts as missing. */
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
    : {
        brand: row.card_brand ?? "card",
        last4: row.card_last4 ?? "",
        expires: row.card_expires ?? "",
        mark: createHash("sha256").update(row.card).digest("hex").slice(0, 16)
      }

const ChosenRow = Schema.Struct({
  processor: Schema.String,
  card: Schema.NullOr(Schema.String),
  card_since: Schema.NullOr(Schema.String)
})

/** Returns the row and creates it if it is missing. Locks the row: other transactions wait until this one ends. */
const lockCustomer = (db: Statements, processor: string, account_id: string, customer: string) =>
  Effect.flatMap(
    db.all(
      ChosenRow,
      `insert into console.customer (account_id, processor, customer)
       values ($1, $2, $3)
       on conflict (account_id) do update set processor = customer.processor
       returning processor, card, card_since`,
      [account_id, processor, customer]
    ),
    ([row]) =>
      row === undefined ? Effect.die(new Error("the row of a customer was not given back")) : Effect.succeed(row)
  )

const forgetLater = (db: Statements, processor: string, card: string, now: string) =>
  db.run(
    `insert into console.card_to_forget (card, processor, since)
     values ($1, $2, $3)
     on conflict (card) do nothing
     returning card`,
    [card, processor, now]
  )

/**
 * The saved card is the card of the latest payment, in whatever order the payments are reported, and a removed card
 * stays removed. The card that is not kept, old or new, is recorded as one to forget. Returns that card if this
 * processor has to forget it, otherwise null.
 */
export const saveCard = Effect.fnUntraced(function* (
  db: Statements,
  { account_id, created_at, processor }: PaymentRow,
  customer: string,
  card: Card,
  now: string
) {
  const before = yield* lockCustomer(db, processor, account_id, customer)
  const isHere = before.processor === processor
  if (isHere && before.card === card.id) return null
  if (isHere && before.card_since !== null && created_at < before.card_since) {
    yield* forgetLater(db, processor, card.id, now)
    return card.id
  }
  yield* db.run(
    `update console.customer
     set processor = $2, customer = $3, card = $4, card_brand = $5, card_last4 = $6, card_expires = $7, card_since = $8
     where account_id = $1
     returning account_id`,
    [account_id, processor, customer, card.id, card.brand, card.last4, card.expires, created_at]
  )
  if (before.card === null) return null
  yield* forgetLater(db, before.processor, before.card, now)
  return isHere ? before.card : null
})

/** Keeps the customer, and keeps a different card that was saved in the meantime. */
export const removeCard = Effect.fnUntraced(function* (
  db: Statements,
  processor: string,
  account_id: string,
  card: string,
  now: string
) {
  const removed = yield* db.run(
    `update console.customer
     set card = null, card_brand = null, card_last4 = null, card_expires = null, card_since = $3
     where account_id = $1 and card = $2
     returning account_id`,
    [account_id, card, now]
  )
  if (removed > 0) yield* forgetLater(db, processor, card, now)
})

const CardToForget = Schema.Struct({ card: Schema.String, since: Schema.String })
export type CardToForget = typeof CardToForget.Type

export const cardsToForget = (db: Statements, processor: string) =>
  db.all(CardToForget, "select card, since from console.card_to_forget where processor = $1 order by since, card", [
    processor
  ])

export const forgotten = (db: Statements, card: string) =>
  db.run("delete from console.card_to_forget where card = $1 returning card", [card])

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

export const accountsThatRecharge = (db: Statements) =>
  Effect.map(
    db.all(Schema.Struct({ account_id: Schema.String }), "select account_id from console.recharge where is_on"),
    (rows) => rows.map(({ account_id }) => account_id)
  )

/** Those of the given accounts whose auto-recharge is on. */
export const rechargesThatAreOn = (db: Statements, accounts: ReadonlyArray<string>) =>
  db.all(
    RechargeRow,
    `select ${columns}
     from console.recharge
     where is_on and account_id in (${accounts.map((_, index) => `$${index + 1}`).join(", ")})`,
    accounts
  )

/** Does not affect a running recharge. Clears the reason why auto-recharge went off. */
export const saveRecharge = (db: Statements, account_id: string, choice: RechargeChoice, now: string) =>
  db.run(
    `insert into console.recharge (account_id, is_on, cents, trigger_credits, changed_at)
     values ($1, $2, $3, $4, $5)
     on conflict (account_id) do update
     set is_on = excluded.is_on, cents = excluded.cents, trigger_credits = excluded.trigger_credits,
       off_reason = null, changed_at = excluded.changed_at
     returning account_id`,
    [account_id, choice.is_on, choice.cents, choice.trigger_credits, now]
  )

/**
 * Allows one running recharge per account, across all servers. Undefined if auto-recharge is off or a recharge is
 * running.
 */
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

/** For a failed recharge. Does nothing if the payment is no longer the running recharge. */
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

/** A person decided to leave it off, so there is no reason to show. */
export const leaveOff = (db: Statements, account_id: string, now: string) =>
  db.run(
    `update console.recharge
     set is_on = false, off_reason = null, changed_at = $2
     where account_id = $1 and (is_on or off_reason is not null)
     returning account_id`,
    [account_id, now]
  )

/** Ends recharges that still run at another processor, so that they do not block recharges at this one. */
export const endRechargesElsewhere = (db: Statements, processor: string) =>
  db.run(
    `update console.recharge
     set running = null
     where running in (select id from console.payment where processor <> $1)
     returning account_id`,
    [processor]
  )
