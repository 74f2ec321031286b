/** `larder-serve payments check` */
import { Effect, Option, Runtime, Schema } from "effect"
import { Command } from "effect/cli"
import type { Finding, StripeSettings } from "../billing/stripe/index.ts"
import { consoleUrlSetting, publicConsoleUrlSetting } from "../settings.ts"
import { json, print, table } from "./flags.ts"

class PaymentsIncomplete extends Schema.TaggedError<PaymentsIncomplete>()("PaymentsIncomplete", {
  state: Schema.Literals(["warning", "failed"]),
  checks: Schema.Array(Schema.String)
}) {
  override readonly [Runtime.errorExitCode] = this.state === "failed" ? 1 : 4
  override get message() {
    const what = this.state === "failed" ? "Payments do not work" : "Payments work, and something is missing"
    return `${what}: ${this.checks.join(", ")}`
  }
}

/** Loaded by this command only: Stripe's library is large. */
const loadStripe = Effect.promise(() => import("../billing/stripe/index.ts"))

const failed = (check: string, text: string): ReadonlyArray<Finding> => [{ check, state: "failed", text }]
const simulated =
  "LARDER_STRIPE_KEY is not set: payments are simulated, and anyone who signs in can add credits without paying."

const findingsOf = Effect.fnUntraced(function* (stripe: StripeSettings) {
  const { checkStripe } = yield* loadStripe
  const isPublic = Option.isSome(yield* publicConsoleUrlSetting)
  return yield* checkStripe(stripe, { url: yield* consoleUrlSetting, isPublic })
})

/** Examines the settings, and asks Stripe about them. Contradictory settings are a finding, too. */
const examine = Effect.gen(function* () {
  const { apiVersion, stripeSettings } = yield* loadStripe
  const stripe = yield* stripeSettings
  if (stripe === undefined) return { payments: "simulated", api_version: null, checks: failed("key", simulated) }
  return { payments: stripe.isTest ? "test" : "live", api_version: apiVersion, checks: yield* findingsOf(stripe) }
}).pipe(
  Effect.catchTag("StripeSettingsIncomplete", ({ problem }) =>
    Effect.succeed({ payments: null, api_version: null, checks: failed("settings", problem) })
  )
)

const check = Command.make(
  "check",
  { json },
  Effect.fn(function* ({ json }) {
    const { checks, ...about } = yield* examine
    const named = (state: Finding["state"]) => checks.filter((it) => it.state === state).map(({ check }) => check)
    const state = (["failed", "warning"] as const).find((it) => named(it).length > 0) ?? "ok"
    yield* print(json, { ...about, state, checks }, table(checks.map(({ check, state, text }) => [state, check, text])))
    if (state !== "ok") return yield* new PaymentsIncomplete({ state, checks: named(state) })
  })
).pipe(
  Command.withDescription(
    "Ask Stripe whether payments will work with these settings: it only reads, and opens a payment page that it expires immediately. Exits with 1 if they will not work, and 4 if something is missing"
  )
)

export const payments = Command.make("payments").pipe(
  Command.withDescription("Payments by card"),
  Command.withSubcommands([check])
)
