/** Which card processor a server uses, and when it refuses to start without Stripe. */
import { assert, describe, it } from "@effect/vitest"
import { describeUnpaidCredits, openProcessor } from "@larder/serve/billing"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { ConfigProvider, Effect, Exit } from "effect"
import { locations } from "./setup.ts"
import { storesIn } from "./stores.ts"

const openIn = (env: Readonly<Record<string, string>>) =>
  openProcessor(() => "http://127.0.0.1:9").pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env))
  )
const openAndReadName = (env: Readonly<Record<string, string>>) =>
  Effect.map(openIn(env), ({ processor }) => processor.name)
const withStripe = { LARDER_STRIPE_KEY: "sk_test_1", LARDER_STRIPE_WEBHOOK_SECRET: "whsec_1" }

describe.each(["an embedded ledger", "PostgreSQL"] as const)("a server on %s", (store) => {
  it.live(
    "simulates payments without a Stripe key, and refuses to do so after customers have paid through Stripe",
    () =>
      Effect.gen(function* () {
        yield* Effect.gen(function* () {
          const database = yield* ConsoleDatabase
          assert.deepStrictEqual(
            [yield* openAndReadName({}), yield* openAndReadName(withStripe)],
            ["simulator", "stripe"]
          )
          const modes = Effect.forEach([{}, withStripe, { ...withStripe, LARDER_STRIPE_KEY: "rk_live_1" }], openIn)
          assert.deepStrictEqual(
            (yield* modes).map(({ mode }) => mode),
            ["simulated", "test", "live"]
          )
          const add = (id: string, processor: string) =>
            database.run(
              `insert into console.payment (id, account_id, kind, cents, state, processor, created_at)
             values ($1, 'acct_1', 'top_up', 1000, 'succeeded', $2, '2026-10-15T12:00:00.000Z')`,
              [id, processor]
            )
          yield* add("pay_1", "simulator")
          assert.strictEqual(yield* openAndReadName({}), "simulator")
          yield* add("pay_2", "stripe")
          for (const env of [{}, { LARDER_STRIPE_KEY: "" }, { LARDER_SIMULATE_PAYMENTS: "no" }]) {
            const refused = yield* Effect.flip(openAndReadName(env))
            assert.match(
              refused.message,
              /^This ledger contains Stripe payments, but LARDER_STRIPE_KEY is not set: .* Set the key\./
            )
          }
          assert.strictEqual(yield* openAndReadName({ LARDER_SIMULATE_PAYMENTS: "yes" }), "simulator")
          assert.isTrue(Exit.isSuccess(yield* Effect.exit(openAndReadName(withStripe))))
        }).pipe(Effect.provide(storesIn(yield* locations[store])))
      }).pipe(Effect.scoped, Effect.orDie)
  )
})

describe("the warning about credits without payment", () => {
  it("is prominent when the console has a public address", () => {
    for (const mode of ["simulated", "test"] as const) {
      const warning = describeUnpaidCredits(mode, undefined)
      assert.match(warning ?? "", /^Card payments .* without paying\.$/)
      assert.strictEqual(describeUnpaidCredits(mode, "http://console.lan"), warning)
      assert.strictEqual(
        describeUnpaidCredits(mode, "https://console.example.com"),
        `CUSTOMERS ARE NOT CHARGED AT https://console.example.com! ${warning} Set a live Stripe key before customers sign in.`
      )
    }
    assert.isUndefined(describeUnpaidCredits("live", "https://console.example.com"))
  })
})
