/** Payments and their reversals in the console's tables. Each change of state is one conditional update. */
import { Effect, Schema, Struct } from "effect"
import type { Statements } from "../persistence/index.ts"
import { type Card, type PaymentQuery, RetrievedReversal } from "./processor.ts"

const nullableText = Schema.NullOr(Schema.String)

export const PaymentRow = Schema.Struct({
  /** `pay_…`. The ledger entry with the credits has it as `request_id`. */
  id: Schema.String,
  account_id: Schema.String,
  kind: Schema.Literals(["top_up", "auto_recharge"]),
  cents: Schema.Int,
  /** `open`: undecided or not yet known. `expired`: the payment was not made and can no longer be made. */
  state: Schema.Literals(["open", "succeeded", "failed", "expired"]),
  processor: Schema.String,
  reference: nullableText,
  /** Null for a new customer. */
  customer: nullableText,
  /** The saved card to charge; null if the customer enters a card on the processor's page. */
  card: nullableText,
  /** Why the payment failed or expired, for the customer; null in the other states. */
  problem: nullableText,
  card_brand: nullableText,
  card_last4: nullableText,
  created_by: nullableText,
  created_at: Schema.String,
  /** When it was last requested from the processor. */
  asked_at: nullableText,
  /** When the outcome became known; null while the payment is open. */
  settled_at: nullableText
})
export type PaymentRow = typeof PaymentRow.Type

const columnNames = Struct.keys(PaymentRow.fields)
/** For `select` and `insert`, in the order of `PaymentRow`. */
export const paymentColumns = columnNames.join(", ")
/** `taken`: its credits were deducted. `returned`: they were added again. */
export const Reversal = Schema.Struct({ ...RetrievedReversal.fields, changed_at: Schema.String })
export type Reversal = typeof Reversal.Type

const ReversalRow = Schema.Struct({ payment_id: Schema.String, ...Reversal.fields })

export const toPaymentQuery = (payment: PaymentRow): PaymentQuery => ({
  payment_id: payment.id,
  ...Struct.pick(payment, ["account_id", "card", "cents", "created_at", "customer", "reference"])
})

type NewColumns = "id" | "account_id" | "kind" | "cents" | "processor" | "created_by" | "created_at"
type CardColumns = Pick<PaymentRow, "card" | "card_brand" | "card_last4"> & { readonly customer: string }

export const newPayment = (columns: Pick<PaymentRow, NewColumns>, usedCard: CardColumns | undefined): PaymentRow => ({
  ...columns,
  state: "open",
  reference: null,
  customer: usedCard?.customer ?? null,
  card: usedCard?.card ?? null,
  problem: null,
  card_brand: usedCard?.card_brand ?? null,
  card_last4: usedCard?.card_last4 ?? null,
  asked_at: null,
  settled_at: null
})

export const takeFirst = <A, E, R>(query: Effect.Effect<ReadonlyArray<A>, E, R>) =>
  Effect.map(query, ([row]): A | undefined => row)
/** Runs a statement that ends with `returning`. Returns whether it changed a row. */
export const changeRow = (db: Statements, sql: string, params: ReadonlyArray<string | number | boolean | null>) =>
  Effect.map(db.run(sql, params), (rows) => rows > 0)
/** `$1, $2, …`, one per value. */
export const listParameters = (values: ReadonlyArray<unknown>) => values.map((_, index) => `$${index + 1}`).join(", ")

/** False if the payment already exists. */
export const insertPayment = (db: Statements, payment: PaymentRow) =>
  changeRow(
    db,
    `insert into console.payment (${paymentColumns})
     values (${listParameters(columnNames)})
     on conflict (id) do nothing
     returning id`,
    columnNames.map((column) => payment[column])
  )

export const findPayment = (db: Statements, id: string) =>
  takeFirst(db.all(PaymentRow, `select ${paymentColumns} from console.payment where id = $1`, [id]))

/** Recharges first, because a running one blocks the next. `after` is the last payment on the previous page. */
export const listOpenPayments = (db: Statements, processor: string, after: PaymentRow | undefined, limit: number) =>
  db.all(
    PaymentRow,
    `select ${paymentColumns}
     from console.payment
     where state = 'open' and processor = $1 and (kind > $2 or (kind = $2 and id > $3))
     order by kind, id
     limit $4`,
    [processor, after?.kind ?? "", after?.id ?? "", limit]
  )

export const pickRandomPayment = (db: Statements) =>
  takeFirst(db.all(Schema.Struct({ id: Schema.String }), "select id from console.payment order by random() limit 1"))

/**
 * Settled payments that may still change, with ids above `after`, ordered by id: received money can be refunded or
 * disputed, reversed money can come back, and an unpaid payment may still be paid.
 */
export const listSettledPayments = (
  db: Statements,
  processor: string,
  after: string,
  since: { readonly succeeded: string; readonly reversed: string; readonly unpaid: string },
  limit: number
) =>
  db.all(
    PaymentRow,
    `select ${paymentColumns}
     from console.payment
     where processor = $1 and id > $2
       and ((state = 'succeeded' and created_at > $3)
         or (state in ('failed', 'expired') and created_at > $4)
         or id in (
           select payment_id
           from console.reversal
           where state = 'taken' and changed_at > $5
         ))
     order by id
     limit $6`,
    [processor, after, since.succeeded, since.unpaid, since.reversed, limit]
  )

/** False if the payment is no longer open; then it must not be requested from the processor. */
export const markRequested = (db: Statements, id: string, now: string) =>
  changeRow(db, "update console.payment set asked_at = $2 where id = $1 and state = 'open' returning id", [id, now])

export const setReference = (db: Statements, id: string, reference: string) =>
  db.run("update console.payment set reference = $2 where id = $1", [id, reference])

/** False if it had already succeeded. A failed or expired payment can still succeed: the processor decides. */
export const markSucceeded = (db: Statements, id: string, card: Card | null, now: string) =>
  changeRow(
    db,
    `update console.payment
     set state = 'succeeded', problem = null, card_brand = $2, card_last4 = $3, settled_at = $4
     where id = $1 and state <> 'succeeded'
     returning id`,
    [id, card?.brand ?? null, card?.last4 ?? null, now]
  )

export interface UnpaidOutcome {
  readonly state: "failed" | "expired"
  readonly problem: string
  readonly card: Card | null
}

/** If the processor reports no card, the card that was to be charged is kept. */
export const markUnpaid = (db: Statements, id: string, { card, problem, state }: UnpaidOutcome, now: string) =>
  db.run(
    `update console.payment
     set state = $2, problem = $3, card_brand = coalesce($4, card_brand), card_last4 = coalesce($5, card_last4),
       settled_at = $6
     where id = $1 and state <> 'succeeded' and state <> $2`,
    [id, state, problem, card?.brand ?? null, card?.last4 ?? null, now]
  )

/** Expires an open payment if it was last requested, or else created, by `latestRequest`. Returns whether it did. */
export const expireOpenPayment = (db: Statements, id: string, latestRequest: string, problem: string, now: string) =>
  changeRow(
    db,
    `update console.payment
     set state = 'expired', problem = $2, settled_at = $3
     where id = $1 and state = 'open' and coalesce(asked_at, created_at) <= $4
     returning id`,
    [id, problem, now, latestRequest]
  )

export const deleteUnrequested = (db: Statements, id: string) =>
  changeRow(db, "delete from console.payment where id = $1 and state = 'open' and asked_at is null returning id", [id])

export const findReversals = (db: Statements, payments: ReadonlyArray<PaymentRow>) =>
  payments.length === 0
    ? Effect.succeed([])
    : db.all(
        ReversalRow,
        `select payment_id, id, kind, cents, state, is_lost, changed_at
         from console.reversal
         where payment_id in (${listParameters(payments)})
         order by changed_at, id`,
        payments.map(({ id }) => id)
      )

/**
 * Late reports never undo a state: `returned` stays `returned`, and a lost dispute can still be won but never becomes
 * undecided again.
 */
export const saveReversal = Effect.fnUntraced(function* (
  db: Statements,
  payment: PaymentRow,
  { cents, id, is_lost, kind, state }: RetrievedReversal,
  now: string
) {
  const isNew = yield* changeRow(
    db,
    `insert into console.reversal (id, payment_id, account_id, kind, cents, state, is_lost, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (id) do nothing
     returning id`,
    [id, payment.id, payment.account_id, kind, cents, state, is_lost, now]
  )
  if (!isNew && (state === "returned" || is_lost)) {
    yield* db.run(
      `update console.reversal
       set state = $2, is_lost = $3, changed_at = $4
       where id = $1 and state = 'taken' and (state <> $2 or is_lost <> $3)`,
      [id, state, is_lost, now]
    )
  }
})
