/** Events of Stripe, verified on the raw body. They say which payment to look at, and where; what else they say is not used. */
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import type Stripe from "stripe"
import { type CardProcessor, ForgedEvent } from "../processor.ts"
import { wrongTime } from "../signed-at.ts"
import type { makeLooking } from "./looking.ts"
import { Event, idOf } from "./wire.ts"

const decodeEvent = Schema.decodeUnknownOption(Schema.fromJsonString(Event))

// Stripe's dashboard shows them beside the delivery that was refused
const noSecret =
  "LARDER_STRIPE_WEBHOOK_SECRET is not set on the server, so events are refused: set it to the signing secret (whsec_…) of this webhook endpoint."
const noSignature = "The request has no Stripe-Signature header: Stripe did not send it, or a proxy removed the header."
const wrongSecret =
  "The signature does not match: LARDER_STRIPE_WEBHOOK_SECRET on the server is not the signing secret (whsec_…) of this webhook endpoint, or the event is not from Stripe."

/** Where there are several times, Stripe's client signs with the last one. */
const signedAt = (signature: string) => Number.parseInt(/.*(?:^|,)t=(\d+)/.exec(signature)?.[1] ?? "", 10)

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
      const given = header("stripe-signature")
      if (given === null) return yield* new ForgedEvent({ problem: noSignature })
      const { signature } = stripe.webhooks
      if (signature === null) return yield* Effect.die(new Error("Stripe's client cannot verify signatures"))
      yield* Effect.try({
        // 0: the client refuses what is too old, and takes anything from the future; the time is judged below
        try: () => signature.verifyHeader(body, given, Redacted.value(webhookSecret), 0),
        catch: () => new ForgedEvent({ problem: wrongSecret })
      })
      const problem = wrongTime(signedAt(given), now)
      if (problem !== undefined) return yield* new ForgedEvent({ problem })
      const event = decodeEvent(body)
      if (Option.isNone(event)) return []
      const { id, metadata, object, payment_intent } = event.value.data.object
      const intent = (object === "payment_intent" ? id : idOf(payment_intent)) ?? null
      const reference = (object === "checkout.session" ? id : intent) ?? null
      if (metadata?.payment_id) return [{ payment_id: metadata.payment_id, reference }]
      const paid = intent === null ? undefined : yield* intentOf(intent)
      return paid?.metadata.payment_id ? [{ payment_id: paid.metadata.payment_id, reference }] : []
    })
