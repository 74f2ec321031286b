/**
 * Stripe behind the `CardProcessor` interface: Checkout for the first payment, which saves the card, and PaymentIntents
 * for charges of a saved card. Larder accepts only cards, because a saved payment method must be chargeable later, and only
 * dollars, because credits are computed from cents. Idempotency keys begin with Larder's payment id, which is also in the
 * metadata of every object of the payment. Stripe deletes idempotency keys after a day, but billing retrieves a payment
 * before it repeats a charge.
 */
import { Effect, Schema } from "effect"
import type Stripe from "stripe"
import {
  type CardProcessor,
  type ChargeRequest,
  type CheckoutRequest,
  PaymentRefused,
  type PaymentRequest
} from "../processor.ts"
import {
  asUnavailable,
  CheckoutSession,
  describeError,
  getId,
  isDeclined,
  isForbidden,
  isInvalid,
  openStripe,
  orIfMissing,
  PaymentIntent,
  PaymentMethod,
  request,
  requestOrFail,
  stripeUnavailable
} from "./api.ts"
import { cardRemoved, paymentRefused, toFailedCharge } from "./payment-state.ts"
import { makeRetrieve } from "./retrieve.ts"
import type { StripeSettings } from "./settings.ts"
import { makeEventReader } from "./webhook.ts"

type Metadata = Readonly<Record<string, string>>

const productName = "Larder credits"

type SessionRequest = Pick<CheckoutRequest, "cents" | "customer" | "success_url" | "cancel_url"> & {
  /** If null, the customer enters it on the checkout. */
  readonly email: string | null
}

/** Without a customer, Stripe creates one at payment. */
export const buildSessionParams = (
  checkout: SessionRequest,
  reference: string,
  metadata: Metadata
): Stripe.Checkout.SessionCreateParams => ({
  mode: "payment",
  line_items: [
    { quantity: 1, price_data: { currency: "usd", unit_amount: checkout.cents, product_data: { name: productName } } }
  ],
  allowed_payment_method_types: ["card"],
  wallet_options: { link: { display: "never" } },
  adaptive_pricing: { enabled: false },
  ...(checkout.customer === null ? { customer_creation: "always" } : { customer: checkout.customer }),
  ...(checkout.customer === null && checkout.email !== null && { customer_email: checkout.email }),
  client_reference_id: reference,
  metadata,
  payment_intent_data: { setup_future_usage: "off_session", description: productName, metadata },
  success_url: checkout.success_url,
  cancel_url: checkout.cancel_url
})

/** `allowed_payment_method_types` and `automatic_payment_methods` cannot be combined. Cards need no `return_url`. */
const buildIntentParams = (
  { card, cents, customer }: ChargeRequest,
  metadata: Metadata
): Stripe.PaymentIntentCreateParams => ({
  amount: cents,
  currency: "usd",
  customer,
  payment_method: card,
  allowed_payment_method_types: ["card"],
  off_session: true,
  confirm: true,
  description: productName,
  metadata,
  expand: ["payment_method"]
})

const buildMetadata = ({ account_id, payment_id }: PaymentRequest) => ({ payment_id, account_id })

const CustomerState = Schema.Struct({ deleted: Schema.optionalKey(Schema.Boolean) })
const DeclinedError = Schema.Struct({ payment_intent: Schema.Struct({ id: Schema.String }) })

const logRefused = (payment: PaymentRequest, cause: Parameters<typeof describeError>[0], consequence = "") =>
  Effect.logError(
    `Stripe refused payment ${payment.payment_id} of account ${payment.account_id}: ${describeError(cause)}. Nothing was charged.${consequence}`
  )

export const makeStripeProcessor = (settings: StripeSettings): CardProcessor => {
  const stripe = openStripe(settings)
  const retrieval = makeRetrieve(stripe)

  const createSession = (checkout: SessionRequest & PaymentRequest, idempotencyKey: string) =>
    request(
      () =>
        stripe.checkout.sessions.create(buildSessionParams(checkout, checkout.payment_id, buildMetadata(checkout)), {
          idempotencyKey
        }),
      CheckoutSession
    )
  /** Stripe stores the rejection of an e-mail address under the idempotency key, so a retry needs a different key. */
  const openSession = (checkout: SessionRequest & PaymentRequest, idempotencyKey: string) =>
    Effect.catchTag(createSession(checkout, idempotencyKey), "StripeFailed", (failure) =>
      isInvalid(failure.cause) && failure.cause.param === "customer_email"
        ? createSession({ ...checkout, email: null }, `${idempotencyKey}-no-email`)
        : Effect.fail(failure)
    )
  const isCustomerDeleted = (customer: string) =>
    request(() => stripe.customers.retrieve(customer), CustomerState).pipe(
      Effect.map(({ deleted = false }) => deleted),
      orIfMissing(true)
    )
  /** Whether a saved card can still be charged for its customer. */
  const isSaved = (card: string, customer: string | null) =>
    request(() => stripe.paymentMethods.retrieve(card), PaymentMethod).pipe(
      Effect.map((method) => {
        const owner = getId(method.customer)
        return owner !== null && (customer === null || owner === customer)
      }),
      orIfMissing(false)
    )

  /** A decline arrives as an error that names the PaymentIntent, which is retrieved for its state. */
  const retrieveDeclined = Effect.fnUntraced(function* (cause: unknown) {
    const { payment_intent } = yield* requestOrFail(() => Promise.resolve(cause), DeclinedError)
    const intent = yield* retrieval.findIntent(payment_intent.id)
    return intent ?? (yield* stripeUnavailable(new Error(`${payment_intent.id} was declined but cannot be found`)))
  })

  return {
    name: "stripe",
    checkout: Effect.fn("Stripe.checkout")(function* (checkout) {
      const { payment_id } = checkout
      const session = yield* openSession(checkout, payment_id).pipe(
        Effect.catchTag("StripeFailed", (failure) =>
          Effect.gen(function* () {
            const hasDeletedCustomer =
              checkout.customer !== null && isInvalid(failure.cause) && (yield* isCustomerDeleted(checkout.customer))
            return yield* hasDeletedCustomer
              ? openSession({ ...checkout, customer: null }, `${payment_id}-new-customer`)
              : failure
          })
        ),
        Effect.catchTag("StripeFailed", ({ cause }) =>
          Effect.gen(function* () {
            if (!isInvalid(cause) && !isForbidden(cause)) return yield* asUnavailable(cause)
            yield* logRefused(checkout, cause)
            return yield* new PaymentRefused({ problem: paymentRefused })
          })
        )
      )
      const { customer, id, url } = session
      if (url === null) return yield* stripeUnavailable(new Error(`${id} has no payment page any more`))
      return { url, reference: id, customer: getId(customer) }
    }),
    charge: Effect.fn("Stripe.charge")(function* (charge) {
      const intentOrProblem = yield* request(
        () =>
          stripe.paymentIntents.create(buildIntentParams(charge, buildMetadata(charge)), {
            idempotencyKey: charge.payment_id
          }),
        PaymentIntent
      ).pipe(
        Effect.catchTag("StripeFailed", ({ cause }) =>
          Effect.gen(function* () {
            if (isDeclined(cause)) return yield* retrieveDeclined(cause)
            if (!isInvalid(cause)) return yield* asUnavailable(cause)
            if (!(yield* isSaved(charge.card, charge.customer))) return cardRemoved
            yield* logRefused(
              charge,
              cause,
              " It is not retried. If it was an automatic recharge, auto-recharge is switched off."
            )
            return paymentRefused
          })
        )
      )
      return typeof intentOrProblem === "string"
        ? toFailedCharge(charge.payment_id, charge.customer, intentOrProblem)
        : yield* retrieval.retrieveCharge(intentOrProblem)
    }),
    retrieve: Effect.fn("Stripe.retrieve")(retrieval.retrieve),
    expireCheckout: Effect.fn("Stripe.expireCheckout")(function* (query) {
      const retrieved = yield* retrieval.retrieve(query)
      if (retrieved?.state !== "open" || !retrieved.reference.startsWith("cs_")) return retrieved
      yield* request(() => stripe.checkout.sessions.expire(retrieved.reference), CheckoutSession).pipe(
        // it was paid or has expired in the meantime
        Effect.catchTag("StripeFailed", ({ cause }) =>
          isInvalid(cause) ? Effect.void : Effect.fail(asUnavailable(cause))
        )
      )
      return yield* retrieval.retrieve({ ...query, reference: retrieved.reference })
    }),
    detachCard: Effect.fn("Stripe.detachCard")(function* (card) {
      yield* request(() => stripe.paymentMethods.detach(card), PaymentMethod).pipe(
        Effect.catchTag("StripeFailed", ({ cause }) =>
          Effect.gen(function* () {
            const isDetached = isInvalid(cause) && !(yield* isSaved(card, null))
            if (!isDetached) return yield* asUnavailable(cause)
          })
        )
      )
    }),
    readEvent: makeEventReader(stripe, settings.webhookSecret, retrieval)
  }
}
