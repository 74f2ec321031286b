/** Which card processor a server takes, and when it refuses to take any. */
import { assert, describe, it } from "@effect/vitest"
import { ConsoleDatabase } from "@larder/serve/console-database/console-database.ts"
import { openPayments } from "@larder/serve/payments.ts"
import { ConfigProvider, Effect, Exit } from "effect"
import { places } from "./shop.ts"
import { storesIn } from "./stores.ts"

const opened = (env: Readonly<Record<string, string>>) =>
  Effect.map(
    openPayments(() => "http://127.0.0.1:9"),
    ({ processor }) => processor.name
  ).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env)))
const withStripe = { LARDER_STRIPE_KEY: "sk_test_1", LARDER_STRIPE_WEBHOOK_SECRET: "whsec_1" }

describe.each(["an embedded ledger", "PostgreSQL"] as const)("a server on %s", (store) => {
  it.live("simulates payments without a key of Stripe, but not where customers have paid through Stripe", () =>
    Effect.gen(function* () {
      yield* Effect.gen(function* () {
        const database = yield* ConsoleDatabase
        assert.deepStrictEqual([yield* opened({}), yield* opened(withStripe)], ["simulator", "stripe"])
        const add = (id: string, processor: string) =>
          database.run(
            `insert into console.payment (id, account_id, kind, cents, state, processor, created_at)
             values ($1, 'acct_1', 'top_up', 1000, 'succeeded', $2, '2026-10-15T12:00:00.000Z')`,
            [id, processor]
          )
        yield* add("pay_1", "simulator")
        assert.strictEqual(yield* opened({}), "simulator")
        yield* add("pay_2", "stripe")
        for (const env of [{}, { LARDER_STRIPE_KEY: "" }, { LARDER_SIMULATE_PAYMENTS: "no" }]) {
          const refused = yield* Effect.flip(opened(env))
          assert.match(
            refused.message,
            /^This ledger has payments by Stripe, and LARDER_STRIPE_KEY is not set: .* Set the key\./
          )
        }
        assert.strictEqual(yield* opened({ LARDER_SIMULATE_PAYMENTS: "yes" }), "simulator")
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(opened(withStripe))))
      }).pipe(Effect.provide(storesIn(yield* places[store])))
    }).pipe(Effect.scoped, Effect.orDie)
  )
})
