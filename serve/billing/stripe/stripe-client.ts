/** Stripe's own client, with a pinned version of the API, and answers that are decoded. */
import { Effect, Redacted, Schema } from "effect"
import Stripe from "stripe"
import type { ProcessorUnavailable } from "../processor.ts"
import { asUnavailable, makesNoSense } from "./failures.ts"
import type { StripeSettings } from "./settings.ts"

/** What `wire.ts` describes; an upgrade of the client without a look at it does not compile. */
export const apiVersion = "2026-10-28.endive"

/**
 * Milliseconds. The client would wait 80 seconds and try again; here whoever asked decides about a second time. One repetition
 * cannot be switched off: where a connection closes without an answer it asks again at once, with the same idempotency key.
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

/** The client's own failure, for those who tell failures apart; nobody shows it. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { cause: Schema.Defect() }) {}

/** One request, and its answer as far as it is used. */
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
