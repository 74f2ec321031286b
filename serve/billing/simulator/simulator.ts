/**
 * A built-in card processor, for servers without a real one. Its state is durable in `console.simulated`. It behaves
 * like Stripe with Stripe's test cards, and simulates faults on request. It moves no money, but otherwise implements
 * the whole `CardProcessor` interface.
 */
import { Clock, Context, Effect, Layer, Queue } from "effect"
import type { ConsoleUnavailable } from "../../persistence/index.ts"
import type { CardProcessor, RetrievedPayment } from "../processor.ts"
import { type PaymentPage, paymentPageOf } from "./checkout.ts"
import { sendDue, sent, waiting } from "./events.ts"
import { type MoneyOut, moneyOutOf } from "./money-out.ts"
import { asRetrieved } from "./payment-state.ts"
import type { Faults, SimulatedEvent, SimulatedPayment } from "./records.ts"
import { simulatedProcessor } from "./simulated-processor.ts"
import { iso, openState, payments } from "./state.ts"

export interface SeenPayment {
  readonly payment: SimulatedPayment
  readonly retrieved: RetrievedPayment
}

interface Simulates extends PaymentPage, MoneyOut {
  readonly processor: CardProcessor
  readonly payment: (reference: string) => Effect.Effect<SimulatedPayment | undefined, ConsoleUnavailable>
  /** The payment, with its state as the `CardProcessor` interface reports it. */
  readonly seen: (reference: string) => Effect.Effect<SeenPayment | undefined, ConsoleUnavailable>
  /** Newest first. */
  readonly payments: (limit: number) => Effect.Effect<ReadonlyArray<SeenPayment>, ConsoleUnavailable>
  readonly faults: Effect.Effect<Faults, ConsoleUnavailable>
  readonly setFaults: (faults: Partial<Faults>) => Effect.Effect<void, ConsoleUnavailable>
  /** Newest first. */
  readonly events: (limit: number) => Effect.Effect<ReadonlyArray<SimulatedEvent>, ConsoleUnavailable>
  /** Sends events to the console for as long as it runs. Start it once the console listens. */
  readonly sendEvents: Effect.Effect<never>
}

const seenAt = (payment: SimulatedPayment, now: number): SeenPayment => ({
  payment,
  retrieved: asRetrieved(payment, iso(now))
})

const make = Effect.fnUntraced(function* (consoleUrl: () => string) {
  const state = yield* openState
  const { awake, db, setFaults, settings } = state
  const round = Effect.gen(function* () {
    const wait = yield* sendDue(db, `${consoleUrl()}/webhooks/simulator`, yield* settings)
    yield* Effect.timeoutOption(Queue.take(awake), wait)
  }).pipe(
    Effect.catchTag("ConsoleUnavailable", (error) =>
      Effect.andThen(
        Effect.logWarning("The simulator cannot send its events at the moment", error),
        Effect.sleep("5 seconds")
      )
    )
  )
  return Simulator.of({
    ...paymentPageOf(state),
    ...moneyOutOf(state),
    processor: simulatedProcessor(state),
    payment: (reference) => Effect.map(payments.find(db, reference), (found) => found?.value),
    seen: Effect.fnUntraced(function* (reference) {
      const found = yield* payments.find(db, reference)
      return found === undefined ? undefined : seenAt(found.value, yield* Clock.currentTimeMillis)
    }),
    payments: Effect.fnUntraced(function* (limit) {
      const now = yield* Clock.currentTimeMillis
      return (yield* payments.all(db))
        .map(({ value }) => seenAt(value, now))
        .toSorted((a, b) => b.payment.made_at.localeCompare(a.payment.made_at))
        .slice(0, limit)
    }),
    faults: Effect.map(settings, ({ events, lose_next_answer, outage, slow_ms }) => ({
      events,
      lose_next_answer,
      outage,
      slow_ms
    })),
    setFaults,
    events: Effect.fnUntraced(function* (limit) {
      const all = [...(yield* sent.all(db)), ...(yield* waiting.all(db))]
      return all
        .toSorted((a, b) => b.id.localeCompare(a.id))
        .slice(0, limit)
        .map(({ value }) => value)
    }),
    sendEvents: Effect.forever(round)
  })
})

export class Simulator extends Context.Service<Simulator, Simulates>()("larder/serve/Simulator") {
  /**
   * `consoleUrl` is the address that events are sent to. It is a function, because the console's port may be known only
   * once it listens.
   */
  static readonly layer = (consoleUrl: () => string) => Layer.effect(Simulator, make(consoleUrl))
}
