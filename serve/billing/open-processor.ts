/** Chooses the card processor: Stripe if its key is set, otherwise the simulator, which takes no money. */
import { Config, Context, Effect, Layer, Schema } from "effect"
import { ConsoleDatabase } from "../persistence/index.ts"
import { Simulator } from "./simulator/simulator.ts"
import { stripeSettings } from "./stripe/settings.ts"

/** What a payment moves: nothing, only Stripe's test money, or real money. */
type Mode = "simulated" | "test" | "live"

class StripeKeyMissing extends Schema.TaggedError<StripeKeyMissing>()("StripeKeyMissing", {}) {
  override get message() {
    return "This ledger contains payments by Stripe, but LARDER_STRIPE_KEY is not set: without it, anyone who signs in could add credits with a test card without paying. Set the key. On a copy for tests, LARDER_SIMULATE_PAYMENTS=yes starts the server with simulated payments."
  }
}

const freeCreditReasons = {
  simulated:
    "Card payments are simulated: LARDER_STRIPE_KEY is not set, so anyone who signs in can add credits without paying.",
  test: "Card payments are tests: LARDER_STRIPE_KEY is a test key, so anyone who signs in can add credits with a test card without paying."
}

/** The warning that no money is taken; undefined in live mode. `publicUrl` is the console's public address, if set. */
export const warnOfFreeCredits = (mode: Mode, publicUrl: string | undefined): string | undefined => {
  if (mode === "live") return undefined
  return publicUrl?.startsWith("https:")
    ? `NO MONEY IS TAKEN AT ${publicUrl}! ${freeCreditReasons[mode]} Set a live Stripe key before customers sign in.`
    : freeCreditReasons[mode]
}

const noWebhookSecret =
  "LARDER_STRIPE_WEBHOOK_SECRET is not set, so Stripe's events are rejected: a payment is booked some minutes late if the customer does not return to the console, and the credits of refunds and disputes are deducted hours late. Create a webhook endpoint at <console>/webhooks/stripe in Stripe's dashboard, and set its signing secret (whsec_…)."

const simulateSetting = Config.Boolean("LARDER_SIMULATE_PAYMENTS").pipe(Config.withDefault(false))

const hasStripePayments = Effect.gen(function* () {
  const database = yield* ConsoleDatabase
  return (yield* database.run("select id from console.payment where processor = 'stripe' limit 1")) > 0
})

/** `consoleUrl` is called only after the console listens. */
export const openPayments = Effect.fn("Payments.open")(function* (consoleUrl: () => string) {
  const stripe = yield* stripeSettings
  if (stripe !== undefined) {
    // a fifth of the code that the server loads, and unused by operators who do not sell
    const { makeStripeProcessor } = yield* Effect.promise(() => import("./stripe/stripe-processor.ts"))
    if (stripe.webhookSecret === undefined) yield* Effect.logWarning(noWebhookSecret)
    const mode: Mode = stripe.isTest ? "test" : "live"
    return { mode, processor: makeStripeProcessor(stripe), simulator: undefined }
  }
  if (!(yield* simulateSetting) && (yield* hasStripePayments)) return yield* new StripeKeyMissing()
  const simulator = Context.get(yield* Layer.build(Simulator.layer(consoleUrl)), Simulator)
  return { mode: "simulated" as Mode, processor: simulator.processor, simulator }
})
