/** A card processor that moves no money, behaves like Stripe with its test cards, and can fail to respond on request. */
import { Clock, Context, Effect, Layer, Queue } from "effect"
import type { RetrievedPayment } from "../processor.ts"
import { makeCheckout } from "./checkout.ts"
import { sendDueEvents, sentEvents, waitingEvents } from "./events.ts"
import { toIso, toRetrieved } from "./payment-state.ts"
import type { Faults, SimulatedPayment } from "./records.ts"
import { makeRefunds } from "./refunds.ts"
import { makeSimulatedProcessor } from "./simulated-processor.ts"
import { openState, paymentRecords } from "./state.ts"

export interface PaymentView {
  readonly payment: SimulatedPayment
  /** Its state as the `CardProcessor` interface reports it. */
  readonly retrieved: RetrievedPayment
}

const make = Effect.fnUntraced(function* (consoleUrl: () => string) {
  const state = yield* openState
  const { db, setFaults, settings, wakeUps } = state
  const checkout = makeCheckout(state)
  const sendRound = Effect.gen(function* () {
    const { webhook_secret } = yield* settings
    const wait = yield* sendDueEvents(db, `${consoleUrl()}/webhooks/simulator`, webhook_secret)
    yield* Effect.timeoutOption(Queue.take(wakeUps), wait)
  }).pipe(
    Effect.catchTag("ConsoleUnavailable", (error) =>
      Effect.andThen(
        Effect.logWarning(`The simulator cannot send its events at the moment: ${error.message}`),
        Effect.sleep("5 seconds")
      )
    )
  )
  const makeView = Effect.map(
    Clock.currentTimeMillis,
    (now) =>
      (payment: SimulatedPayment): PaymentView => ({ payment, retrieved: toRetrieved(payment, toIso(now)) })
  )
  return {
    ...checkout,
    ...makeRefunds(state),
    processor: makeSimulatedProcessor(state, checkout),
    findPayment: Effect.fnUntraced(function* (reference: string) {
      const payment = yield* paymentRecords.find(db, reference)
      return payment && (yield* makeView)(payment)
    }),
    /** Newest first. */
    listPayments: Effect.fnUntraced(function* (limit: number) {
      return (yield* paymentRecords.all(db))
        .map(({ value }) => value)
        .toSorted((a, b) => b.made_at.localeCompare(a.made_at))
        .slice(0, limit)
        .map(yield* makeView)
    }),
    faults: Effect.map(settings, ({ webhook_secret: _, ...faults }): Faults => faults),
    setFaults: (faults: Partial<Faults>) => Effect.asVoid(setFaults(faults)),
    /** Newest first. */
    listEvents: Effect.fnUntraced(function* (limit: number) {
      const events = [...(yield* sentEvents.all(db)), ...(yield* waitingEvents.all(db))]
      return events
        .toSorted((a, b) => b.id.localeCompare(a.id))
        .slice(0, limit)
        .map(({ value }) => value)
    }),
    /** Sends events to the console, and never ends. Start it once the console listens. */
    sendEvents: Effect.forever(sendRound)
  }
})

export class Simulator extends Context.Service<Simulator, Effect.Success<ReturnType<typeof make>>>()(
  "larder/serve/Simulator"
) {
  /** Events are sent to `consoleUrl`. It is a function, because the port may be unknown until the console listens. */
  static readonly layer = (consoleUrl: () => string) => Layer.effect(Simulator, make(consoleUrl))
}
