/** A card processor that moves no money, behaves like Stripe with its test cards, and simulates faults on request. */
import { Clock, Context, Effect, Layer, Queue } from "effect"
import type { RetrievedPayment } from "../processor.ts"
import { makeCheckout } from "./checkout.ts"
import { sendDue, sentEvents, waitingEvents } from "./events.ts"
import { makeMoneyOut } from "./money-out.ts"
import { toIso, toRetrieved } from "./payment-state.ts"
import type { Faults, SimulatedPayment } from "./records.ts"
import { makeSimulatedProcessor } from "./simulated-processor.ts"
import { openState, paymentRecords } from "./state.ts"

export interface SeenPayment {
  readonly payment: SimulatedPayment
  /** Its state as the `CardProcessor` interface reports it. */
  readonly retrieved: RetrievedPayment
}

const viewPayment = (payment: SimulatedPayment, now: number): SeenPayment => ({
  payment,
  retrieved: toRetrieved(payment, toIso(now))
})

const make = Effect.fnUntraced(function* (consoleUrl: () => string) {
  const state = yield* openState
  const { db, setFaults, settings, wakeUps } = state
  const sendRound = Effect.gen(function* () {
    const wait = yield* sendDue(db, `${consoleUrl()}/webhooks/simulator`, yield* settings)
    yield* Effect.timeoutOption(Queue.take(wakeUps), wait)
  }).pipe(
    Effect.catchTag("ConsoleUnavailable", (error) =>
      Effect.andThen(
        Effect.logWarning("The simulator cannot send its events at the moment", error),
        Effect.sleep("5 seconds")
      )
    )
  )
  return {
    ...makeCheckout(state),
    ...makeMoneyOut(state),
    processor: makeSimulatedProcessor(state),
    payment: (reference: string) => Effect.map(paymentRecords.find(db, reference), (found) => found?.value),
    seen: Effect.fnUntraced(function* (reference: string) {
      const found = yield* paymentRecords.find(db, reference)
      return found && viewPayment(found.value, yield* Clock.currentTimeMillis)
    }),
    /** Newest first. */
    payments: Effect.fnUntraced(function* (limit: number) {
      const now = yield* Clock.currentTimeMillis
      return (yield* paymentRecords.all(db))
        .map(({ value }) => viewPayment(value, now))
        .toSorted((a, b) => b.payment.made_at.localeCompare(a.payment.made_at))
        .slice(0, limit)
    }),
    faults: Effect.map(settings, ({ webhook_secret: _, ...faults }): Faults => faults),
    setFaults,
    /** Newest first. */
    events: Effect.fnUntraced(function* (limit: number) {
      const all = [...(yield* sentEvents.all(db)), ...(yield* waitingEvents.all(db))]
      return all
        .toSorted((a, b) => b.id.localeCompare(a.id))
        .slice(0, limit)
        .map(({ value }) => value)
    }),
    /** Sends events to the console for as long as it runs. Start it once the console listens. */
    sendEvents: Effect.forever(sendRound)
  }
})

export class Simulator extends Context.Service<Simulator, Effect.Success<ReturnType<typeof make>>>()(
  "larder/serve/Simulator"
) {
  /** Events are sent to `consoleUrl`. It is a function, because the port may be known only once the console listens. */
  static readonly layer = (consoleUrl: () => string) => Layer.effect(Simulator, make(consoleUrl))
}
