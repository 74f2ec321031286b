/** The simulator behind the `CardProcessor` interface, with simulated faults around each answer. */
import { Clock, Effect } from "effect"
import { ConsoleUnavailable } from "../../persistence/index.ts"
import {
  type CardProcessor,
  type ChargeRequest,
  type CheckoutRequest,
  EventRejected,
  type PaymentQuery,
  ProcessorUnavailable
} from "../processor.ts"
import { checkSignature, parseEvent, signatureHeader } from "./events.ts"
import { chargeSaved, isPageExpired, pageLifetimeMs, referenceOf, toIso, toRetrieved } from "./payment-state.ts"
import type { SimulatedPayment } from "./records.ts"
import { cardRecords, newSimulatedId, paymentRecords, type SimulatorState } from "./state.ts"

/** The same as for Stripe. */
const answerTimeoutMs = 10_000

const unavailable = (cause: unknown) => new ProcessorUnavailable({ processor: "simulator", cause })
const asProcessorError = <A, E>(work: Effect.Effect<A, E | ConsoleUnavailable>) =>
  Effect.mapError(work, (error) => (error instanceof ConsoleUnavailable ? unavailable(error) : error))

const newOpenPayment = (request: CheckoutRequest | ChargeRequest, now: number): SimulatedPayment => {
  const page = "email" in request ? request : undefined
  return {
    payment_id: request.payment_id,
    account_id: request.account_id,
    cents: request.cents,
    made_by: page === undefined ? "charge" : "checkout",
    made_at: toIso(now),
    state: "open",
    problem: null,
    email: page?.email ?? null,
    customer: request.customer,
    card: null,
    plays: null,
    asked_owner: null,
    success_url: page?.success_url ?? null,
    cancel_url: page?.cancel_url ?? null,
    expires_at: page === undefined ? null : toIso(now + pageLifetimeMs),
    reversed: []
  }
}

export const makeSimulatedProcessor = (state: SimulatorState): CardProcessor => {
  const { db, settings, takeLostAnswer } = state
  const add = Effect.fnUntraced(function* (newPayment: SimulatedPayment) {
    const payment = yield* state.addOnce(newPayment)
    return payment.cents === newPayment.cents
      ? payment
      : yield* unavailable(`${newPayment.payment_id} was already requested with a different amount`)
  })

  /** A lost answer does not undo the payment. */
  const answer = <A>(
    work: Effect.Effect<A, ConsoleUnavailable | ProcessorUnavailable>,
    shouldLoseAnswer: Effect.Effect<boolean, ConsoleUnavailable> = Effect.succeed(false)
  ) =>
    Effect.gen(function* () {
      const { outage, slow_ms } = yield* settings
      if (outage) return yield* unavailable("503 Service Unavailable")
      const isLost = yield* shouldLoseAnswer
      const value = yield* work
      if (slow_ms > 0) yield* Effect.sleep(slow_ms)
      return isLost ? yield* unavailable("the connection was closed") : value
    }).pipe(
      Effect.timeoutOrElse({
        duration: answerTimeoutMs,
        orElse: () => Effect.fail(unavailable(`no answer within ${answerTimeoutMs / 1000} seconds`))
      }),
      asProcessorError
    )
  const answerPayment = <A>(work: Effect.Effect<A, ConsoleUnavailable | ProcessorUnavailable>) =>
    answer(work, takeLostAnswer)

  const find = Effect.fnUntraced(function* ({ payment_id, reference }: PaymentQuery) {
    const found = yield* paymentRecords.find(db, reference ?? referenceOf(payment_id))
    return found?.value.payment_id === payment_id ? found : undefined
  })
  const retrieve = Effect.fnUntraced(function* (query: PaymentQuery) {
    const found = yield* find(query)
    return found && toRetrieved(found.value, toIso(yield* Clock.currentTimeMillis))
  })

  return {
    name: "simulator",
    checkout: Effect.fnUntraced(function* (request) {
      const { customer, payment_id } = yield* add(newOpenPayment(request, yield* Clock.currentTimeMillis))
      const reference = referenceOf(payment_id)
      // the page is part of the console: keep the host name by which the customer reached the console
      const { href } = new URL(`/simulator/checkout/${encodeURIComponent(reference)}`, request.success_url)
      return { url: href, reference, customer }
    }, answerPayment),
    charge: Effect.fnUntraced(function* (request) {
      const now = yield* Clock.currentTimeMillis
      const saved = yield* cardRecords.find(db, request.card)
      const newPayment = chargeSaved(newOpenPayment(request, now), saved?.value, newSimulatedId("dp"), toIso(now))
      return toRetrieved(yield* add(newPayment), toIso(now))
    }, answerPayment),
    retrieve: (query) => answer(retrieve(query)),
    expireCheckout: Effect.fnUntraced(
      function* (query) {
        const now = toIso(yield* Clock.currentTimeMillis)
        const open = yield* find(query)
        if (open?.value.state === "open" && !isPageExpired(open.value, now)) {
          // has no effect if the payment is made at this moment
          yield* paymentRecords.change(db, open, { ...open.value, expires_at: now })
        }
        return yield* retrieve(query)
      },
      (work) => answer(work)
    ),
    forget: Effect.fnUntraced(
      function* (card) {
        const found = yield* cardRecords.find(db, card)
        if (found !== undefined) yield* cardRecords.remove(db, found)
      },
      (work) => answer(work)
    ),
    readEvent: Effect.fnUntraced(function* (body, header) {
      const { webhook_secret } = yield* settings
      const problem = checkSignature(webhook_secret, body, header(signatureHeader), yield* Clock.currentTimeMillis)
      return problem === undefined ? parseEvent(body) : yield* new EventRejected({ problem })
    }, asProcessorError)
  }
}
