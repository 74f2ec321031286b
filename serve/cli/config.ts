/** `larder-serve config` */
import { yesOrNoSetting } from "@larder/schemas"
import { makeConfigCommand } from "@larder/warehouse/cli"
import { Effect } from "effect"
import { mailFromSettings } from "../mail/index.ts"
import { serveSettings } from "../settings.ts"

/** Loads the warehouse and Stripe's library only when it runs. */
const check = Effect.gen(function* () {
  const { home } = yield* serveSettings
  const { keptSetting, openSharedDepot, webhookFromSettings } = yield* Effect.promise(() => import("@larder/warehouse"))
  yield* openSharedDepot(home)
  yield* keptSetting
  yield* webhookFromSettings
  const { stripeSettings } = yield* Effect.promise(() => import("../billing/stripe/index.ts"))
  yield* stripeSettings
  yield* yesOrNoSetting("LARDER_SIMULATE_PAYMENTS")
  yield* mailFromSettings
})

export const configCommand = makeConfigCommand("larder-serve", check)
