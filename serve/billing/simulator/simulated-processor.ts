/** The simulator behind the `CardProcessor` interface, with simulated faults around each answer. */
import { Clock, Effect } from "effect"
import { ConsoleUnavailable } from "../../persistence/index.ts"
import { type CardProcessor, ForgedEvent, type PaymentQuery, ProcessorUnavailable } from "../processor.ts"
import { paymentOfEvent, signatureHeader, wrongSignature } from "./events.ts"
import { asRetrieved, charged, checkoutMilliseconds, isExpired, referenceOf } from "./payment-state.ts"
import type { SimulatedPayment } from "./records.ts"
import { cards, iso, newId, payments, type SimulatorState } from "./state.ts"

/** Milliseconds; the same time-out as for Stripe. */
const longestAnswer = 10_000

const unavailable = (cause: unknown) => new ProcessorUnavailable({ processor: "simulator", cause })
const whenReachable = <A, E>(work: Effect.Effect<A, E | ConsoleUnavailable>) =>
  Effect.mapError(work, (error) => (error instanceof ConsoleUnavailable ? unavailable(error) : error))

type ToCheckout = Parameters<CardProcessor["checkout"]>[0]
type ToCharge = Parameters<CardProcessor["charge"]>[0]

const anOpenPayment = (asked: ToCheckout | ToCharge, now: number): SimulatedPayment => {
  const page = "email" in asked ? asked : undefined
  return {
    payment_id: asked.payment_id,
    account_id: asked.account_id,
    cents: asked.cents,
    made_by: page === undefined ? "charge" : "checkout",
    made_at: iso(now),
    state: "open",
    problem: null,
    email: page?.email ?? null,
    customer: asked.customer,
    card: null,
    plays: null,
    asked_owner: null,
    success_url: page?.success_url ?? null,
    cancel_url: page?.cancel_url ?? null,
    expires_at: page === undefined ? null : iso(now + checkoutMilliseconds),
    reversed: []
  }
}

export const simulatedProcessor = (state: SimulatorState): CardProcessor => {
  const { db, settings, takeLostAnswer } = state
  const once = Effect.fnUntraced(function* (made: SimulatedPayment) {
    const payment = yield* state.once(made)
    return payment.cents === made.cents
      ? payment
      : yield* unavailable(`${made.payment_id} was already requested with a different amount`)
  })

  /** If the answer is lost, the payment was made nevertheless. */
  const answering = <A>(
    work: Effect.Effect<A, ConsoleUnavailable | ProcessorUnavailable>,
    losing: Effect.Effect<boolean, ConsoleUnavailable> = Effect.succeed(false)
  ) =>
    Effect.gen(function* () {
      const { outage, slow_ms } = yield* settings
      if (outage) return yield* unavailable("503 Service Unavailable")
      const isLost = yield* losing
      const answer = yield* work
      if (slow_ms > 0) yield* Effect.sleep(slow_ms)
      return isLost ? yield* unavailable("the connection was closed") : answer
    }).pipe(
      Effect.timeoutOrElse({
        duration: longestAnswer,
        orElse: () => Effect.fail(unavailable(`no answer within ${longestAnswer / 1000} seconds`))
      }),
      whenReachable
    )
  const paying = <A>(work: Effect.Effect<A, ConsoleUnavailable | ProcessorUnavailable>) =>
    answering(work, takeLostAnswer)

  const find = Effect.fnUntraced(function* ({ payment_id, reference }: PaymentQuery) {
    const found = yield* payments.find(db, reference ?? referenceOf(payment_id))
    return found?.value.payment_id === payment_id ? found : undefined
  })

  return {
    name: "simulator",
    checkout: (asked) =>
      Effect.gen(function* () {
        const { customer, payment_id } = yield* once(anOpenPayment(asked, yield* Clock.currentTimeMillis))
        const reference = referenceOf(payment_id)
        // the page is part of the console: keep the host name by which the customer reached the console
        const { href } = new URL(`/simulator/checkout/${encodeURIComponent(reference)}`, asked.success_url)
        return { url: href, reference, customer }
      }).pipe(paying),
    charge: (asked) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const saved = yield* cards.find(db, asked.card)
        const made = charged(anOpenPayment(asked, now), saved?.value, newId("dp"), iso(now))
        return asRetrieved(yield* once(made), iso(now))
      }).pipe(paying),
    retrieve: (query) =>
      Effect.gen(function* () {
        const now = iso(yield* Clock.currentTimeMillis)
        const found = yield* find(query)
        return found && asRetrieved(found.value, now)
      }).pipe((work) => answering(work)),
    closePage: (query) =>
      Effect.gen(function* () {
        const now = iso(yield* Clock.currentTimeMillis)
        const open = yield* find(query)
        if (open?.value.state === "open" && !isExpired(open.value, now)) {
          // has no effect if the payment is made at this moment
          yield* payments.change(db, open, { ...open.value, expires_at: now })
        }
        const found = yield* find(query)
        return found && asRetrieved(found.value, now)
      }).pipe((work) => answering(work)),
    forget: (card) =>
      Effect.gen(function* () {
        const found = yield* cards.find(db, card)
        if (found !== undefined) yield* cards.remove(db, found)
      }).pipe((work) => answering(work)),
    paymentsOfEvent: (body, header) =>
      Effect.gen(function* () {
        const { webhook_secret } = yield* settings
        const problem = wrongSignature(webhook_secret, body, header(signatureHeader), yield* Clock.currentTimeMillis)
        return problem === undefined ? paymentOfEvent(body) : yield* new ForgedEvent({ problem })
      }).pipe(whenReachable)
  }
}
