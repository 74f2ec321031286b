/**
 * A process that works with money as a server does, and is killed on the way: it is told of events, pays on the
 * processor's page and with the saved card, and spends until the account is recharged. Prints how often it has met each stage
 * at which it can be killed.
 */
import { openBilling } from "@larder/serve/billing/open-billing.ts"
import { stripeProcessor } from "@larder/serve/billing/stripe/stripe-processor.ts"
import { ConsoleDatabase } from "@larder/serve/console-database/console-database.ts"
import { Administration } from "@larder/serve/ledger/administration.ts"
import { Effect, Redacted, References } from "effect"
import { simulatorStand } from "./simulator-stand.ts"
import { type Place, spender, storesIn, until } from "./stores.ts"
import { stripeKey, webhookSecret } from "./stripe-host.ts"
import { type End, stumble } from "./stumbling.ts"

export interface Work {
  readonly place: Place
  /** Where Stripe's host is; null for the simulator. */
  readonly stripe: string | null
  /** Null where it ends by itself. */
  readonly end: End | null
  readonly account_id: string
  readonly key: string
  /** Names the forms and calls of this run. */
  readonly run: string
  readonly events: ReadonlyArray<{ readonly body: string; readonly headers: Readonly<Record<string, string>> }>
}

const work: Work = JSON.parse(process.argv[2] ?? "{}") // the test writes it
const { account_id, end, events, key, place, run, stripe } = work

const processorOf = (url: string | null) =>
  url === null
    ? Effect.map(simulatorStand, ({ processor }) => processor)
    : Effect.succeed(
        stripeProcessor({
          key: Redacted.make(stripeKey),
          webhookSecret: Redacted.make(webhookSecret),
          isTest: true,
          api: new URL(url)
        })
      )

const form = (pay_with: "new_card" | "saved_card", cents: number) => ({
  account_id,
  person_id: "person_1",
  email: "ada@example.test",
  cents,
  pay_with,
  submission: `${run} ${pay_with}`,
  success_url: (id: string) => `http://127.0.0.1:9/billing/payments/${id}`,
  cancel_url: (id: string) => `http://127.0.0.1:9/billing/top-up?left=${id}`
})

await Effect.gen(function* () {
  const { administration, database, met, processor } = stumble(end)
  const tables = yield* ConsoleDatabase
  const ledger = yield* Administration
  const charged = processor(yield* processorOf(stripe))
  const spend = yield* spender(key, `${run} `)
  const balance = Effect.map(ledger.account({ account_id }), ({ balance_credits }) => balance_credits)
  yield* Effect.gen(function* () {
    const billing = yield* openBilling(charged)
    yield* Effect.forEach(
      events,
      ({ body, headers }) => billing.webhook(body, (name) => headers[name.toLowerCase()] ?? null),
      { concurrency: 3, discard: true }
    )
    yield* Effect.ignore(billing.topUp(form("new_card", 10_00))) // its answer may get lost
    yield* Effect.ignore(billing.topUp(form("saved_card", 11_00)))
    const { recharge } = yield* billing.settings(account_id)
    if (!recharge.is_on) yield* billing.saveRecharge(account_id, { is_on: true, cents: 50_00, trigger_credits: 20_000 })
    const credits = yield* balance
    if (credits > 15_000) yield* spend(credits - 15_000)
    const call = Effect.sync(() => billing.charged(account_id))
    yield* until(
      Effect.andThen(
        call,
        Effect.map(balance, (left) => left >= 20_000)
      )
    )
    yield* until(Effect.map(billing.settings(account_id), (settings) => !settings.recharge.running))
  }).pipe(
    Effect.scoped,
    Effect.provideService(ConsoleDatabase, database(tables)),
    Effect.provideService(Administration, administration(ledger))
  )
  process.stdout.write(`${JSON.stringify(met)}\n`)
}).pipe(
  Effect.scoped,
  Effect.provide(storesIn(place)),
  Effect.provideService(References.MinimumLogLevel, "Error"),
  Effect.runPromise
)
