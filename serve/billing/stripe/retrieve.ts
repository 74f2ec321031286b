/**
 * Retrieves a payment from Stripe by its reference, or by Larder's id if the answer with the reference never arrived.
 */
import { Clock, Effect, Schema } from "effect"
import type Stripe from "stripe"
import type { PaymentQuery, ProcessorUnavailable, RetrievedPayment } from "../processor.ts"
import {
  ask,
  asking,
  asUnavailable,
  CheckoutSession,
  Dispute,
  isMissing,
  PaymentIntent,
  Refund,
  unavailable
} from "./api.ts"
import { abandoned, isAbandoned, retrievedCharge, retrievedCheckout, reversalsFrom } from "./payment-state.ts"

/**
 * Seconds by which this server's clock may be ahead of Stripe's; beyond that, an existing payment is not found and
 * counts as never made. Charges are listed per customer, so a margin of a day is cheap and even covers a clock in the
 * wrong time zone. Sessions are listed for all customers, so their margin is smaller.
 */
const maxClockLead = { charges: 86_400, sessions: 3_600 }
/** Seconds after which billing no longer requests a recorded payment that was never answered. */
const requestedFor = 86_400
/** More sessions than one server creates in a day. */
const maxListed = 2000
/** Limit of refunds and of disputes per payment. */
const maxReversals = 1000

const sessionExpansions = ["payment_intent.payment_method"]

type Answered<A> = Effect.Effect<A, ProcessorUnavailable>

/** Undefined if Stripe has no object with this id. */
const found = <A>(request: () => Promise<unknown>, answer: Schema.Codec<A, unknown>): Answered<A | undefined> =>
  asking(request, answer).pipe(
    Effect.catchTag("Refused", ({ cause }) =>
      isMissing(cause) ? Effect.succeed(undefined) : Effect.fail(asUnavailable(cause))
    )
  )

const secondsOf = (created_at: string) => Math.floor(Date.parse(created_at) / 1000)

/** Fails if the list was cut off: a payment missing from it may still exist and must not be requested again. */
const whole = <A>(listed: ReadonlyArray<A>): Answered<ReadonlyArray<A>> =>
  listed.length < maxListed
    ? Effect.succeed(listed)
    : Effect.fail(
        unavailable(new Error(`more than ${maxListed} payments in a day: this one cannot be found among them`))
      )

export const makeRetrieve = (stripe: Stripe) => {
  const reversals = Effect.fnUntraced(function* (intent: PaymentIntent | undefined) {
    if (intent?.status !== "succeeded") return []
    const of = { payment_intent: intent.id, limit: 100 }
    const [refunds, disputes] = yield* Effect.all(
      [
        ask(() => stripe.refunds.list(of).autoPagingToArray({ limit: maxReversals }), Schema.Array(Refund)),
        ask(() => stripe.disputes.list(of).autoPagingToArray({ limit: maxReversals }), Schema.Array(Dispute))
      ],
      { concurrency: 2 }
    )
    return reversalsFrom(intent, refunds, disputes)
  })

  const ofCharge = Effect.fnUntraced(function* (intent: PaymentIntent) {
    return retrievedCharge(intent, yield* reversals(intent))
  })
  /** Cancels an abandoned charge at Stripe. It can then no longer charge the card, so another charge may begin. */
  const ofOpenCharge = Effect.fnUntraced(function* (intent: PaymentIntent, { card }: PaymentQuery) {
    if (card === null || !isAbandoned(intent, yield* Clock.currentTimeMillis)) return yield* ofCharge(intent)
    const ended = yield* ask(
      () => stripe.paymentIntents.cancel(intent.id, { cancellation_reason: abandoned, expand: ["payment_method"] }),
      PaymentIntent
    )
    return yield* ofCharge(ended)
  })
  const ofCheckout = Effect.fnUntraced(function* (session: CheckoutSession) {
    const intent = session.payment_intent
    // lists omit fields that a single object has
    const paying =
      typeof intent === "string"
        ? yield* ask(() => stripe.paymentIntents.retrieve(intent, { expand: ["payment_method"] }), PaymentIntent)
        : (intent ?? undefined)
    return retrievedCheckout(session, paying, yield* reversals(paying))
  })

  const intentOf = (id: string) =>
    found(() => stripe.paymentIntents.retrieve(id, { expand: ["payment_method"] }), PaymentIntent)
  const sessionOf = (id: string) =>
    found(() => stripe.checkout.sessions.retrieve(id, { expand: sessionExpansions }), CheckoutSession)

  const findCharge = Effect.fnUntraced(function* (query: PaymentQuery) {
    const { created_at, customer, payment_id } = query
    if (customer === null) return undefined
    const created = { gte: secondsOf(created_at) - maxClockLead.charges }
    const listed = yield* ask(
      () =>
        stripe.paymentIntents
          .list({ customer, created, limit: 100, expand: ["data.payment_method"] })
          .autoPagingToArray({ limit: maxListed }),
      Schema.Array(PaymentIntent)
    )
    const intent = (yield* whole(listed)).find(({ metadata }) => metadata.payment_id === payment_id)
    return intent === undefined ? undefined : yield* ofOpenCharge(intent, query)
  })
  const findCheckout = Effect.fnUntraced(function* ({ created_at, payment_id }: PaymentQuery) {
    const seconds = secondsOf(created_at)
    const created = { gte: seconds - maxClockLead.sessions, lte: seconds + requestedFor }
    // not by customer: Stripe creates a first-time customer, whose id is unknown here
    const listed = yield* ask(
      () => stripe.checkout.sessions.list({ created, limit: 100 }).autoPagingToArray({ limit: maxListed }),
      Schema.Array(CheckoutSession)
    )
    const session = (yield* whole(listed)).find(({ metadata }) => metadata?.payment_id === payment_id)
    return session === undefined ? undefined : yield* ofCheckout(session)
  })
  /**
   * For an event that names the PaymentIntent of a payment page: the session decides, because a failed charge does not
   * end a payment on a page.
   */
  const checkoutOf = Effect.fnUntraced(function* (intent: PaymentIntent) {
    const listed = yield* ask(
      () => stripe.checkout.sessions.list({ payment_intent: intent.id }),
      Schema.Struct({ data: Schema.Array(CheckoutSession) })
    )
    const [session] = listed.data
    return session === undefined ? undefined : yield* ofCheckout(session)
  })

  const checked = <A extends CheckoutSession | PaymentIntent>(object: A | undefined, { payment_id }: PaymentQuery) =>
    object === undefined || object.metadata?.payment_id === payment_id
      ? Effect.succeed(object)
      : Effect.fail(
          unavailable(new Error(`${object.id} is not the payment ${payment_id}: is the key of another account?`))
        )

  const byReference = Effect.fnUntraced(function* (reference: string, query: PaymentQuery) {
    if (reference.startsWith("cs_")) {
      const session = yield* checked(yield* sessionOf(reference), query)
      return session === undefined ? undefined : yield* ofCheckout(session)
    }
    const intent = yield* checked(yield* intentOf(reference), query)
    if (intent === undefined) return undefined
    return yield* query.card === null ? checkoutOf(intent) : ofOpenCharge(intent, query)
  })

  return {
    ofCharge,
    intentOf,
    retrieve: (query: PaymentQuery): Answered<RetrievedPayment | undefined> => {
      const { card, reference } = query
      if (reference !== null && /^(cs|pi)_/.test(reference)) return byReference(reference, query)
      return card === null ? findCheckout(query) : findCharge(query)
    }
  }
}
