/** `larder-serve payments check` */
import { formatTable } from "@larder/warehouse/cli"
import { Effect, Option, Runtime, Schema } from "effect"
import { Command } from "effect/cli"
import type { PaymentsCheck } from "../billing/stripe/index.ts"
import { consoleUrlSetting, publicConsoleUrlSetting } from "../settings.ts"
import { jsonOutputFlag, print } from "./flags.ts"

class PaymentsIncomplete extends Schema.TaggedError<PaymentsIncomplete>()("PaymentsIncomplete", {
  state: Schema.Literals(["warning", "failed"]),
  checks: Schema.Array(Schema.String)
}) {
  override readonly [Runtime.errorExitCode] = this.state === "failed" ? 1 : 4
  override get message() {
    const summary = this.state === "failed" ? "Payments do not work" : "Payments work, but something is missing"
    return `${summary}: ${this.checks.join(", ")}`
  }
}

/** Loaded by this command only: Stripe's library is large. */
const loadStripe = Effect.promise(() => import("../billing/stripe/index.ts"))

const failed = (check: string, text: string): ReadonlyArray<PaymentsCheck> => [{ check, state: "failed", text }]
const simulated =
  "LARDER_STRIPE_KEY is not set: payments are simulated, and anyone who signs in can add credits without paying."

/** Checks the settings and, if Stripe is used, whether payments will work. Invalid settings are a result, too. */
const checkPayments = Effect.gen(function* () {
  const { apiVersion, checkStripe, stripeSettings } = yield* loadStripe
  const stripe = yield* stripeSettings
  if (stripe === undefined) return { payments: "simulated", api_version: null, checks: failed("key", simulated) }
  const isPublic = Option.isSome(yield* publicConsoleUrlSetting)
  const checks = yield* checkStripe(stripe, { url: yield* consoleUrlSetting, isPublic })
  return { payments: stripe.isTest ? "test" : "live", api_version: apiVersion, checks }
}).pipe(
  Effect.catchTag("StripeSettingsInvalid", ({ problem }) =>
    Effect.succeed({ payments: null, api_version: null, checks: failed("settings", problem) })
  )
)

const check = Command.make(
  "check",
  { json: jsonOutputFlag },
  Effect.fn(function* ({ json }) {
    const { checks, ...details } = yield* checkPayments
    const state =
      (["failed", "warning"] as const).find((state) => checks.some((check) => check.state === state)) ?? "ok"
    const rows = checks.map(({ check, state, text }) => [state, check, text])
    yield* print(json, { ...details, state, checks }, formatTable(rows))
    if (state === "ok") return
    const incomplete = checks.filter((check) => check.state === state).map(({ check }) => check)
    return yield* new PaymentsIncomplete({ state, checks: incomplete })
  })
).pipe(
  Command.withDescription(
    "Check with Stripe whether payments will work with these settings: it only reads, except that it opens a payment page and expires it immediately. Exits with 1 if they will not work, and 4 if something is missing"
  )
)

export const paymentsCommand = Command.make("payments").pipe(
  Command.withDescription("Payments by card"),
  Command.withSubcommands([check])
)
