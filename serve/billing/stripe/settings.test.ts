import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { stripeSettings } from "./settings.ts"

const readSettings = (environment: Record<string, string>) =>
  Effect.provide(stripeSettings, ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)))

const bothSettings = { LARDER_STRIPE_KEY: "sk_test_abc", LARDER_STRIPE_WEBHOOK_SECRET: "whsec_def" }

describe("Stripe settings", () => {
  it.effect("returns no settings without a key", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* readSettings({}))
      assert.isUndefined(yield* readSettings({ LARDER_STRIPE_KEY: "", LARDER_STRIPE_WEBHOOK_SECRET: "" }))
    })
  )
  it.effect("rejects a webhook secret without a key, which would simulate payments", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(readSettings({ ...bothSettings, LARDER_STRIPE_KEY: "" }))
      assert.match(error.message, /^LARDER_STRIPE_WEBHOOK_SECRET is set but LARDER_STRIPE_KEY is not: /)
      assert.notInclude(error.message, "def")
    })
  )
  it.effect.each([
    ["sk_live_abc", false],
    ["rk_live_abc", false],
    ["sk_org_live_abc", false],
    ["sk_test_abc", true],
    ["rk_test_abc", true]
  ] as const)("recognises whether %s is a test key: %s", ([key, isTest]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* readSettings({ ...bothSettings, LARDER_STRIPE_KEY: key }))?.isTest, isTest)
    })
  )
  it.effect.each(["pk_live_abc", "pk_test_abc", "whsec_abc", "abc", "sk_abc"])(
    "rejects %s, which is not a secret key",
    (key) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(readSettings({ ...bothSettings, LARDER_STRIPE_KEY: key }))
        assert.match(error.message, /^LARDER_STRIPE_KEY is not a Stripe secret key\. /)
        assert.notInclude(error.message, "abc")
      })
  )
  it.effect("returns the key and the webhook secret, and shows neither as JSON", () =>
    Effect.gen(function* () {
      const settings = yield* readSettings(bothSettings)
      assert.strictEqual(settings && Redacted.value(settings.key), "sk_test_abc")
      assert.strictEqual(settings?.webhookSecret && Redacted.value(settings.webhookSecret), "whsec_def")
      assert.notMatch(JSON.stringify(settings), /abc|def/)
      assert.isUndefined(settings?.api)
    })
  )
  it.effect("requires only the key", () =>
    Effect.gen(function* () {
      const settings = yield* readSettings({ LARDER_STRIPE_KEY: "sk_test_abc" })
      assert.strictEqual(settings && Redacted.value(settings.key), "sk_test_abc")
      assert.isUndefined(settings?.webhookSecret)
    })
  )
  it.effect.each(["http://127.0.0.1:4100", "http://localhost:4100", "https://stripe.example.com"])(
    "accepts %s as the address of the Stripe API",
    (api) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* readSettings({ ...bothSettings, LARDER_STRIPE_API: api }))?.api?.origin, api)
      })
  )
  it.effect.each(["http://stripe.example.com", "ftp://127.0.0.1", "127.0.0.1:4100"])(
    "rejects %s as the address of the Stripe API",
    (api) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(readSettings({ ...bothSettings, LARDER_STRIPE_API: api }))
        assert.match(error.message, /^LARDER_STRIPE_API must be/)
      })
  )
})
