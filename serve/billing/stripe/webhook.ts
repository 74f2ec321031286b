/**
 * Events at `POST /webhooks/stripe`: verifies the signature of the raw body, and returns the payments concerned. The
 * route is in `serve/console/app.ts`; `processor-events.ts` reconciles the payments.
 */
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import type Stripe from "stripe"
import { type CardProcessor, checkTime, EventRejected } from "../processor.ts"
import { getId, StripeEvent } from "./api.ts"
import type { makeRetrieve } from "./retrieve.ts"

const decodeEvent = Schema.decodeUnknownOption(Schema.fromJsonString(StripeEvent))

// Stripe's dashboard shows these messages next to the failed delivery
const noSecret =
  "LARDER_STRIPE_WEBHOOK_SECRET is not set on the server, so events are rejected: set it to the signing secret (whsec_…) of this webhook endpoint."
const noSignature = "The request has no Stripe-Signature header: Stripe did not send it, or a proxy removed the header."
const wrongSecret =
  "The signature does not match: LARDER_STRIPE_WEBHOOK_SECRET on the server is not the signing secret (whsec_…) of this webhook endpoint, or the event is not from Stripe."

/** In seconds. If the header contains several timestamps (`t=`), Stripe's client uses the last one. */
const parseSignatureTimestamp = (signature: string) =>
  Number.parseInt(/.*(?:^|,)t=(\d+)/.exec(signature)?.[1] ?? "", 10)

/** Refund and dispute events contain only the PaymentIntent's id, so it is retrieved to find Larder's payment id. */
export const makeEventReader =
  (
    stripe: Stripe,
    webhookSecret: Redacted.Redacted | undefined,
    { findIntent }: Pick<ReturnType<typeof makeRetrieve>, "findIntent">
  ): CardProcessor["readEvent"] =>
  (body, readHeader) =>
    Effect.gen(function* () {
      if (webhookSecret === undefined) return yield* new EventRejected({ problem: noSecret })
      const now = yield* Clock.currentTimeMillis
      const header = readHeader("stripe-signature")
      if (header === null) return yield* new EventRejected({ problem: noSignature })
      const { signature } = stripe.webhooks
      if (signature === null) return yield* Effect.die(new Error("Stripe's client cannot verify signatures"))
      yield* Effect.try({
        // 0 turns off the client's own check of the time, which accepts times in the future; `checkTime` rejects them
        try: () => signature.verifyHeader(body, header, Redacted.value(webhookSecret), 0),
        catch: () => new EventRejected({ problem: wrongSecret })
      })
      const problem = checkTime(parseSignatureTimestamp(header), now)
      if (problem !== undefined) return yield* new EventRejected({ problem })
      const event = decodeEvent(body)
      if (Option.isNone(event)) return []
      const { id, metadata, object, payment_intent } = event.value.data.object
      const intent = (object === "payment_intent" ? id : getId(payment_intent)) ?? null
      const reference = (object === "checkout.session" ? id : intent) ?? null
      if (metadata?.payment_id) return [{ payment_id: metadata.payment_id, reference }]
      const paymentIntent = intent === null ? undefined : yield* findIntent(intent)
      const payment_id = paymentIntent?.metadata.payment_id
      return payment_id ? [{ payment_id, reference }] : []
    })
