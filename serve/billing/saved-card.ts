/** The saved card of an account: how it is shown, saved, removed, and detached at the processor. */
import { createHash } from "node:crypto"
import { Effect, Schema } from "effect"
import type { ConsoleDatabase, Statements } from "../persistence/index.ts"
import { type PaymentRow, takeFirst } from "./payment-rows.ts"
import type { Card, CardProcessor } from "./processor.ts"

export type ShownCard = Pick<Card, "brand" | "last4">

export interface SavedCard extends Omit<Card, "id"> {
  /** Identifies this card. A form contains the fingerprint of the card that it shows. */
  readonly fingerprint: string
}

const brandNames: Readonly<Record<string, string>> = {
  amex: "American Express",
  diners: "Diners Club",
  discover: "Discover",
  jcb: "JCB",
  mastercard: "Mastercard",
  unionpay: "UnionPay",
  visa: "Visa"
}

export const formatCard = ({ brand, last4 }: ShownCard): string => `${brandNames[brand] ?? brand} ending in ${last4}`

export const savedCardExplanation =
  "The card is saved for your next payment. Larder charges it automatically only while auto-recharge is on."

const CustomerRow = Schema.Struct({
  processor: Schema.String,
  customer: Schema.String,
  card: Schema.NullOr(Schema.String),
  card_brand: Schema.NullOr(Schema.String),
  card_last4: Schema.NullOr(Schema.String),
  card_expires: Schema.NullOr(Schema.String),
  card_since: Schema.NullOr(Schema.String)
})
type CustomerRow = typeof CustomerRow.Type
const columns = Object.keys(CustomerRow.fields).join(", ")

/** The account's customer at this processor. A customer at another processor counts as missing. */
export const findCustomer = (db: Statements, processor: string, account_id: string) =>
  db
    .all(CustomerRow, `select ${columns} from console.customer where account_id = $1 and processor = $2`, [
      account_id,
      processor
    ])
    .pipe(takeFirst)

export const toSavedCard = (row: CustomerRow | undefined): SavedCard | null =>
  row === undefined || row.card === null
    ? null
    : {
        brand: row.card_brand ?? "card",
        last4: row.card_last4 ?? "",
        expires: row.card_expires ?? "",
        fingerprint: createHash("sha256").update(row.card).digest("hex").slice(0, 16)
      }

/** Creates the row if it is missing. Locks it: other transactions wait until this one ends. */
const lockCustomer = (db: Statements, processor: string, account_id: string, customer: string) =>
  Effect.flatMap(
    db.all(
      CustomerRow,
      `insert into console.customer (account_id, processor, customer)
       values ($1, $2, $3)
       on conflict (account_id) do update set processor = customer.processor
       returning ${columns}`,
      [account_id, processor, customer]
    ),
    ([row]) => (row === undefined ? Effect.die(new Error("the insert returned no customer row")) : Effect.succeed(row))
  )

const recordCardToDetach = (db: Statements, processor: string, card: string, now: string) =>
  db.run(
    `insert into console.card_to_forget (card, processor, since)
     values ($1, $2, $3)
     on conflict (card) do nothing`,
    [card, processor, now]
  )

/**
 * Saves the card, unless a card of a later payment was saved or a card was removed since this payment began. So
 * payments may be reported in any order. Records the card that is not kept, old or new, as one to detach. Returns that
 * card if it is saved at this processor, otherwise null.
 */
export const saveCard = Effect.fnUntraced(function* (
  db: Statements,
  { account_id, created_at, processor }: PaymentRow,
  customer: string,
  card: Card,
  now: string
) {
  const saved = yield* lockCustomer(db, processor, account_id, customer)
  const isSameProcessor = saved.processor === processor
  if (isSameProcessor && saved.card === card.id) return null
  if (isSameProcessor && saved.card_since !== null && created_at < saved.card_since) {
    yield* recordCardToDetach(db, processor, card.id, now)
    return card.id
  }
  yield* db.run(
    `update console.customer
     set processor = $2, customer = $3, card = $4, card_brand = $5, card_last4 = $6, card_expires = $7, card_since = $8
     where account_id = $1`,
    [account_id, processor, customer, card.id, card.brand, card.last4, card.expires, created_at]
  )
  if (saved.card === null) return null
  yield* recordCardToDetach(db, saved.processor, saved.card, now)
  return isSameProcessor ? saved.card : null
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
  if (removed > 0) yield* recordCardToDetach(db, processor, card, now)
})

export const listCardsToDetach = (db: Statements, processor: string) =>
  db.all(
    Schema.Struct({ id: Schema.String, created_at: Schema.String }),
    "select card as id, since as created_at from console.card_to_forget where processor = $1 order by since, card",
    [processor]
  )

interface CardNeeds {
  readonly database: ConsoleDatabase["Service"]
  readonly processor: CardProcessor
}

/**
 * Detaches a card at the processor that was replaced or removed here; otherwise it could still be charged. The same
 * transaction recorded it in `card_to_forget`, so detaching is retried until it succeeds.
 */
export const detachCard = Effect.fn("Billing.detach")(function* ({ database, processor }: CardNeeds, card: string) {
  yield* processor.detachCard(card)
  yield* database.run("delete from console.card_to_forget where card = $1", [card])
})

/** Makes one attempt; `background-reconciliation.ts` repeats a failed one. */
export const tryToDetachCard = (needs: CardNeeds, card: string) =>
  Effect.catch(detachCard(needs, card), (error) =>
    Effect.logWarning(
      `${error.message}. A card that was replaced or removed is still saved there; detaching it is retried.`
    )
  )
