/** Reconciles the payments that events name. The route is in `serve/console/app.ts`, Stripe's part in `stripe/webhook.ts`. */
import { Clock, Duration, Effect } from "effect"
import type { BillingNeeds } from "./needs.ts"
import { findPayment } from "./payment-rows.ts"
import { EventRejected, type HeaderReader, ProcessorUnavailable } from "./processor.ts"
import { reconcile } from "./reconcile.ts"

/** Anyone can send requests here; this limits how often a rejected event is logged. */
const rejectionLogInterval = Duration.toMillis("1 minute")

/** The processor's events since the start. It resends `failed` ones; `refused` ones were rejected (`EventRejected`). */
export type EventCounts = Readonly<Record<"taken" | "refused" | "failed", number>>

export const makeEventHandler = (needs: BillingNeeds) => {
  const { database, processor } = needs
  const { name, readEvent } = processor
  const counts = { taken: 0, refused: 0, failed: 0 }
  const count = (outcome: keyof typeof counts) => Effect.sync(() => counts[outcome]++)
  let loggedAt = Number.NEGATIVE_INFINITY

  /** A person has to check the payment. The event counts as taken: sending it again would change nothing. */
  const logUnknown = (payment_id: string) =>
    Effect.logError(
      `An event from ${name} names payment ${payment_id}, which is unknown here; a restored backup lacks the payments made after it. Check the payment at ${name}. If an account of this ledger paid, credit it with: larder-serve accounts credit --account ID --usd AMOUNT --note ${payment_id}`
    )

  const logRejected = Effect.fnUntraced(function* ({ problem }: EventRejected) {
    const now = yield* Clock.currentTimeMillis
    if (now - loggedAt < rejectionLogInterval) return
    loggedAt = now
    yield* Effect.logWarning(
      `An event was rejected (${counts.refused} since the start): ${problem} Until ${name}'s events are accepted, refunds and disputes are found late.`
    )
  })

  const handle = Effect.fn("Billing.webhook")(function* (body: string, header: HeaderReader) {
    for (const { payment_id, reference } of yield* readEvent(body, header)) {
      const payment = yield* findPayment(database, payment_id)
      if (payment === undefined) {
        yield* logUnknown(payment_id)
      } else if (payment.processor !== name) {
        const message = `An event from ${name} names payment ${payment_id}, which was made with ${payment.processor}: it is not reconciled while ${name} is in use.`
        yield* Effect.logWarning(message)
      } else if (!(yield* reconcile(needs, payment, reference))) {
        // fail, so that the event is sent again
        const problem = `an event names payment ${payment_id}, which does not exist there. Do the webhook secret and the key belong to the same account?`
        return yield* new ProcessorUnavailable({ processor: name, cause: new Error(problem) })
      }
    }
  })

  return {
    counts: (): EventCounts => ({ ...counts }),
    handleEvent: (body: string, header: HeaderReader) =>
      handle(body, header).pipe(
        Effect.tap(count("taken")),
        Effect.tapError((error) =>
          error instanceof EventRejected ? Effect.andThen(count("refused"), logRejected(error)) : count("failed")
        )
      )
  }
}
