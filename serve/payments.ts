/**
 * Which card processor this server charges through: Stripe where its key is set, otherwise the built-in simulator, which
 * sells credits for nothing. Where customers have paid through Stripe before, a missing key is taken for a mistake.
 */
import { Config, Context, Effect, Layer, Schema } from "effect"
import type { CardProcessor } from "./billing/processor.ts"
import { Simulator } from "./billing/simulator/simulator.ts"
import { stripeSettings } from "./billing/stripe/settings.ts"
import { ConsoleDatabase } from "./console-database/console-database.ts"

/** What a payment moves: nothing, nothing but test cards' money at Stripe, or money. */
type Mode = "simulated" | "test" | "live"

export interface Payments {
  readonly mode: Mode
  readonly processor: CardProcessor
  /** Undefined where cards are real. */
  readonly simulator: Simulator["Service"] | undefined
}

export class StripeKeyMissing extends Schema.TaggedError<StripeKeyMissing>()("StripeKeyMissing", {}) {
  override get message() {
    return "This ledger has payments by Stripe, and LARDER_STRIPE_KEY is not set: without it everybody who signs in could add credits with a test card, for nothing. Set the key. Where this is a copy to try things on, LARDER_SIMULATE_PAYMENTS=yes starts it with simulated payments."
  }
}

const whyNothing = {
  simulated:
    "Card payments are simulated: LARDER_STRIPE_KEY is not set, and everybody who signs in can add credits for nothing.",
  test: "Card payments are tests: LARDER_STRIPE_KEY is a test key, and everybody who signs in can add credits with a test card, for nothing."
}

/** Undefined where money is taken. `publicUrl` is where people find the console, where that is set. */
export const nothingIsTaken = (mode: Mode, publicUrl: string | undefined): string | undefined => {
  if (mode === "live") return undefined
  return publicUrl?.startsWith("https:")
    ? `NO MONEY IS TAKEN AT ${publicUrl}! ${whyNothing[mode]} Set a live key of Stripe before customers sign in.`
    : whyNothing[mode]
}

const noEvents =
  "LARDER_STRIPE_WEBHOOK_SECRET is not set, so events of Stripe are refused: a payment whose owner does not come back to the console is booked some minutes later, and refunds and disputes take credits back hours later. Create a webhook endpoint at <console>/webhooks/stripe in Stripe's dashboard, and set its signing secret (whsec_…)."

const isMeant = Config.Boolean("LARDER_SIMULATE_PAYMENTS").pipe(Config.withDefault(false))

const hasPaymentsByStripe = Effect.gen(function* () {
  const database = yield* ConsoleDatabase
  return (yield* database.run("select id from console.payment where processor = 'stripe' limit 1")) > 0
})

/** `consoleUrl` is asked for only after the console listens. */
export const openPayments = Effect.fn("Payments.open")(function* (consoleUrl: () => string) {
  const stripe = yield* stripeSettings
  if (stripe !== undefined) {
    // a fifth of what the server loads, and of no use to those who do not sell
    const { stripeProcessor } = yield* Effect.promise(() => import("./billing/stripe/stripe-processor.ts"))
    if (stripe.webhookSecret === undefined) yield* Effect.logWarning(noEvents)
    const mode = stripe.isTest ? "test" : "live"
    return { mode, processor: stripeProcessor(stripe), simulator: undefined } satisfies Payments
  }
  if (!(yield* isMeant) && (yield* hasPaymentsByStripe)) return yield* new StripeKeyMissing()
  const simulator = Context.get(yield* Layer.build(Simulator.layer(consoleUrl)), Simulator)
  return { mode: "simulated", processor: simulator.processor, simulator } satisfies Payments
})
