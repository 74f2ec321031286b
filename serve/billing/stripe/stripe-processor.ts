/**
 * Stripe behind the `CardProcessor` interface: Checkout for the first payment, which saves the card, and PaymentIntents
 * for charges of a saved card. Larder's payment id is the idempotency key, and is in the metadata of every object
 * created for the payment.
 *
 * Stripe forgets idempotency keys after a day. Billing never repeats a charge without retrieving the payment first.
 */
import { Effect, Schema } from "effect"
import { type CardProcessor, type PaymentAsked, PaymentRefused } from "../processor.ts"
import { paymentsOfEvents } from "./events.ts"
import { asUnavailable, isDeclined, isForbidden, isInvalid, isMissing, sentenceOf, unavailable } from "./failures.ts"
import { gone, neverMade, refused } from "./looked.ts"
import { makeLooking } from "./looking.ts"
import { intentOf, type Page, sessionOf } from "./requests.ts"
import type { StripeSettings } from "./settings.ts"
import { ask, asking, openStripe } from "./stripe-client.ts"
import { CheckoutSession, idOf, PaymentIntent, PaymentMethod } from "./wire.ts"

/** Identifies a payment in lists and in events. */
const metadataOf = ({ account_id, payment_id }: PaymentAsked) => ({ payment_id, account_id })

const Gone = Schema.Struct({ deleted: Schema.optionalKey(Schema.Boolean) })
const Declined = Schema.Struct({ payment_intent: Schema.Struct({ id: Schema.String }) })

const tellRefused = ({ account_id, payment_id }: PaymentAsked, cause: Parameters<typeof sentenceOf>[0], then = "") =>
  Effect.logError(
    `Stripe refuses the payment ${payment_id} of account ${account_id}, and nothing was charged: ${sentenceOf(cause)}.${then}`
  )

export const stripeProcessor = (settings: StripeSettings): CardProcessor => {
  const stripe = openStripe(settings)
  const looking = makeLooking(stripe)

  const create = (page: Page & PaymentAsked, idempotencyKey: string) =>
    asking(
      () => stripe.checkout.sessions.create(sessionOf(page, page.payment_id, metadataOf(page)), { idempotencyKey }),
      CheckoutSession
    )
  /**
   * Stripe does not accept every e-mail address. It stores a refusal under the idempotency key, so the retry without
   * the address needs another key.
   */
  const open = (page: Page & PaymentAsked, key: string) =>
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
    const intent = yield* looking.intentOf(payment_intent.id)
    return intent ?? (yield* unavailable(new Error(`${payment_intent.id} was declined, and is not to be found`)))
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
      if (url === null) return yield* unavailable(new Error(`${id} has no payment page: it is over`))
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
            yield* tellRefused(asked, cause, " Nobody tries it again; where it was a recharge, it is switched off.")
            return refused
          })
        )
      )
      return typeof charged === "string"
        ? neverMade(asked.payment_id, asked.customer, charged)
        : yield* looking.atCharge(charged)
    }),
    look: Effect.fn("Stripe.look")(looking.look),
    closePage: Effect.fn("Stripe.closePage")(function* (sought) {
      const looked = yield* looking.look(sought)
      if (looked?.state !== "open" || !looked.reference.startsWith("cs_")) return looked
      yield* asking(() => stripe.checkout.sessions.expire(looked.reference), CheckoutSession).pipe(
        // it was paid or has expired in the meantime
        Effect.catchTag("Refused", ({ cause }) => (isInvalid(cause) ? Effect.void : Effect.fail(asUnavailable(cause))))
      )
      return yield* looking.look({ ...sought, reference: looked.reference })
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
    paymentsOf: paymentsOfEvents(stripe, settings.webhookSecret, looking)
  }
}
