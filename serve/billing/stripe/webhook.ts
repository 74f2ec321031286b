/** Stripe's events to `POST /webhooks/stripe`: verifies the signature on the raw body, and reads the named payments. */
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import type Stripe from "stripe"
import { type CardProcessor, checkTime, ForgedEvent } from "../processor.ts"
import { referenceId, StripeEvent } from "./api.ts"
import type { makeRetrieve } from "./retrieve.ts"

const decodeEvent = Schema.decodeUnknownOption(Schema.fromJsonString(StripeEvent))

// Stripe's dashboard shows these messages next to the failed delivery
const noSecret =
  "LARDER_STRIPE_WEBHOOK_SECRET is not set on the server, so events are rejected: set it to the signing secret (whsec_…) of this webhook endpoint."
const noSignature = "The request has no Stripe-Signature header: Stripe did not send it, or a proxy removed the header."
const wrongSecret =
  "The signature does not match: LARDER_STRIPE_WEBHOOK_SECRET on the server is not the signing secret (whsec_…) of this webhook endpoint, or the event is not from Stripe."

/** If the header has several times, Stripe's client uses the last one. */
const readSignatureTime = (signature: string) => Number.parseInt(/.*(?:^|,)t=(\d+)/.exec(signature)?.[1] ?? "", 10)

/** Events of refunds and disputes name only Stripe's PaymentIntent, which is retrieved for its payment id. */
export const makeReadEvent =
  (
    stripe: Stripe,
    webhookSecret: Redacted.Redacted | undefined,
    { findIntent }: Pick<ReturnType<typeof makeRetrieve>, "findIntent">
  ): CardProcessor["readEvent"] =>
  (body, headerOf) =>
    Effect.gen(function* () {
      if (webhookSecret === undefined) return yield* new ForgedEvent({ problem: noSecret })
      const now = yield* Clock.currentTimeMillis
      const header = headerOf("stripe-signature")
      if (header === null) return yield* new ForgedEvent({ problem: noSignature })
      const { signature } = stripe.webhooks
      if (signature === null) return yield* Effect.die(new Error("Stripe's client cannot verify signatures"))
      yield* Effect.try({
        // 0 disables the client's check of the time, which accepts any future time; see below
        try: () => signature.verifyHeader(body, header, Redacted.value(webhookSecret), 0),
        catch: () => new ForgedEvent({ problem: wrongSecret })
      })
      const problem = checkTime(readSignatureTime(header), now)
      if (problem !== undefined) return yield* new ForgedEvent({ problem })
      const event = decodeEvent(body)
      if (Option.isNone(event)) return []
      const { id, metadata, object, payment_intent } = event.value.data.object
      const intent = (object === "payment_intent" ? id : referenceId(payment_intent)) ?? null
      const reference = (object === "checkout.session" ? id : intent) ?? null
      if (metadata?.payment_id) return [{ payment_id: metadata.payment_id, reference }]
      const paid = intent === null ? undefined : yield* findIntent(intent)
      return paid?.metadata.payment_id ? [{ payment_id: paid.metadata.payment_id, reference }] : []
    })
