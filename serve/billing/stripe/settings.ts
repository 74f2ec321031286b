/** Settings of payments through Stripe. Without a key the built-in simulator takes its place. */
import { Config, Effect, Option, Redacted, Schema } from "effect"

export interface StripeSettings {
  readonly key: Redacted.Redacted
  readonly webhookSecret: Redacted.Redacted
  /** Where Stripe's API is, when it is not at its own address. */
  readonly api: URL | undefined
}

export class StripeSettingsIncomplete extends Schema.TaggedError<StripeSettingsIncomplete>()(
  "StripeSettingsIncomplete",
  { problem: Schema.String }
) {
  override get message() {
    return this.problem
  }
}

/** Empty equals absent. */
const secret = (name: string) =>
  Config.option(Config.Redacted(name)).pipe(Config.map(Option.filter((value) => Redacted.value(value) !== "")))

const read = Config.all({
  key: secret("LARDER_STRIPE_KEY"),
  webhookSecret: secret("LARDER_STRIPE_WEBHOOK_SECRET"),
  api: Config.String("LARDER_STRIPE_API").pipe(Config.withDefault(""))
})

const loopback = /^(localhost|127(\.\d+){3})$/

/** The key travels with every request, so it goes through plain HTTP to this machine alone. */
const apiOf = (text: string) => {
  const api = URL.parse(text)
  const isSafe =
    api !== null && (api.protocol === "https:" || (api.protocol === "http:" && loopback.test(api.hostname)))
  return isSafe
    ? Effect.succeed(api)
    : Effect.fail(
        new StripeSettingsIncomplete({
          problem: "LARDER_STRIPE_API must be https://host, or http://127.0.0.1:port for tests."
        })
      )
}

/** Undefined where there is no key. */
export const stripeSettings = Effect.gen(function* () {
  const { api, key, webhookSecret } = yield* read
  if (Option.isNone(key)) return undefined
  if (Option.isNone(webhookSecret)) {
    return yield* new StripeSettingsIncomplete({
      problem:
        "LARDER_STRIPE_KEY is set and LARDER_STRIPE_WEBHOOK_SECRET is not: without it nobody could tell Stripe's events from forged ones. It is the signing secret (whsec_…) of the webhook endpoint <console>/webhooks/stripe in Stripe's dashboard."
    })
  }
  return {
    key: key.value,
    webhookSecret: webhookSecret.value,
    api: api === "" ? undefined : yield* apiOf(api)
  } satisfies StripeSettings
})
