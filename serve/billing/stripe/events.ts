/** Events of Stripe, verified on the raw body. They say which payment to look at, and where; what else they say is not used. */
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import Stripe from "stripe"
import { type CardProcessor, ForgedEvent } from "../processor.ts"
import type { makeLooking } from "./looking.ts"
import { Event, idOf } from "./wire.ts"

/** Seconds for which a signature is taken. */
const tolerance = 300

const decodeEvent = Schema.decodeUnknownOption(Schema.fromJsonString(Event))

const noSecret = "LARDER_STRIPE_WEBHOOK_SECRET is not set, and without it events cannot be told from forged ones"

const forged = (cause: unknown) =>
  new ForgedEvent({
    problem:
      cause instanceof Stripe.errors.StripeSignatureVerificationError && /timestamp/i.test(cause.message)
        ? "The event's signature is too old"
        : "The event's signature is missing or wrong"
  })

/** Of a refund or a dispute Stripe says only to which of its own payments it belongs. */
export const paymentsOfEvents =
  (
    stripe: Stripe,
    webhookSecret: Redacted.Redacted | undefined,
    { intentOf }: Pick<ReturnType<typeof makeLooking>, "intentOf">
  ): CardProcessor["paymentsOf"] =>
  (body, header) =>
    Effect.gen(function* () {
      if (webhookSecret === undefined) return yield* new ForgedEvent({ problem: noSecret })
      const now = yield* Clock.currentTimeMillis
      const { signature } = stripe.webhooks
      if (signature === null) return yield* Effect.die(new Error("Stripe's client cannot verify signatures"))
      yield* Effect.try({
        try: () =>
          signature.verifyHeader(
            body,
            header("stripe-signature") ?? "",
            Redacted.value(webhookSecret),
            tolerance,
            undefined,
            now
          ),
        catch: forged
      })
      const event = decodeEvent(body)
      if (Option.isNone(event)) return []
      const { id, metadata, object, payment_intent } = event.value.data.object
      const intent = (object === "payment_intent" ? id : idOf(payment_intent)) ?? null
      const reference = (object === "checkout.session" ? id : intent) ?? null
      if (metadata?.payment_id) return [{ payment_id: metadata.payment_id, reference }]
      const paid = intent === null ? undefined : yield* intentOf(intent)
      return paid?.metadata.payment_id ? [{ payment_id: paid.metadata.payment_id, reference }] : []
    })
