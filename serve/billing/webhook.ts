/**
 * `POST /webhooks/stripe` and `POST /webhooks/simulator`, for which `serve/console/app.ts` has the route. The processor
 * verifies the event (`stripe/webhook.ts`); here the payments that it names are reconciled, and outcomes are counted.
 */
import { Clock, Duration, Effect } from "effect"
import type { EventCounts } from "./billing.ts"
import type { BillingNeeds } from "./book.ts"
import { findPayment } from "./payment-rows.ts"
import { ForgedEvent, ProcessorUnavailable } from "./processor.ts"
import type { Reconcile } from "./reconcile.ts"

/** Anyone can send requests here; this limits how often a rejected event is logged. */
const rejectionsLoggedEvery = Duration.toMillis("1 minute")

export const makeWebhook = ({ database, processor }: BillingNeeds, reconcile: Reconcile["reconcile"]) => {
  const { name, paymentsOfEvent } = processor
  const counts = { taken: 0, refused: 0, failed: 0 }
  const count = (outcome: keyof typeof counts) => Effect.sync(() => counts[outcome]++)
  let loggedAt = Number.NEGATIVE_INFINITY

  /**
   * The money is not credited until a person checks the payment. Sending the event again would change nothing, so it
   * counts as taken.
   */
  const logUnknown = (payment_id: string) =>
    Effect.logError(
      `An event from ${name} names payment ${payment_id}, which is unknown here; a restored backup lacks the payments made after it. Check the payment at ${name}. If an account of this ledger paid, credit it with: larder-serve accounts credit --account ID --usd AMOUNT --note ${payment_id}`
    )

  const logOther = (payment_id: string, other: string) =>
    Effect.logWarning(
      `An event from ${name} names payment ${payment_id}, which was made with ${other}: it is not reconciled while ${name} is in use.`
    )

  /** The sender of the event knows the payment, but the processor does not: fail, so that the event is sent again. */
  const notThere = (payment_id: string) =>
    new ProcessorUnavailable({
      processor: name,
      cause: new Error(
        `an event names payment ${payment_id}, which does not exist there. Do the webhook secret and the key belong to the same account?`
      )
    })

  const logRejected = Effect.fnUntraced(function* ({ problem }: ForgedEvent) {
    const now = yield* Clock.currentTimeMillis
    if (now - loggedAt < rejectionsLoggedEvery) return
    loggedAt = now
    yield* Effect.logWarning(
      `An event was rejected (${counts.refused} since the start): ${problem} Until ${name}'s events are accepted, refunds and disputes are found late.`
    )
  })

  const take = Effect.fn("Billing.webhook")(function* (body: string, header: (name: string) => string | null) {
    for (const { payment_id, reference } of yield* paymentsOfEvent(body, header)) {
      const about = yield* findPayment(database, payment_id)
      if (about === undefined) yield* logUnknown(payment_id)
      else if (about.processor !== name) yield* logOther(payment_id, about.processor)
      else if (!(yield* reconcile(about, reference))) yield* notThere(payment_id)
    }
  })

  return {
    events: (): EventCounts => ({ ...counts }),
    webhook: (body: string, header: (name: string) => string | null) =>
      take(body, header).pipe(
        Effect.tap(count("taken")),
        Effect.tapError((error) =>
          error instanceof ForgedEvent ? Effect.andThen(count("refused"), logRejected(error)) : count("failed")
        )
      )
  }
}
