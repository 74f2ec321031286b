/** Payments as the customer sees them: one, all of an account page by page, and the receipt. */
import { Effect, Schema } from "effect"
import type { Statements } from "../persistence/index.ts"
import { creditsOfCents } from "./amounts.ts"
import { type Payment, UnknownPayment } from "./billing.ts"
import type { BillingNeeds } from "./book.ts"
import { PaymentRow, paymentColumns, reversalsOf } from "./payment-rows.ts"
import type { Reconcile } from "./reconcile.ts"

/** The payment if it belongs to this account, otherwise undefined. */
const findPaymentOf = (db: Statements, account_id: string, id: string) =>
  Effect.map(
    db.all(PaymentRow, `select ${paymentColumns} from console.payment where id = $1 and account_id = $2`, [
      id,
      account_id
    ]),
    ([payment]): PaymentRow | undefined => payment
  )

const paymentsOfAccount = (db: Statements, account_id: string, limit: number) =>
  db.all(
    PaymentRow,
    `select ${paymentColumns}
     from console.payment
     where account_id = $1
     order by created_at desc, id desc
     limit $2`,
    [account_id, limit]
  )

const paymentsBefore = (db: Statements, { account_id, created_at, id }: PaymentRow, limit: number) =>
  db.all(
    PaymentRow,
    `select ${paymentColumns}
     from console.payment
     where account_id = $1 and (created_at < $2 or (created_at = $2 and id < $3))
     order by created_at desc, id desc
     limit $4`,
    [account_id, created_at, id, limit]
  )

/** Whether the processor of this name moves no real money. */
export const isSimulated = (processor: string): boolean => processor === "simulator"

/** Payments as the customer sees them. */
const shown = (db: Statements, payments: ReadonlyArray<PaymentRow>) =>
  Effect.map(reversalsOf(db, payments), (reversals) =>
    payments.map(
      ({ card_brand, card_last4, cents, created_at, id, kind, problem, processor, settled_at, state }): Payment => ({
        id,
        kind,
        cents,
        credits: creditsOfCents(cents),
        state,
        problem,
        card: card_brand === null || card_last4 === null ? null : { brand: card_brand, last4: card_last4 },
        created_at,
        settled_at,
        is_simulated: isSimulated(processor),
        reversals: reversals.filter((it) => it.payment_id === id).map(({ payment_id: _, ...reversal }) => reversal)
      })
    )
  )

/** Address of the person who paid, even after that person was removed. */
const payerOf = (db: Statements, { account_id, created_by }: PaymentRow) =>
  Effect.map(
    db.all(
      Schema.Struct({ email: Schema.String }),
      `select email from console.person where id = $1 and account_id = $2
       union all
       select email from console.removed_person where id = $1 and account_id = $2`,
      [created_by, account_id]
    ),
    ([person]): string | null => person?.email ?? null
  )

export const makePaymentHistory = ({ administration, database, processor }: BillingNeeds) => {
  const find = Effect.fnUntraced(function* (account_id: string, id: string) {
    return (yield* findPaymentOf(database, account_id, id)) ?? (yield* new UnknownPayment({ id }))
  })

  const known = Effect.fnUntraced(function* (account_id: string, id: string) {
    const [payment] = yield* shown(database, [yield* find(account_id, id)])
    return payment ?? (yield* new UnknownPayment({ id }))
  })

  return {
    known,
    /** The payment after it was reconciled. If the processor does not answer, the payment stays open: no failure. */
    reconciled: Effect.fn("Billing.payment")(function* (
      account_id: string,
      id: string,
      reconcile: Reconcile["reconcile"]
    ) {
      const before = yield* find(account_id, id)
      if (before.state === "open" && before.processor === processor.name) {
        yield* reconcile(before).pipe(
          Effect.catch((error) =>
            Effect.logWarning(`${error.message}. The payment is reconciled later.`, { payment_id: id })
          )
        )
      }
      return yield* known(account_id, id)
    }),
    receipt: Effect.fn("Billing.receipt")(function* (account_id: string, id: string) {
      const payment = yield* known(account_id, id)
      if (payment.state !== "succeeded") return yield* new UnknownPayment({ id })
      const { name } = yield* administration.account({ account_id })
      const email = yield* payerOf(database, yield* find(account_id, id))
      return { account: { id: account_id, name }, email, payment }
    }),
    payments: Effect.fn("Billing.payments")(function* (
      account_id: string,
      { before, limit }: { readonly before: string | null; readonly limit: number }
    ) {
      if (before === null) return yield* shown(database, yield* paymentsOfAccount(database, account_id, limit))
      const last = yield* findPaymentOf(database, account_id, before)
      if (last === undefined) return []
      return yield* shown(database, yield* paymentsBefore(database, last, limit))
    })
  }
}
