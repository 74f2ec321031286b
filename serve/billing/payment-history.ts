/** Payments as customers see them: a single payment, the payments of an account page by page, and receipts. */
import { Effect, Schema, Struct } from "effect"
import type { Statements } from "../persistence/index.ts"
import { centsToCredits } from "./amounts.ts"
import type { BillingNeeds } from "./needs.ts"
import { findPayment, findReversals, PaymentRow, paymentColumns, takeFirst } from "./payment-rows.ts"
import { type Payment, type Receipt, UnknownPayment } from "./payments.ts"
import { type leave, reconcile } from "./reconcile.ts"

/** Sorts after every timestamp. */
const endOfTime = "9999"

const listPayments = (db: Statements, account_id: string, last: PaymentRow | undefined, limit: number) =>
  db.all(
    PaymentRow,
    `select ${paymentColumns}
     from console.payment
     where account_id = $1 and (created_at < $2 or (created_at = $2 and id < $3))
     order by created_at desc, id desc
     limit $4`,
    [account_id, last?.created_at ?? endOfTime, last?.id ?? "", limit]
  )

/** Whether the processor of this name moves no real money. */
export const isSimulated = (processor: string): boolean => processor === "simulator"

const withReversals = (db: Statements, payments: ReadonlyArray<PaymentRow>) =>
  Effect.map(findReversals(db, payments), (reversals) =>
    payments.map((payment): Payment => {
      const { card_brand: brand, card_last4: last4 } = payment
      return {
        ...Struct.pick(payment, ["id", "kind", "cents", "state", "problem", "created_at", "settled_at"]),
        credits: centsToCredits(payment.cents),
        card: brand === null || last4 === null ? null : { brand, last4 },
        is_simulated: isSimulated(payment.processor),
        reversals: reversals
          .filter((reversal) => reversal.payment_id === payment.id)
          .map(({ payment_id: _, ...reversal }) => reversal)
      }
    })
  )

/** E-mail address of the person who paid, even if that person was removed. */
const findPayer = (db: Statements, { account_id, created_by }: PaymentRow) =>
  db
    .all(
      Schema.Struct({ email: Schema.String }),
      `select email from console.person where id = $1 and account_id = $2
       union all
       select email from console.removed_person where id = $1 and account_id = $2`,
      [created_by, account_id]
    )
    .pipe(takeFirst)

export const makePaymentHistory = (needs: BillingNeeds) => {
  const { administration, database, processor } = needs
  const findRow = Effect.fnUntraced(function* (account_id: string, id: string) {
    const row = yield* findPayment(database, id)
    return row?.account_id === account_id ? row : yield* new UnknownPayment({ id })
  })

  const find = Effect.fnUntraced(function* (account_id: string, id: string) {
    const [payment] = yield* withReversals(database, [yield* findRow(account_id, id)])
    return payment ?? (yield* new UnknownPayment({ id }))
  })

  return {
    find,
    /** If the processor does not respond, the payment stays open, which is not a failure. */
    findAndReconcile: Effect.fn("Billing.payment")(function* (
      account_id: string,
      id: string,
      update: typeof reconcile | typeof leave = reconcile
    ) {
      const row = yield* findRow(account_id, id)
      if (row.state === "open" && row.processor === processor.name) {
        yield* update(needs, row).pipe(
          Effect.catch((error) =>
            Effect.logWarning(`${error.message}. The payment is reconciled later.`, { payment_id: id })
          )
        )
      }
      return yield* find(account_id, id)
    }),
    receipt: Effect.fn("Billing.receipt")(function* (account_id: string, id: string) {
      const payment = yield* find(account_id, id)
      if (payment.state !== "succeeded") return yield* new UnknownPayment({ id })
      const { name } = yield* administration.account({ account_id })
      const payer = yield* findPayer(database, yield* findRow(account_id, id))
      return { account: { id: account_id, name }, email: payer?.email ?? null, payment } satisfies Receipt
    }),
    list: Effect.fn("Billing.payments")(function* (
      account_id: string,
      { before, limit }: { readonly before: string | null; readonly limit: number }
    ) {
      const last = before === null ? undefined : yield* findPayment(database, before)
      if (before !== null && last?.account_id !== account_id) return []
      return yield* withReversals(database, yield* listPayments(database, account_id, last, limit))
    })
  }
}
