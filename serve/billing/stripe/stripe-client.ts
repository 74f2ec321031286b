/** Stripe's client with a pinned API version and decoded answers. */
import { Effect, Redacted, Schema } from "effect"
import Stripe from "stripe"
import type { ProcessorUnavailable } from "../processor.ts"
import { asUnavailable, makesNoSense } from "./failures.ts"
import type { StripeSettings } from "./settings.ts"

/** The version that `wire.ts` describes. An upgrade of the client does not compile until this is changed. */
export const apiVersion = "2026-10-28.endive"

/**
 * Milliseconds. By default the client waits 80 seconds and retries; here the caller decides about retries. One retry
 * cannot be switched off: if a connection closes without an answer, the client immediately repeats the request with the
 * same idempotency key.
 */
const longestAnswer = 10_000

export const openStripe = ({ api, key }: StripeSettings): Stripe =>
  new Stripe(Redacted.value(key), {
    apiVersion,
    maxNetworkRetries: 0,
    timeout: longestAnswer,
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
export class Refused extends Schema.TaggedError<Refused>()("Refused", { cause: Schema.Defect() }) {}

/** One request; decodes the parts of its answer that are used. */
export const asking = <A>(request: () => Promise<unknown>, answer: Schema.Codec<A, unknown>) =>
  Effect.tryPromise({ try: request, catch: (cause) => new Refused({ cause }) }).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(answer)),
    Effect.catchTag("SchemaError", (error) => Effect.fail(new Refused({ cause: makesNoSense(error) })))
  )

export const ask = <A>(
  request: () => Promise<unknown>,
  answer: Schema.Codec<A, unknown>
): Effect.Effect<A, ProcessorUnavailable> =>
  Effect.mapError(asking(request, answer), ({ cause }) => asUnavailable(cause))
