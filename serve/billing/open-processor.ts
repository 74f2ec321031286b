/** Chooses the card processor: Stripe if its key is set, otherwise the simulator, which moves no money. */
import { yesOrNoSetting } from "@larder/schemas"
import { Context, Effect, Layer, Schema } from "effect"
import { ConsoleDatabase } from "../persistence/index.ts"
import { Simulator } from "./simulator/simulator.ts"
import { stripeSettings } from "./stripe/settings.ts"

/** `simulated`: no money moves. `test`: Stripe's test mode. `live`: real charges. */
type Mode = "simulated" | "test" | "live"

class StripeKeyMissing extends Schema.TaggedError<StripeKeyMissing>()("StripeKeyMissing", {}) {
  override get message() {
    return "This ledger contains Stripe payments, but LARDER_STRIPE_KEY is not set: without it, anyone who signs in could add credits with a test card without paying. Set the key. To start a test copy with simulated payments, set LARDER_SIMULATE_PAYMENTS=yes."
  }
}

const unpaidCreditReasons = {
  simulated:
    "Card payments are simulated: LARDER_STRIPE_KEY is not set, so anyone who signs in can add credits without paying.",
  test: "Card payments run in Stripe's test mode: LARDER_STRIPE_KEY is a test key, so anyone who signs in can add credits with a test card without paying."
}

/** The warning about credits without payment; undefined in live mode. `publicUrl` is the console's address, if set. */
export const describeUnpaidCredits = (mode: Mode, publicUrl: string | undefined): string | undefined => {
  if (mode === "live") return undefined
  return publicUrl?.startsWith("https:")
    ? `CUSTOMERS ARE NOT CHARGED AT ${publicUrl}! ${unpaidCreditReasons[mode]} Set a live Stripe key before customers sign in.`
    : unpaidCreditReasons[mode]
}

const noWebhookSecret =
  "LARDER_STRIPE_WEBHOOK_SECRET is not set, so Stripe's events are rejected: a payment is credited a few minutes late if the customer does not return to the console, and the credits of refunds and disputes are deducted hours late. Create a webhook endpoint at <console>/webhooks/stripe in Stripe's dashboard, and set its signing secret (whsec_…)."

const simulateSetting = yesOrNoSetting("LARDER_SIMULATE_PAYMENTS")

const hasStripePayments = Effect.gen(function* () {
  const database = yield* ConsoleDatabase
  return (yield* database.run("select id from console.payment where processor = 'stripe' limit 1")) > 0
})

/** `consoleUrl` is not called before the console listens. */
export const openProcessor = Effect.fn("Payments.open")(function* (consoleUrl: () => string) {
  const stripe = yield* stripeSettings
  if (stripe !== undefined) {
    // loaded only if used: a fifth of the code of the server, which operators without billing never need
    const { makeStripeProcessor } = yield* Effect.promise(() => import("./stripe/stripe-processor.ts"))
    if (stripe.webhookSecret === undefined) yield* Effect.logWarning(noWebhookSecret)
    const mode: Mode = stripe.isTest ? "test" : "live"
    return { mode, processor: makeStripeProcessor(stripe), simulator: undefined }
  }
  if (!(yield* simulateSetting) && (yield* hasStripePayments)) return yield* new StripeKeyMissing()
  const simulator = Context.get(yield* Layer.build(Simulator.layer(consoleUrl)), Simulator)
  return { mode: "simulated" as Mode, processor: simulator.processor, simulator }
})
