/**
 * Which card processor this server charges through: Stripe where its key is set, otherwise the built-in simulator, which
 * sells credits for nothing. Where customers have paid through Stripe before, a missing key is taken for a mistake.
 */
import { Config, Context, Effect, Layer, Schema } from "effect"
import type { CardProcessor } from "./billing/processor.ts"
import { Simulator } from "./billing/simulator/simulator.ts"
import { stripeSettings } from "./billing/stripe/settings.ts"
import { ConsoleDatabase } from "./console-database/console-database.ts"

export interface Payments {
  readonly processor: CardProcessor
  /** Undefined where cards are real. */
  readonly simulator: Simulator["Service"] | undefined
  /** Origins of the payment page, which forms of the console lead to. */
  readonly paysAt: () => ReadonlyArray<string>
}

export class StripeKeyMissing extends Schema.TaggedError<StripeKeyMissing>()("StripeKeyMissing", {}) {
  override get message() {
    return "This ledger has payments by Stripe, and LARDER_STRIPE_KEY is not set: without it everybody who signs in could add credits with a test card, for nothing. Set the key. Where this is a copy to try things on, LARDER_SIMULATE_PAYMENTS=yes starts it with simulated payments."
  }
}

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
    const origins = ["https://checkout.stripe.com", ...(stripe.api === undefined ? [] : [stripe.api.origin])]
    return { processor: stripeProcessor(stripe), simulator: undefined, paysAt: () => origins } satisfies Payments
  }
  if (!(yield* isMeant) && (yield* hasPaymentsByStripe)) return yield* new StripeKeyMissing()
  const simulator = Context.get(yield* Layer.build(Simulator.layer(consoleUrl)), Simulator)
  // people may have come by another name of this machine than the one the page is at
  return { processor: simulator.processor, simulator, paysAt: () => [consoleUrl()] } satisfies Payments
})
