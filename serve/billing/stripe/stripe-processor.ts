/**
 * Stripe behind the `CardProcessor` interface: Checkout for the first payment, which saves the card, and PaymentIntents
 * for charges of a saved card. Only cards, because a saved payment method must be chargeable later, and only dollars,
 * because credits are counted from cents. Larder's payment id is the idempotency key, and is in the metadata of every
 * object created for the payment.
 *
 * Stripe forgets idempotency keys after a day. Billing never repeats a charge without retrieving the payment first.
 */
import { Effect, Schema } from "effect"
import type Stripe from "stripe"
import { type CardProcessor, PaymentRefused, type PaymentRequest } from "../processor.ts"
import {
  ask,
  asking,
  asUnavailable,
  CheckoutSession,
  idOf,
  isDeclined,
  isForbidden,
  isInvalid,
  isMissing,
  openStripe,
  PaymentIntent,
  PaymentMethod,
  sentenceOf,
  unavailable
} from "./api.ts"
import { gone, neverMade, refused } from "./payment-state.ts"
import { makeRetrieve } from "./retrieve.ts"
import type { StripeSettings } from "./settings.ts"
import { paymentsOfEvents } from "./webhook.ts"

type ToCheckout = Parameters<CardProcessor["checkout"]>[0]
type ToCharge = Parameters<CardProcessor["charge"]>[0]
type Metadata = Readonly<Record<string, string>>

const name = "Larder credits"

type Page = Pick<ToCheckout, "cents" | "customer" | "success_url" | "cancel_url"> & {
  /** If null, the page asks for it. */
  readonly email: string | null
}

/** Without a customer, Stripe creates one at payment. */
export const sessionOf = (page: Page, reference: string, metadata: Metadata): Stripe.Checkout.SessionCreateParams => ({
  mode: "payment",
  line_items: [{ quantity: 1, price_data: { currency: "usd", unit_amount: page.cents, product_data: { name } } }],
  allowed_payment_method_types: ["card"],
  wallet_options: { link: { display: "never" } },
  adaptive_pricing: { enabled: false },
  ...(page.customer === null ? { customer_creation: "always" } : { customer: page.customer }),
  ...(page.customer === null && page.email !== null && { customer_email: page.email }),
  client_reference_id: reference,
  metadata,
  payment_intent_data: { setup_future_usage: "off_session", description: name, metadata },
  success_url: page.success_url,
  cancel_url: page.cancel_url
})

/**
 * `allowed_payment_method_types` excludes `automatic_payment_methods`. Cards never redirect, so no `return_url` is
 * needed.
 */
const intentOf = (
  { card, cents, customer }: Pick<ToCharge, "card" | "cents" | "customer">,
  metadata: Metadata
): Stripe.PaymentIntentCreateParams => ({
  amount: cents,
  currency: "usd",
  customer,
  payment_method: card,
  allowed_payment_method_types: ["card"],
  off_session: true,
  confirm: true,
  description: name,
  metadata,
  expand: ["payment_method"]
})

/** Identifies a payment in lists and in events. */
const metadataOf = ({ account_id, payment_id }: PaymentRequest) => ({ payment_id, account_id })

const Gone = Schema.Struct({ deleted: Schema.optionalKey(Schema.Boolean) })
const Declined = Schema.Struct({ payment_intent: Schema.Struct({ id: Schema.String }) })

const tellRefused = ({ account_id, payment_id }: PaymentRequest, cause: Parameters<typeof sentenceOf>[0], then = "") =>
  Effect.logError(
    `Stripe refuses payment ${payment_id} of account ${account_id}; nothing was charged: ${sentenceOf(cause)}.${then}`
  )

export const stripeProcessor = (settings: StripeSettings): CardProcessor => {
  const stripe = openStripe(settings)
  const retrieving = makeRetrieve(stripe)

  const create = (page: Page & PaymentRequest, idempotencyKey: string) =>
    asking(
      () => stripe.checkout.sessions.create(sessionOf(page, page.payment_id, metadataOf(page)), { idempotencyKey }),
      CheckoutSession
    )
  /**
   * Stripe does not accept every e-mail address. It stores a refusal under the idempotency key, so the retry without
   * the address needs another key.
   */
  const open = (page: Page & PaymentRequest, key: string) =>
    Effect.catchTag(create(page, key), "Refused", (refused) =>
      isInvalid(refused.cause) && refused.cause.param === "customer_email"
        ? create({ ...page, email: null }, `${key}-no-email`)
        : Effect.fail(refused)
    )
  /** True if the customer was deleted at Stripe. */
  const isGone = (customer: string) =>
    asking(() => stripe.customers.retrieve(customer), Gone).pipe(
      Effect.map(({ deleted = false }) => deleted),
      Effect.catchTag("Refused", ({ cause }) =>
        isMissing(cause) ? Effect.succeed(true) : Effect.fail(asUnavailable(cause))
      )
    )
  /** Whether a saved card can still be charged for its customer. */
  const isSaved = (card: string, customer: string | null) =>
    asking(() => stripe.paymentMethods.retrieve(card), PaymentMethod).pipe(
      Effect.map((method) => {
        const owner = idOf(method.customer)
        return owner !== null && (customer === null || owner === customer)
      }),
      Effect.catchTag("Refused", ({ cause }) =>
        isMissing(cause) ? Effect.succeed(false) : Effect.fail(asUnavailable(cause))
      )
    )

  /** A decline arrives as an error that names the PaymentIntent; retrieves it for its state. */
  const declined = Effect.fnUntraced(function* (cause: unknown) {
    const { payment_intent } = yield* ask(() => Promise.resolve(cause), Declined)
    const intent = yield* retrieving.intentOf(payment_intent.id)
    return intent ?? (yield* unavailable(new Error(`${payment_intent.id} was declined but cannot be found`)))
  })

  return {
    name: "stripe",
    checkout: Effect.fn("Stripe.checkout")(function* (asked) {
      const { payment_id } = asked
      const session = yield* open(asked, payment_id).pipe(
        Effect.catchTag("Refused", (refused) =>
          Effect.gen(function* () {
            const isStale = asked.customer !== null && isInvalid(refused.cause) && (yield* isGone(asked.customer))
            return yield* isStale ? open({ ...asked, customer: null }, `${payment_id}-new-customer`) : refused
          })
        ),
        Effect.catchTag("Refused", ({ cause }) =>
          Effect.gen(function* () {
            if (!isInvalid(cause) && !isForbidden(cause)) return yield* asUnavailable(cause)
            yield* tellRefused(asked, cause)
            return yield* new PaymentRefused({ problem: refused })
          })
        )
      )
      const { customer, id, url } = session
      if (url === null) return yield* unavailable(new Error(`${id} has no payment page any more`))
      return { url, reference: id, customer: idOf(customer) }
    }),
    charge: Effect.fn("Stripe.charge")(function* (asked) {
      const charged = yield* asking(
        () => stripe.paymentIntents.create(intentOf(asked, metadataOf(asked)), { idempotencyKey: asked.payment_id }),
        PaymentIntent
      ).pipe(
        Effect.catchTag("Refused", ({ cause }) =>
          Effect.gen(function* () {
            if (isDeclined(cause)) return yield* declined(cause)
            if (!isInvalid(cause)) return yield* asUnavailable(cause)
            if (!(yield* isSaved(asked.card, asked.customer))) return gone
            yield* tellRefused(
              asked,
              cause,
              " It is not repeated; if it was a recharge, auto-recharge is switched off."
            )
            return refused
          })
        )
      )
      return typeof charged === "string"
        ? neverMade(asked.payment_id, asked.customer, charged)
        : yield* retrieving.ofCharge(charged)
    }),
    retrieve: Effect.fn("Stripe.retrieve")(retrieving.retrieve),
    closePage: Effect.fn("Stripe.closePage")(function* (query) {
      const retrieved = yield* retrieving.retrieve(query)
      if (retrieved?.state !== "open" || !retrieved.reference.startsWith("cs_")) return retrieved
      yield* asking(() => stripe.checkout.sessions.expire(retrieved.reference), CheckoutSession).pipe(
        // it was paid or has expired in the meantime
        Effect.catchTag("Refused", ({ cause }) => (isInvalid(cause) ? Effect.void : Effect.fail(asUnavailable(cause))))
      )
      return yield* retrieving.retrieve({ ...query, reference: retrieved.reference })
    }),
    forget: Effect.fn("Stripe.forget")(function* (card) {
      yield* asking(() => stripe.paymentMethods.detach(card), PaymentMethod).pipe(
        Effect.catchTag("Refused", ({ cause }) =>
          Effect.gen(function* () {
            const isForgotten = isInvalid(cause) && !(yield* isSaved(card, null))
            if (!isForgotten) return yield* asUnavailable(cause)
          })
        )
      )
    }),
    paymentsOfEvent: paymentsOfEvents(stripe, settings.webhookSecret, retrieving)
  }
}
