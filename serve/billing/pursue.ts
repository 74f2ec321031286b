/**
 * Charges cards, and reconciles payments whose outcome is in doubt: the answer was lost, the server was killed, or the
 * customer is still on the processor's page. Billing always retrieves a payment from the processor before it charges
 * again, and always uses the same id.
 */
import { Clock, Duration, Effect } from "effect"
import { endRecharge, findCustomer, findRecharge } from "./card-rows.ts"
import { giveUp, markAsked, type PaymentRow, soughtOf } from "./payment-rows.ts"
import { type BillingNeeds, nowText, type Settle } from "./settle.ts"

/**
 * Billing repeats a recharge that the processor does not know for this long and then gives it up. A new recharge may
 * follow under another id: a processor may store its own failure under the first id and repeat it.
 */
const askedAgainFor = Duration.toMillis("15 minutes")
/**
 * After this time no request is still on its way to the processor. It is far longer than all time-outs of the
 * processors.
 */
export const longestDoubt = Duration.toMillis("15 minutes")

const neverTaken = "The payment did not reach the card processor. Nothing was charged."

export const makePursue = (needs: BillingNeeds, settle: Settle) => {
  const { administration, database, mark, processor } = needs

  /**
   * Charges the saved card of the payment. If the answer is lost, retrieves the payment immediately: the processor may
   * already know the outcome.
   */
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

  /**
   * Returns whether the processor knows the payment. `told` is the processor's id from an event, used when the answer
   * that contained it was lost.
   */
  const look = Effect.fn("Billing.look")(function* (payment: PaymentRow, told: string | null = null) {
    const looked = yield* processor.look({ ...soughtOf(payment), reference: payment.reference ?? told })
    if (looked !== undefined) yield* settle(payment, looked)
    return looked !== undefined
  })

  /** The customer has left the payment page. */
  const leave = Effect.fn("Billing.leave")(function* (payment: PaymentRow) {
    if (payment.card !== null) return yield* look(payment)
    const looked = yield* processor.closePage(soughtOf(payment))
    if (looked !== undefined) yield* settle(payment, looked)
    return looked !== undefined
  })

  /**
   * True if the payment is the running recharge, auto-recharge is still on, the balance is still below the trigger, and
   * the card and the amount are unchanged.
   */
  const isWanted = Effect.fnUntraced(function* ({ account_id, card, cents, id }: PaymentRow) {
    const recharge = yield* findRecharge(database, account_id)
    if (recharge?.running !== id || !recharge.is_on || recharge.cents !== cents) return false
    if ((yield* findCustomer(database, processor.name, account_id))?.card !== card) return false
    const { balance_credits } = yield* administration.account({ account_id })
    return balance_credits < recharge.trigger_credits
  })

  /** The processor does not know the payment. Billing never retries a person's payment on its own. */
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
    /** Reconciles an open payment with the processor as far as possible now. */
    pursue: Effect.fn("Billing.pursue")(function* (payment: PaymentRow) {
      const known = yield* look(payment)
      if (!known && payment.state === "open") yield* unknownThere(payment)
    })
  }
}

export type Pursue = ReturnType<typeof makePursue>
