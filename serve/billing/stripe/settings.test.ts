import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { stripeSettings } from "./settings.ts"

const read = (environment: Record<string, string>) =>
  Effect.provide(stripeSettings, ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)))

const both = { LARDER_STRIPE_KEY: "sk_test_abc", LARDER_STRIPE_WEBHOOK_SECRET: "whsec_def" }

describe("settings of Stripe", () => {
  it.effect("are none without a key", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* read({}))
      assert.isUndefined(yield* read({ LARDER_STRIPE_KEY: "", LARDER_STRIPE_WEBHOOK_SECRET: "" }))
    })
  )
  it.effect("are refused with a secret and no key, which would simulate payments", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read({ ...both, LARDER_STRIPE_KEY: "" }))
      assert.match(error.message, /^LARDER_STRIPE_WEBHOOK_SECRET is set and LARDER_STRIPE_KEY is not: /)
      assert.notInclude(error.message, "def")
    })
  )
  it.effect.each([
    ["sk_live_abc", false],
    ["rk_live_abc", false],
    ["sk_org_live_abc", false],
    ["sk_test_abc", true],
    ["rk_test_abc", true]
  ] as const)("take %s for what it is", ([key, isTest]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* read({ ...both, LARDER_STRIPE_KEY: key }))?.isTest, isTest)
    })
  )
  it.effect.each(["pk_live_abc", "pk_test_abc", "whsec_abc", "abc", "sk_abc"])(
    "refuse %s, which is no secret key",
    (key) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(read({ ...both, LARDER_STRIPE_KEY: key }))
        assert.match(error.message, /^LARDER_STRIPE_KEY is no secret key of Stripe: /)
        assert.notInclude(error.message, "abc")
      })
  )
  it.effect("hold the key and the webhook's secret, neither of which is shown", () =>
    Effect.gen(function* () {
      const settings = yield* read(both)
      assert.strictEqual(settings && Redacted.value(settings.key), "sk_test_abc")
      assert.strictEqual(settings?.webhookSecret && Redacted.value(settings.webhookSecret), "whsec_def")
      assert.notMatch(JSON.stringify(settings), /abc|def/)
      assert.isUndefined(settings?.api)
    })
  )
  it.effect("need nothing but the key", () =>
    Effect.gen(function* () {
      const settings = yield* read({ LARDER_STRIPE_KEY: "sk_test_abc" })
      assert.strictEqual(settings && Redacted.value(settings.key), "sk_test_abc")
      assert.isUndefined(settings?.webhookSecret)
    })
  )
  it.effect.each(["http://127.0.0.1:4100", "http://localhost:4100", "https://stripe.example.com"])("take %s", (api) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* read({ ...both, LARDER_STRIPE_API: api }))?.api?.origin, api)
    })
  )
  it.effect.each(["http://stripe.example.com", "ftp://127.0.0.1", "127.0.0.1:4100"])(
    "refuse %s, where the key could be overheard",
    (api) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(read({ ...both, LARDER_STRIPE_API: api }))
        assert.match(error.message, /^LARDER_STRIPE_API must be/)
      })
  )
})
