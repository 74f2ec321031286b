/**
 * A process that runs `Billing` as a server does, and may be killed at any stage. It receives genuine and forged events,
 * pays on the processor's page and with the saved card, and spends until the account is recharged. Prints a line when it
 * starts and one for each step (`ProgressLine`), and at the end how often it has reached each stage.
 */
import { EventRejected, openBilling } from "@larder/serve/billing"
import type { CardProcessor } from "@larder/serve/billing/processor.ts"
import { maxRequestMs } from "@larder/serve/billing/retry-or-expire.ts"
import { makeStripeProcessor } from "@larder/serve/billing/stripe/stripe-processor.ts"
import { Administration } from "@larder/serve/ledger"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { Clock, Effect, Redacted, References } from "effect"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import type { ProgressLine, SentEvent } from "./faults.ts"
import { type KillPoint, killAtStage } from "./kill-stages.ts"
import { adjustableClock, type Location, makeSpender, storesIn, until, withoutLongSleeps } from "./stores.ts"
import { stripeKey, webhookSecret } from "./stripe-host.ts"

export interface Work {
  readonly location: Location
  /** URL of Stripe's host. */
  readonly stripe: string
  /** Null if the process is not killed. */
  readonly killPoint: KillPoint | null
  readonly account_id: string
  readonly key: string
  /** Names the forms and calls of this run. */
  readonly run: string
  readonly events: ReadonlyArray<SentEvent>
  /** Milliseconds by which its clock is ahead. */
  readonly aheadMs: number
}

const work: Work = JSON.parse(process.argv[2] ?? "{}") // the test writes it
const { account_id, aheadMs, events, key, killPoint, location, run, stripe } = work

/** Writes to a pipe are synchronous, so a line is printed even if the process is killed next. */
const print = (line: ProgressLine) => Effect.sync(() => process.stdout.write(`${line}\n`))
const printOutcome = <A, E>(work: Effect.Effect<A, E>) =>
  print("requested").pipe(
    Effect.andThen(work),
    Effect.tap(() => print("responded")),
    Effect.tapError(() => print("failed"))
  )
const withOutput = (processor: CardProcessor): CardProcessor => ({
  ...processor,
  checkout: (request) => printOutcome(processor.checkout(request)),
  charge: (request) => printOutcome(processor.charge(request)),
  retrieve: (query) => printOutcome(processor.retrieve(query))
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

const { clock, advanceClock } = await Effect.runPromise(adjustableClock)

await Effect.gen(function* () {
  yield* advanceClock(aheadMs)
  const { administration, database, processor, reached } = killAtStage(killPoint)
  const tables = yield* ConsoleDatabase
  const ledger = yield* Administration
  process.stdout.write("begun\n")
  const stripeProcessor = makeStripeProcessor({
    key: Redacted.make(stripeKey),
    webhookSecret: Redacted.make(webhookSecret),
    isTest: true,
    api: new URL(stripe)
  })
  const charged = processor(withOutput(stripeProcessor))
  const spend = yield* makeSpender(key, `${run} `)
  const balance = Effect.map(ledger.account({ account_id }), ({ balance_credits }) => balance_credits)
  yield* Effect.gen(function* () {
    const billing = yield* openBilling(charged)
    const handle = ({ body, signature }: SentEvent) =>
      billing.webhook(body, (name) => (name.toLowerCase() === "stripe-signature" ? signature : null))
    const expectAccepted = (event: SentEvent) =>
      handle(event).pipe(
        Effect.andThen(event.fault === null ? Effect.void : print(event.fault)),
        Effect.catch((error) => (error instanceof EventRejected ? Effect.die(error) : Effect.void)) // it is sent again later
      )
    const expectRejected = (event: SentEvent) =>
      Effect.flatMap(Effect.flip(handle(event)), (error) =>
        error instanceof EventRejected ? print("forged") : Effect.die(error)
      )
    yield* Effect.forEach(
      events,
      (event) => (event.fault === "forged" ? expectRejected(event) : expectAccepted(event)),
      {
        concurrency: 3,
        discard: true
      }
    )
    yield* Effect.ignore(billing.topUp(form(10_00))) // the response may be lost
    const { card } = yield* billing.settings(account_id)
    yield* Effect.ignore(billing.topUp(form(11_00, card?.fingerprint ?? "none")))
    const choice = rechargeChoice({ cents: 50_00, trigger_credits: 20_000 })
    // a dispute switches auto-recharge off, even while this process makes calls
    const keepOn = Effect.flatMap(billing.settings(account_id), ({ recharge }) =>
      recharge.is_on ? Effect.void : saveRecharge(billing, account_id, choice)
    )
    yield* keepOn
    const credits = yield* balance
    if (credits > 15_000) yield* spend(credits - 15_000)
    const call = Effect.sync(() => billing.charged(account_id))
    const isRecharged = Effect.map(balance, (credits) => credits >= choice.trigger_credits)
    const hasRecharged = until(Effect.andThen(Effect.andThen(keepOn, call), isRecharged)).pipe(
      Effect.andThen(until(Effect.map(billing.settings(account_id), ({ recharge }) => !recharge.is_recharging)))
    )
    // a recharge that never reached the processor is not repeated if its card was replaced, and blocks others for a while
    const advancePastRequest = Effect.andThen(advanceClock(maxRequestMs), print("clock advanced"))
    yield* Effect.timeoutOrElse(hasRecharged, {
      duration: "5 seconds",
      orElse: () => Effect.andThen(advancePastRequest, hasRecharged)
    })
  }).pipe(
    withoutLongSleeps,
    Effect.scoped,
    Effect.provideService(ConsoleDatabase, database(tables)),
    Effect.provideService(Administration, administration(ledger))
  )
  process.stdout.write(`${JSON.stringify(reached)}\n`)
}).pipe(
  Effect.scoped,
  Effect.provide(storesIn(location)),
  Effect.provideService(Clock.Clock, clock),
  Effect.provideService(References.MinimumLogLevel, "Error"),
  Effect.runPromise
)
