/**
 * Stripe's API as Larder uses it: the client with a pinned version, its failures as messages that are safe to log (they
 * contain no key and no request data), and the parts of Stripe's objects that Larder reads. Responses are decoded,
 * because the client does not check its types at run time.
 */
import { Effect, Redacted, Schema } from "effect"
import Stripe from "stripe"
import { type ProcessorResponse, ProcessorUnavailable } from "../processor.ts"
import type { StripeSettings } from "./settings.ts"

/** An upgrade of the client does not compile until this is changed. */
export const apiVersion = "2026-10-28.endive"

/**
 * By default the client waits 80 seconds and retries; here the caller retries. One retry cannot be switched off: if a
 * connection closes without a response, the client repeats the request immediately, with the same idempotency key.
 */
const responseTimeoutMs = 10_000

export const openStripe = ({ api, key }: StripeSettings): Stripe =>
  new Stripe(Redacted.value(key), {
    apiVersion,
    maxNetworkRetries: 0,
    timeout: responseTimeoutMs,
    telemetry: false,
    ...(api === undefined
      ? {}
      : {
          host: api.hostname,
          port: api.port || (api.protocol === "https:" ? 443 : 80),
          protocol: api.protocol === "https:" ? "https" : "http"
        })
  })

/** The client's own error, for callers that distinguish errors; it is never shown. */
export class StripeFailed extends Schema.TaggedError<StripeFailed>()("StripeFailed", { cause: Schema.Defect() }) {}

/** Sends one request and returns the client's response, not decoded and with its headers. */
export const send = <A>(start: () => Promise<A>) =>
  Effect.tryPromise({ try: start, catch: (cause) => new StripeFailed({ cause }) })

/** Sends one request and decodes the used parts of the response. */
export const request = <A>(start: () => Promise<unknown>, schema: Schema.Codec<A, unknown>) =>
  send(start).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(schema)),
    Effect.catchTag("SchemaError", ({ message }) =>
      Effect.fail(new StripeFailed({ cause: stripeUnavailable(new Error(`the response is invalid: ${message}`)) }))
    )
  )

/** The same, with any failure as `ProcessorUnavailable`. */
export const requestOrFail = <A>(
  start: () => Promise<unknown>,
  schema: Schema.Codec<A, unknown>
): ProcessorResponse<A> => Effect.mapError(request(start, schema), ({ cause }) => asUnavailable(cause))

export const stripeUnavailable = (cause: unknown): ProcessorUnavailable =>
  new ProcessorUnavailable({ processor: "stripe", cause })

const formatCode = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? ` (${cause.code})` : ""

type ClientError = InstanceType<typeof Stripe.errors.StripeError>

/** One sentence about a client error, without its headers and body. */
export const describeError = (error: ClientError): string => {
  const { code, message, requestId, statusCode, type } = error
  const request = requestId ? `, request ${requestId}` : ""
  if (statusCode === 401) return `the key in LARDER_STRIPE_KEY is refused (401${request})`
  if (statusCode === 403) return `the key in LARDER_STRIPE_KEY lacks a permission (403${request})`
  if (type === "StripeConnectionError") return `no connection${formatCode(error.detail)}`
  return `${statusCode ?? "no status"} ${code ?? type}: ${message}${request ? ` (${requestId})` : ""}`
}

export const asUnavailable = (cause: unknown): ProcessorUnavailable => {
  if (cause instanceof ProcessorUnavailable) return cause
  if (cause instanceof Stripe.errors.StripeError) return stripeUnavailable(new Error(describeError(cause)))
  return stripeUnavailable(cause instanceof Error ? new Error(`${cause.name}: ${cause.message}`) : cause)
}

export const describeFailure = (cause: unknown): string => {
  const { cause: reason } = asUnavailable(cause)
  return reason instanceof Error ? reason.message : String(reason)
}

/** Returns `missing` if Stripe has no such object; any other failure becomes `ProcessorUnavailable`. */
export const orIfMissing =
  <B>(missing: B) =>
  <A>(response: Effect.Effect<A, StripeFailed>): ProcessorResponse<A | B> =>
    Effect.catchTag(response, "StripeFailed", ({ cause }): ProcessorResponse<B> => {
      const isMissing = cause instanceof Stripe.errors.StripeInvalidRequestError && cause.statusCode === 404
      return isMissing ? Effect.succeed(missing) : Effect.fail(asUnavailable(cause))
    })

/** The request is invalid, and nothing was done. */
export const isInvalid = (cause: unknown): cause is InstanceType<typeof Stripe.errors.StripeInvalidRequestError> =>
  cause instanceof Stripe.errors.StripeInvalidRequestError && (cause.statusCode === 400 || cause.statusCode === 404)

/** The key lacks a permission or is no longer valid. */
export const isForbidden = (cause: unknown): cause is ClientError =>
  cause instanceof Stripe.errors.StripeError && (cause.statusCode === 401 || cause.statusCode === 403)

export const isDeclined = (cause: unknown): boolean => cause instanceof Stripe.errors.StripeCardError

const Code = Schema.optionalKey(Schema.NullOr(Schema.String))

/** An id, or the object itself if it was expanded. */
const Reference = Schema.Union([Schema.String, Schema.Struct({ id: Schema.String })])
export const getId = (reference: string | { readonly id: string } | null | undefined): string | null =>
  typeof reference === "string" ? reference : (reference?.id ?? null)

export const Metadata = Schema.Record(Schema.String, Schema.String)

export const PaymentMethod = Schema.Struct({
  id: Schema.String,
  customer: Schema.optionalKey(Schema.NullOr(Reference)),
  card: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({ brand: Schema.String, last4: Schema.String, exp_month: Schema.Int, exp_year: Schema.Int })
    )
  )
})
export type PaymentMethod = typeof PaymentMethod.Type

export const PaymentIntent = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("payment_intent"),
  status: Schema.String,
  cancellation_reason: Schema.NullOr(Schema.String),
  created: Schema.Int,
  amount_received: Schema.Int,
  currency: Schema.String,
  metadata: Metadata,
  customer: Schema.NullOr(Reference),
  payment_method: Schema.NullOr(Schema.Union([Schema.String, PaymentMethod])),
  last_payment_error: Schema.NullOr(Schema.Struct({ code: Code, decline_code: Code }))
})
export type PaymentIntent = typeof PaymentIntent.Type

export const CheckoutSession = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("checkout.session"),
  status: Schema.NullOr(Schema.Literals(["open", "complete", "expired"])),
  /** Null once the session is complete or expired. */
  url: Schema.NullOr(Schema.String),
  metadata: Schema.NullOr(Metadata),
  customer: Schema.NullOr(Reference),
  /** Null until the customer begins to pay. */
  payment_intent: Schema.NullOr(Schema.Union([Schema.String, PaymentIntent]))
})
export type CheckoutSession = typeof CheckoutSession.Type

export const Refund = Schema.Struct({
  id: Schema.String,
  amount: Schema.Int,
  status: Schema.NullOr(Schema.String)
})
export const Dispute = Schema.Struct({
  id: Schema.String,
  amount: Schema.Int,
  currency: Schema.String,
  status: Schema.String,
  /** Amounts withdrawn (negative) and reinstated (positive), in the currency of the account. */
  balance_transactions: Schema.optionalKey(Schema.Array(Schema.Struct({ amount: Schema.Int, currency: Schema.String })))
})

/** The object of an event names the payment, or the PaymentIntent that names it. */
export const StripeEvent = Schema.Struct({
  data: Schema.Struct({
    object: Schema.Struct({
      id: Schema.optionalKey(Schema.String),
      object: Schema.String,
      metadata: Schema.optionalKey(Schema.NullOr(Metadata)),
      payment_intent: Schema.optionalKey(Schema.NullOr(Reference))
    })
  })
})
