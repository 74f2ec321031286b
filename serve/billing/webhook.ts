/** Events of the processor: retrieves the payments that they name, and counts the outcome of each event. */
import { Clock, Duration, Effect } from "effect"
import type { EventCounts } from "./billing.ts"
import type { BillingNeeds } from "./book.ts"
import { findPayment } from "./payment-rows.ts"
import { ForgedEvent, ProcessorUnavailable } from "./processor.ts"
import type { Reconcile } from "./reconcile.ts"

/** Anyone can send requests here; this limits how often a rejected one is logged. */
const refusalsToldEvery = Duration.toMillis("1 minute")

export const makeWebhook = ({ database, processor }: BillingNeeds, reconcile: Reconcile["reconcile"]) => {
  const { name, paymentsOfEvent } = processor
  const counts = { taken: 0, refused: 0, failed: 0 }
  const count = (outcome: keyof typeof counts) => Effect.sync(() => counts[outcome]++)
  let toldAt = Number.NEGATIVE_INFINITY

  /**
   * The money is not credited until a person checks the payment. Sending the event again would change nothing, so it
   * counts as taken.
   */
  const tellUnknown = (payment_id: string) =>
    Effect.logError(
      `An event of ${name} tells of payment ${payment_id}, which is not known here; a restored backup does not know what was paid after it was made. Look it up at ${name}: where an account of this ledger has paid, credit it by hand with: larder-serve accounts credit --account ID --usd AMOUNT --note ${payment_id}`
    )

  const tellOther = (payment_id: string, other: string) =>
    Effect.logWarning(
      `An event of ${name} tells of payment ${payment_id}, which was made with ${other}: it is not looked at while ${name} is used.`
    )

  /** The sender of the event knows the payment, but the processor does not: fail, so that the event is sent again. */
  const notThere = (payment_id: string) =>
    new ProcessorUnavailable({
      processor: name,
      cause: new Error(
        `an event tells of payment ${payment_id}, which is not to be found there. Does the secret of the events belong to the account of the key?`
      )
    })

  const tellRefused = Effect.fnUntraced(function* ({ problem }: ForgedEvent) {
    const now = yield* Clock.currentTimeMillis
    if (now - toldAt < refusalsToldEvery) return
    toldAt = now
    yield* Effect.logWarning(
      `An event was refused (${counts.refused} since the start): ${problem} Until ${name}'s events are taken, refunds and disputes are found late.`
    )
  })

  const take = Effect.fn("Billing.webhook")(function* (body: string, header: (name: string) => string | null) {
    for (const { payment_id, reference } of yield* paymentsOfEvent(body, header)) {
      const about = yield* findPayment(database, payment_id)
      if (about === undefined) yield* tellUnknown(payment_id)
      else if (about.processor !== name) yield* tellOther(payment_id, about.processor)
      else if (!(yield* reconcile(about, reference))) yield* notThere(payment_id)
    }
  })

  return {
    events: (): EventCounts => ({ ...counts }),
    webhook: (body: string, header: (name: string) => string | null) =>
      take(body, header).pipe(
        Effect.tap(count("taken")),
        Effect.tapError((error) =>
          error instanceof ForgedEvent ? Effect.andThen(count("refused"), tellRefused(error)) : count("failed")
        )
      )
  }
}
