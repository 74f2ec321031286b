/** The simulator behind the `CardProcessor` interface, with simulated faults around each response. */
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
import type { makeCheckout } from "./checkout.ts"
import { checkSignature, parseEvent, signatureHeader } from "./events.ts"
import { chargeSaved, pageLifetimeMs, toIso, toReference, toRetrieved } from "./payment-state.ts"
import type { SimulatedPayment } from "./records.ts"
import { cardRecords, paymentRecords, type SimulatorState } from "./state.ts"

/** The same as for Stripe. */
const responseTimeoutMs = 10_000

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
    refunds: []
  }
}

export const makeSimulatedProcessor = (
  { addOnce, db, setFaults, settings }: SimulatorState,
  { expire }: ReturnType<typeof makeCheckout>
): CardProcessor => {
  const add = Effect.fnUntraced(function* (newPayment: SimulatedPayment) {
    const payment = yield* addOnce(newPayment)
    return payment.cents === newPayment.cents
      ? payment
      : yield* unavailable(`${newPayment.payment_id} was already requested with a different amount`)
  })

  /** A lost response does not undo the payment. */
  const respond = <A>(work: Effect.Effect<A, ConsoleUnavailable | ProcessorUnavailable>, canBeLost = false) =>
    Effect.gen(function* () {
      const { lose_next_answer, outage, slow_ms } = yield* settings
      if (outage) return yield* unavailable("503 Service Unavailable")
      // of concurrent requests, only one finds the fault still set
      const isLost = canBeLost && lose_next_answer && (yield* setFaults({ lose_next_answer: false })).lose_next_answer
      const value = yield* work
      if (slow_ms > 0) yield* Effect.sleep(slow_ms)
      return isLost ? yield* unavailable("the connection was closed") : value
    }).pipe(
      Effect.timeoutOrElse({
        duration: responseTimeoutMs,
        orElse: () => Effect.fail(unavailable(`no response within ${responseTimeoutMs / 1000} seconds`))
      }),
      asProcessorError
    )
  const respondOrLose = <A>(work: Effect.Effect<A, ConsoleUnavailable | ProcessorUnavailable>) => respond(work, true)

  const find = Effect.fnUntraced(function* ({ payment_id, reference }: PaymentQuery) {
    const payment = yield* paymentRecords.find(db, reference ?? toReference(payment_id))
    return payment?.payment_id === payment_id ? payment : undefined
  })
  const retrieve = Effect.fnUntraced(function* (query: PaymentQuery) {
    const payment = yield* find(query)
    return payment && toRetrieved(payment, toIso(yield* Clock.currentTimeMillis))
  })

  return {
    name: "simulator",
    checkout: Effect.fnUntraced(function* (request) {
      const { customer, payment_id } = yield* add(newOpenPayment(request, yield* Clock.currentTimeMillis))
      const reference = toReference(payment_id)
      // the page is part of the console: keep the host name by which the customer reached the console
      const { href } = new URL(`/simulator/checkout/${encodeURIComponent(reference)}`, request.success_url)
      return { url: href, reference, customer }
    }, respondOrLose),
    charge: Effect.fnUntraced(function* (request) {
      const now = yield* Clock.currentTimeMillis
      const saved = yield* cardRecords.find(db, request.card)
      return toRetrieved(yield* add(chargeSaved(newOpenPayment(request, now), saved)), toIso(now))
    }, respondOrLose),
    retrieve: (query) => respond(retrieve(query)),
    expireCheckout: Effect.fnUntraced(
      function* (query) {
        const payment = yield* find(query)
        if (payment !== undefined) {
          yield* Effect.catchTag(expire(toReference(payment.payment_id)), "SimulatorRefused", Effect.die)
        }
        return yield* retrieve(query)
      },
      (work) => respond(work)
    ),
    detachCard: (card) => respond(Effect.asVoid(cardRecords.remove(db, card))),
    readEvent: Effect.fnUntraced(function* (body, header) {
      const { webhook_secret } = yield* settings
      const problem = checkSignature(webhook_secret, body, header(signatureHeader), yield* Clock.currentTimeMillis)
      return problem === undefined ? parseEvent(body) : yield* new EventRejected({ problem })
    }, asProcessorError)
  }
}
