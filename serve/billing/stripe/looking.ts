/**
 * Retrieves a payment from Stripe by its reference, or by Larder's id if the answer with the reference never arrived.
 */
import { Clock, Effect, Schema } from "effect"
import type Stripe from "stripe"
import type { Looked, ProcessorUnavailable, Sought } from "../processor.ts"
import { asUnavailable, isMissing, unavailable } from "./failures.ts"
import { abandoned, isAbandoned, lookedAtCharge, lookedAtCheckout, reversedOf } from "./looked.ts"
import { ask, asking } from "./stripe-client.ts"
import { CheckoutSession, Dispute, PaymentIntent, Refund } from "./wire.ts"

/**
 * Seconds by which this server's clock may be ahead of Stripe's; beyond that, an existing payment is not found and
 * counts as never made. Charges are listed per customer, so a margin of a day is cheap and even covers a clock in the
 * wrong time zone. Sessions are listed for all customers, so their margin is smaller.
 */
const aheadOf = { charges: 86_400, sessions: 3_600 }
/** Seconds after which billing no longer requests a recorded payment that was never answered. */
const longestAsking = 86_400
/** More sessions than one server creates in a day. */
const mostListed = 2000
/** Limit of refunds and of disputes per payment. */
const mostReversals = 1000

const sessionExpansions = ["payment_intent.payment_method"]

type Looking<A> = Effect.Effect<A, ProcessorUnavailable>

/** Undefined if Stripe has no object with this id. */
const found = <A>(request: () => Promise<unknown>, answer: Schema.Codec<A, unknown>): Looking<A | undefined> =>
  asking(request, answer).pipe(
    Effect.catchTag("Refused", ({ cause }) =>
      isMissing(cause) ? Effect.succeed(undefined) : Effect.fail(asUnavailable(cause))
    )
  )

const secondsOf = (created_at: string) => Math.floor(Date.parse(created_at) / 1000)

/** Fails if the list was cut off: a payment missing from it may still exist and must not be requested again. */
const whole = <A>(listed: ReadonlyArray<A>): Looking<ReadonlyArray<A>> =>
  listed.length < mostListed
    ? Effect.succeed(listed)
    : Effect.fail(
        unavailable(new Error(`more than ${mostListed} payments in a day: this one cannot be found among them`))
      )

export const makeLooking = (stripe: Stripe) => {
  const reversals = Effect.fnUntraced(function* (intent: PaymentIntent) {
    const of = { payment_intent: intent.id, limit: 100 }
    const [refunds, disputes] = yield* Effect.all(
      [
        ask(() => stripe.refunds.list(of).autoPagingToArray({ limit: mostReversals }), Schema.Array(Refund)),
        ask(() => stripe.disputes.list(of).autoPagingToArray({ limit: mostReversals }), Schema.Array(Dispute))
      ],
      { concurrency: 2 }
    )
    return reversedOf(intent, refunds, disputes)
  })
  const reversalsOf = (intent: PaymentIntent | undefined) =>
    intent?.status === "succeeded" ? reversals(intent) : Effect.succeed([])

  const atCharge = Effect.fnUntraced(function* (intent: PaymentIntent) {
    return lookedAtCharge(intent, yield* reversalsOf(intent))
  })
  /** Cancels an abandoned charge at Stripe. It can then no longer charge the card, so another charge may begin. */
  const atSought = Effect.fnUntraced(function* (intent: PaymentIntent, { card }: Sought) {
    if (card === null || !isAbandoned(intent, yield* Clock.currentTimeMillis)) return yield* atCharge(intent)
    const ended = yield* ask(
      () => stripe.paymentIntents.cancel(intent.id, { cancellation_reason: abandoned, expand: ["payment_method"] }),
      PaymentIntent
    )
    return yield* atCharge(ended)
  })
  const atCheckout = Effect.fnUntraced(function* (session: CheckoutSession) {
    const intent = session.payment_intent
    // lists omit fields that a single object has
    const paying =
      typeof intent === "string"
        ? yield* ask(() => stripe.paymentIntents.retrieve(intent, { expand: ["payment_method"] }), PaymentIntent)
        : (intent ?? undefined)
    return lookedAtCheckout(session, paying, yield* reversalsOf(paying))
  })

  const intentOf = (id: string) =>
    found(() => stripe.paymentIntents.retrieve(id, { expand: ["payment_method"] }), PaymentIntent)
  const sessionOf = (id: string) =>
    found(() => stripe.checkout.sessions.retrieve(id, { expand: sessionExpansions }), CheckoutSession)

  const charge = Effect.fnUntraced(function* (sought: Sought) {
    const { created_at, customer, payment_id } = sought
    if (customer === null) return undefined
    const created = { gte: secondsOf(created_at) - aheadOf.charges }
    const listed = yield* ask(
      () =>
        stripe.paymentIntents
          .list({ customer, created, limit: 100, expand: ["data.payment_method"] })
          .autoPagingToArray({ limit: mostListed }),
      Schema.Array(PaymentIntent)
    )
    const intent = (yield* whole(listed)).find(({ metadata }) => metadata.payment_id === payment_id)
    return intent === undefined ? undefined : yield* atSought(intent, sought)
  })
  const checkout = Effect.fnUntraced(function* ({ created_at, payment_id }: Sought) {
    const seconds = secondsOf(created_at)
    const created = { gte: seconds - aheadOf.sessions, lte: seconds + longestAsking }
    // not by customer: Stripe creates a first-time customer, whose id is unknown here
    const listed = yield* ask(
      () => stripe.checkout.sessions.list({ created, limit: 100 }).autoPagingToArray({ limit: mostListed }),
      Schema.Array(CheckoutSession)
    )
    const session = (yield* whole(listed)).find(({ metadata }) => metadata?.payment_id === payment_id)
    return session === undefined ? undefined : yield* atCheckout(session)
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
    return session === undefined ? undefined : yield* atCheckout(session)
  })

  const mine = <A extends CheckoutSession | PaymentIntent>(object: A | undefined, { payment_id }: Sought) =>
    object === undefined || object.metadata?.payment_id === payment_id
      ? Effect.succeed(object)
      : Effect.fail(
          unavailable(new Error(`${object.id} is not the payment ${payment_id}: is the key of another account?`))
        )

  const known = Effect.fnUntraced(function* (reference: string, sought: Sought) {
    if (reference.startsWith("cs_")) {
      const session = yield* mine(yield* sessionOf(reference), sought)
      return session === undefined ? undefined : yield* atCheckout(session)
    }
    const intent = yield* mine(yield* intentOf(reference), sought)
    if (intent === undefined) return undefined
    return yield* sought.card === null ? checkoutOf(intent) : atSought(intent, sought)
  })

  return {
    atCharge,
    intentOf,
    look: (sought: Sought): Looking<Looked | undefined> => {
      const { card, reference } = sought
      if (reference !== null && /^(cs|pi)_/.test(reference)) return known(reference, sought)
      return card === null ? checkout(sought) : charge(sought)
    }
  }
}
