/** Retrieves a payment from Stripe by its reference, or by Larder's id if the response with the reference was lost. */
import { Clock, Effect, Schema } from "effect"
import type Stripe from "stripe"
import type { PaymentQuery, ProcessorResponse, RetrievedPayment } from "../processor.ts"
import {
  CheckoutSession,
  Dispute,
  orIfMissing,
  PaymentIntent,
  Refund,
  request,
  requestOrFail,
  stripeUnavailable
} from "./api.ts"
import { abandoned, isAbandoned, toRetrievedCharge, toRetrievedCheckout, toReversals } from "./payment-state.ts"

/**
 * Seconds by which this server's clock may be ahead of Stripe's. Beyond that, an existing payment is not found and counts
 * as never made. Charges are listed per customer, so a day is cheap, and covers a clock in the wrong time zone. Sessions
 * are listed for all customers, so their margin is smaller.
 */
const maxClockLead = { charges: 86_400, sessions: 3_600 }
/** A payment without a response may be requested again for this many seconds after its creation. */
const maxRequestAge = 86_400
/** More sessions than one server creates in a day. */
const maxListed = 2000
const maxReversals = 1000

const toSeconds = (created_at: string) => Math.floor(Date.parse(created_at) / 1000)

interface PaymentList {
  readonly autoPagingToArray: (options: { readonly limit: number }) => Promise<ReadonlyArray<unknown>>
}

/** Fails if the list is truncated: a payment missing from it may still exist and must not be requested again. */
const findInList = Effect.fnUntraced(function* <A extends CheckoutSession | PaymentIntent>(
  list: () => PaymentList,
  object: Schema.Codec<A, unknown>,
  payment_id: string
) {
  const listed = yield* requestOrFail(() => list().autoPagingToArray({ limit: maxListed }), Schema.Array(object))
  if (listed.length < maxListed) return listed.find(({ metadata }) => metadata?.payment_id === payment_id)
  const problem = `the list was truncated after ${maxListed} payments, so this one may be missing`
  return yield* stripeUnavailable(new Error(problem))
})

const ifFound = <A, B>(found: ProcessorResponse<A | undefined>, retrieve: (object: A) => ProcessorResponse<B>) =>
  Effect.flatMap(found, (object) => (object === undefined ? Effect.undefined : retrieve(object)))

export const makeRetrieve = (stripe: Stripe) => {
  const listReversals = Effect.fnUntraced(function* (intent: PaymentIntent | undefined) {
    if (intent?.status !== "succeeded") return []
    const filter = { payment_intent: intent.id, limit: 100 }
    const [refunds, disputes] = yield* Effect.all(
      [
        requestOrFail(
          () => stripe.refunds.list(filter).autoPagingToArray({ limit: maxReversals }),
          Schema.Array(Refund)
        ),
        requestOrFail(
          () => stripe.disputes.list(filter).autoPagingToArray({ limit: maxReversals }),
          Schema.Array(Dispute)
        )
      ],
      { concurrency: 2 }
    )
    return toReversals(intent, refunds, disputes)
  })

  const retrieveCharge = Effect.fnUntraced(function* (intent: PaymentIntent) {
    return toRetrievedCharge(intent, yield* listReversals(intent))
  })
  /** Cancels an abandoned charge at Stripe. It can then no longer charge the card, so another charge may begin. */
  const retrieveOrCancelCharge = Effect.fnUntraced(function* (intent: PaymentIntent, { card }: PaymentQuery) {
    if (card === null || !isAbandoned(intent, yield* Clock.currentTimeMillis)) return yield* retrieveCharge(intent)
    const cancelled = yield* requestOrFail(
      () => stripe.paymentIntents.cancel(intent.id, { cancellation_reason: abandoned, expand: ["payment_method"] }),
      PaymentIntent
    )
    return yield* retrieveCharge(cancelled)
  })
  const retrieveCheckout = Effect.fnUntraced(function* (session: CheckoutSession) {
    const intent = session.payment_intent
    // lists omit fields that a single object has
    const paymentIntent =
      typeof intent === "string"
        ? yield* requestOrFail(
            () => stripe.paymentIntents.retrieve(intent, { expand: ["payment_method"] }),
            PaymentIntent
          )
        : (intent ?? undefined)
    return toRetrievedCheckout(session, paymentIntent, yield* listReversals(paymentIntent))
  })

  const findIntent = (id: string) =>
    request(() => stripe.paymentIntents.retrieve(id, { expand: ["payment_method"] }), PaymentIntent).pipe(
      orIfMissing(undefined)
    )
  const findSession = (id: string) =>
    request(
      () => stripe.checkout.sessions.retrieve(id, { expand: ["payment_intent.payment_method"] }),
      CheckoutSession
    ).pipe(orIfMissing(undefined))

  const findCharge = (query: PaymentQuery) => {
    const { created_at, customer, payment_id } = query
    if (customer === null) return Effect.undefined
    const created = { gte: toSeconds(created_at) - maxClockLead.charges }
    const list = () => stripe.paymentIntents.list({ customer, created, limit: 100, expand: ["data.payment_method"] })
    return ifFound(findInList(list, PaymentIntent, payment_id), (intent) => retrieveOrCancelCharge(intent, query))
  }
  const findCheckout = ({ created_at, payment_id }: PaymentQuery) => {
    const seconds = toSeconds(created_at)
    const created = { gte: seconds - maxClockLead.sessions, lte: seconds + maxRequestAge }
    // not by customer: Stripe creates a first-time customer, and the id is unknown here
    const list = () => stripe.checkout.sessions.list({ created, limit: 100 })
    return ifFound(findInList(list, CheckoutSession, payment_id), retrieveCheckout)
  }
  /** For an event that names a page's PaymentIntent: the session has the state, because a failed charge does not end a page. */
  const findCheckoutOfIntent = (intent: PaymentIntent) => {
    const list = () => stripe.checkout.sessions.list({ payment_intent: intent.id })
    const listed = requestOrFail(list, Schema.Struct({ data: Schema.Array(CheckoutSession) }))
    return ifFound(
      Effect.map(listed, ({ data }) => data[0]),
      retrieveCheckout
    )
  }

  const checkPaymentId = <A extends CheckoutSession | PaymentIntent>(
    found: ProcessorResponse<A | undefined>,
    { payment_id }: PaymentQuery
  ) =>
    Effect.tap(found, (object) =>
      object === undefined || object.metadata?.payment_id === payment_id
        ? Effect.void
        : stripeUnavailable(
            new Error(`${object.id} is not the payment ${payment_id}: is the key from another account?`)
          )
    )

  const retrieveByReference = (reference: string, query: PaymentQuery) =>
    reference.startsWith("cs_")
      ? ifFound(checkPaymentId(findSession(reference), query), retrieveCheckout)
      : ifFound(checkPaymentId(findIntent(reference), query), (intent) =>
          query.card === null ? findCheckoutOfIntent(intent) : retrieveOrCancelCharge(intent, query)
        )

  return {
    retrieveCharge,
    findIntent,
    retrieve: (query: PaymentQuery): ProcessorResponse<RetrievedPayment | undefined> => {
      const { card, reference } = query
      if (reference !== null && /^(cs|pi)_/.test(reference)) return retrieveByReference(reference, query)
      return card === null ? findCheckout(query) : findCharge(query)
    }
  }
}
