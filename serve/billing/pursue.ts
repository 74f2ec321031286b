/**
 * Asks the processor for money, and finds out what has become of a payment whose outcome is not known: the answer was
 * lost, the server was killed, the customer is still on the processor's page. The processor is always asked what it knows
 * before it is asked to charge again, and always with the same id.
 */
import { Clock, Duration, Effect } from "effect"
import { endRecharge, findCustomer, findRecharge } from "./card-rows.ts"
import { giveUp, markAsked, type PaymentRow, soughtOf } from "./payment-rows.ts"
import { type BillingNeeds, nowText, type Settle } from "./settle.ts"

/**
 * A recharge that the processor does not know is asked for again this long, and then given up: another one may follow,
 * under another id. A processor may keep its own failure under the first one, and repeat it.
 */
const askedAgainFor = Duration.toMillis("15 minutes")
/** Nothing that was asked for is still on its way after this time. It is far above all time-outs of the processors. */
export const longestDoubt = Duration.toMillis("15 minutes")

const neverTaken = "The payment did not reach the card processor. Nothing was charged."

export const makePursue = (needs: BillingNeeds, settle: Settle) => {
  const { administration, database, mark, processor } = needs

  /** Charges the saved card that the payment names. Where the answer is lost the processor may know the outcome at once. */
  const charge = Effect.fn("Billing.charge")(function* (payment: PaymentRow) {
    const { account_id, card, cents, created_at, customer, id } = payment
    if (customer === null || card === null) return yield* Effect.die(new Error(`${id} has no saved card to charge`))
    if (!(yield* markAsked(database, id, yield* nowText))) return
    const looked = yield* processor
      .charge({ payment_id: id, account_id, cents, created_at, customer, card })
      .pipe(
        Effect.catchTag("ProcessorUnavailable", (error) =>
          Effect.logWarning(`${error.message}. It is asked what it knows of this payment.`, { payment_id: id }).pipe(
            Effect.andThen(processor.look(soughtOf(payment)))
          )
        )
      )
    if (looked !== undefined) yield* settle(payment, looked)
  })

  /** Says whether the processor knows the payment. `told` is its reference by an event, where the answer with it was lost. */
  const look = Effect.fn("Billing.look")(function* (payment: PaymentRow, told: string | null = null) {
    const looked = yield* processor.look({ ...soughtOf(payment), reference: payment.reference ?? told })
    if (looked !== undefined) yield* settle(payment, looked)
    return looked !== undefined
  })

  /** Its owner has left the payment page. */
  const leave = Effect.fn("Billing.leave")(function* (payment: PaymentRow) {
    if (payment.card !== null) return yield* look(payment)
    const looked = yield* processor.closePage(soughtOf(payment))
    if (looked !== undefined) yield* settle(payment, looked)
    return looked !== undefined
  })

  /** It is the recharge that is under way, there is still a reason for it, and its owner has chosen no other card or amount. */
  const isWanted = Effect.fnUntraced(function* ({ account_id, card, cents, id }: PaymentRow) {
    const recharge = yield* findRecharge(database, account_id)
    if (recharge?.running !== id || !recharge.is_on || recharge.cents !== cents) return false
    if ((yield* findCustomer(database, processor.name, account_id))?.card !== card) return false
    const { balance_credits } = yield* administration.account({ account_id })
    return balance_credits < recharge.trigger_credits
  })

  /** The processor does not know it. A person's payment is never tried again without that person. */
  const unknownThere = Effect.fnUntraced(function* (payment: PaymentRow) {
    const now = yield* Clock.currentTimeMillis
    const isYoung = now - Date.parse(payment.created_at) < askedAgainFor
    if (payment.kind === "auto_recharge" && isYoung && (yield* isWanted(payment))) return yield* charge(payment)
    const before = new Date(now - longestDoubt).toISOString()
    yield* database.transaction((db) =>
      Effect.gen(function* () {
        if (!(yield* giveUp(db, payment.id, before, neverTaken, new Date(now).toISOString()))) return
        yield* endRecharge(db, payment.account_id, payment.id)
      })
    )
    mark(payment.account_id)
  })

  return {
    charge,
    look,
    leave,
    /** Brings an open payment as far as it can be brought now. */
    pursue: Effect.fn("Billing.pursue")(function* (payment: PaymentRow) {
      const known = yield* look(payment)
      if (!known && payment.state === "open") yield* unknownThere(payment)
    })
  }
}

export type Pursue = ReturnType<typeof makePursue>
