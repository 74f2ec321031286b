/**
 * A process that works with money as a server does, and is killed on the way: it is told of events, true ones and forged
 * ones, pays on the processor's page and with the saved card, and spends until the account is recharged. Prints a line when it
 * begins and one for each thing that it tells of, and in the end how often it has met each stage at which it can be killed.
 */

import { type CardProcessor, EventRejected, maxRequestMs, openBilling } from "@larder/serve/billing"
import { makeStripeProcessor } from "@larder/serve/billing/stripe"
import { Administration } from "@larder/serve/ledger"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { Clock, Effect, Redacted, References } from "effect"
import type { SentEvent, Told } from "./mishaps.ts"
import { simulatorStand } from "./simulator-stand.ts"
import { adjustableClock, inHaste, type Place, spender, storesIn, until } from "./stores.ts"
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
  readonly events: ReadonlyArray<SentEvent>
  /** Milliseconds by which its clock is put forward. */
  readonly ahead: number
  /** Milliseconds from the beginning until the processor works well again; it is the simulator's part of this process. */
  readonly mishapLasts: number
}

const work: Work = JSON.parse(process.argv[2] ?? "{}") // the test writes it
const { account_id, ahead, end, events, key, mishapLasts, place, run, stripe } = work

const simulated = Effect.gen(function* () {
  const { outage, processor, slow } = yield* simulatorStand
  yield* Effect.forkScoped(Effect.delay(Effect.andThen(outage(false), slow(false)), mishapLasts))
  return processor
})
const processorOf = (url: string | null) =>
  url === null
    ? simulated
    : Effect.succeed(
        makeStripeProcessor({
          key: Redacted.make(stripeKey),
          webhookSecret: Redacted.make(webhookSecret),
          isTest: true,
          api: new URL(url)
        })
      )

/** Before the process is killed: what is written to a pipe is written at once. */
const tell = (what: Told) => Effect.sync(() => process.stdout.write(`${what}\n`))
const telling = <A, E>(question: Effect.Effect<A, E>) =>
  tell("asked").pipe(
    Effect.andThen(question),
    Effect.tap(() => tell("answered")),
    Effect.tapError(() => tell("unanswered"))
  )
const tellingOf = (it: CardProcessor): CardProcessor => ({
  ...it,
  checkout: (asked) => telling(it.checkout(asked)),
  charge: (asked) => telling(it.charge(asked)),
  retrieve: (query) => telling(it.retrieve(query))
})

const form = (cents: number, card: string | null = null) => ({
  account_id,
  person_id: "person_1",
  email: "ada@example.test",
  cents,
  card,
  submission: `${run} ${cents}`,
  success_url: (id: string) => `http://127.0.0.1:9/billing/payments/${id}`,
  cancel_url: (id: string) => `http://127.0.0.1:9/billing/top-up?left=${id}`
})

const { clock, putForward } = await Effect.runPromise(adjustableClock)

await Effect.gen(function* () {
  yield* putForward(ahead)
  const { administration, database, met, processor } = stumble(end)
  const tables = yield* ConsoleDatabase
  const ledger = yield* Administration
  process.stdout.write("begun\n")
  const charged = processor(tellingOf(yield* processorOf(stripe)))
  const spend = yield* spender(key, `${run} `)
  const balance = Effect.map(ledger.account({ account_id }), ({ balance_credits }) => balance_credits)
  yield* Effect.gen(function* () {
    const billing = yield* openBilling(charged)
    const told = ({ body, headers }: SentEvent) => billing.webhook(body, (name) => headers[name.toLowerCase()] ?? null)
    const isTaken = (event: SentEvent) =>
      told(event).pipe(
        Effect.andThen(event.mishap === null ? Effect.void : tell(event.mishap)),
        Effect.catch((error) => (error instanceof EventRejected ? Effect.die(error) : Effect.void)) // sent again later
      )
    const isRefused = (event: SentEvent) =>
      Effect.flatMap(Effect.flip(told(event)), (error) =>
        error instanceof EventRejected ? tell("forged") : Effect.die(error)
      )
    yield* Effect.forEach(events, (event) => (event.mishap === "forged" ? isRefused(event) : isTaken(event)), {
      concurrency: 3,
      discard: true
    })
    yield* Effect.ignore(billing.topUp(form(10_00))) // its answer may get lost
    const { card } = yield* billing.settings(account_id)
    yield* Effect.ignore(billing.topUp(form(11_00, card?.mark ?? "none")))
    const choice = { is_on: true, cents: 50_00, trigger_credits: 20_000 }
    // a dispute switches it off, also one that is found while calls are made
    const keptOn = Effect.flatMap(billing.settings(account_id), ({ recharge }) =>
      recharge.is_on ? Effect.void : billing.saveRecharge(account_id, choice)
    )
    yield* keptOn
    const credits = yield* balance
    if (credits > 15_000) yield* spend(credits - 15_000)
    const call = Effect.sync(() => billing.charged(account_id))
    const isRecharged = Effect.map(balance, (left) => left >= choice.trigger_credits)
    const hasRecharged = until(Effect.andThen(Effect.andThen(keptOn, call), isRecharged)).pipe(
      Effect.andThen(until(Effect.map(billing.settings(account_id), ({ recharge }) => !recharge.is_recharging)))
    )
    // one that never reached the processor is asked for no more where its card was replaced, and blocks others for some time
    const later = Effect.andThen(putForward(maxRequestMs), tell("later"))
    yield* Effect.timeoutOrElse(hasRecharged, {
      duration: "5 seconds",
      orElse: () => Effect.andThen(later, hasRecharged)
    })
  }).pipe(
    inHaste,
    Effect.scoped,
    Effect.provideService(ConsoleDatabase, database(tables)),
    Effect.provideService(Administration, administration(ledger))
  )
  process.stdout.write(`${JSON.stringify(met)}\n`)
}).pipe(
  Effect.scoped,
  Effect.provide(storesIn(place)),
  Effect.provideService(Clock.Clock, clock),
  Effect.provideService(References.MinimumLogLevel, "Error"),
  Effect.runPromise
)
