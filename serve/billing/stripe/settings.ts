/** Settings for payments through Stripe. Without a key, the built-in simulator is used. */
import { isSafeInTransit } from "@larder/schemas"
import { Config, Effect, Option, Redacted, Runtime, Schema } from "effect"

class StripeSettingsInvalid extends Schema.TaggedError<StripeSettingsInvalid>()("StripeSettingsInvalid", {
  problem: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return this.problem
  }
}

/** Empty means unset. */
const secretSetting = (name: string) =>
  Config.option(Config.Redacted(name)).pipe(Config.map(Option.filter((value) => Redacted.value(value) !== "")))

const settings = Config.all({
  key: secretSetting("LARDER_STRIPE_KEY"),
  webhookSecret: secretSetting("LARDER_STRIPE_WEBHOOK_SECRET"),
  api: Config.String("LARDER_STRIPE_API").pipe(Config.withDefault(""))
})

/** Every request carries the key, so plain HTTP is allowed only to this machine. */
const parseApi = (text: string) => {
  const api = URL.parse(text)
  const problem = "LARDER_STRIPE_API must be https://host, or http://127.0.0.1:port for tests."
  return api !== null && isSafeInTransit(api)
    ? Effect.succeed(api)
    : Effect.fail(new StripeSettingsInvalid({ problem }))
}

/** Returns `live` or `test` from the prefix of a secret or restricted key, such as `sk_live_…` or `rk_test_…`. */
const readMode = (key: Redacted.Redacted) => {
  const [, mode] = /^[sr]k_(?:[a-z]+_)?(live|test)_/.exec(Redacted.value(key)) ?? []
  const problem =
    "LARDER_STRIPE_KEY is not a Stripe secret key. Secret keys begin with sk_live_ or rk_live_, or with sk_test_ or rk_test_ for tests. A publishable key (pk_…) cannot charge cards."
  return mode === undefined ? Effect.fail(new StripeSettingsInvalid({ problem })) : Effect.succeed(mode)
}

export const stripeSettings = Effect.gen(function* () {
  const { api, key, webhookSecret } = yield* settings
  if (Option.isNone(key) && Option.isNone(webhookSecret)) return undefined
  if (Option.isNone(key)) {
    return yield* new StripeSettingsInvalid({
      problem:
        "LARDER_STRIPE_WEBHOOK_SECRET is set but LARDER_STRIPE_KEY is not: payments would be simulated, and anyone who signs in could add credits without paying. Set LARDER_STRIPE_KEY, or remove LARDER_STRIPE_WEBHOOK_SECRET."
    })
  }
  return {
    key: key.value,
    /** If undefined, events are rejected, and changes are found by polling. */
    webhookSecret: Option.getOrUndefined(webhookSecret),
    /** A test key accepts only test cards and moves no money. */
    isTest: (yield* readMode(key.value)) === "test",
    /** Address of Stripe's API if it is not the default. */
    api: api === "" ? undefined : yield* parseApi(api)
  }
})
export type StripeSettings = NonNullable<Effect.Success<typeof stripeSettings>>
