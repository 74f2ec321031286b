/**
 * Checks whether payments will work with the configured account: only reads, and opens a payment page for 10 dollars that
 * it expires immediately. It cannot check whether the webhook secret belongs to the endpoint, or whether a saved card can
 * be charged, because that would take money.
 */
import { Clock, Effect, Redacted, Result, Schema } from "effect"
import type Stripe from "stripe"
import { minPayment } from "../amounts.ts"
import { signatureTolerance } from "../processor.ts"
import {
  apiVersion,
  CheckoutSession,
  describeFailure,
  isForbidden,
  openStripe,
  request,
  type StripeFailed,
  send
} from "./api.ts"
import type { StripeSettings } from "./settings.ts"
import { buildSession } from "./stripe-processor.ts"

export interface CheckResult {
  readonly check: string
  /** `failed`: no payment can be made. `warning`: payments work, but something is missing or could not be checked. */
  readonly state: "ok" | "warning" | "failed"
  readonly text: string
}

interface ConsoleAddress {
  readonly url: string
  /** True if the address is configured; otherwise it is the listener's, which Stripe cannot reach. */
  readonly isPublic: boolean
}

/** Events that Larder handles. `charge.refunded` adds nothing to `refund.created`. */
const neededEvents = [
  ...["checkout.session.completed", "checkout.session.expired"],
  ...["payment_intent.succeeded", "payment_intent.payment_failed", "payment_intent.canceled"],
  ...["refund.created", "refund.updated", "refund.failed"],
  ...["charge.dispute.created", "charge.dispute.updated", "charge.dispute.closed"],
  ...["charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated"]
]

const Text = Schema.optionalKey(Schema.NullOr(Schema.String))
const Account = Schema.Struct({
  id: Schema.String,
  country: Text,
  default_currency: Text,
  charges_enabled: Schema.Boolean,
  capabilities: Schema.optionalKey(Schema.Struct({ card_payments: Text }))
})
const Country = Schema.Struct({ supported_payment_currencies: Schema.Array(Schema.String) })
const Endpoint = Schema.Struct({
  url: Schema.String,
  status: Schema.String,
  enabled_events: Schema.Array(Schema.String)
})
const Page = Schema.Struct({
  ...CheckoutSession.fields,
  currency: Text,
  amount_total: Schema.NullOr(Schema.Int),
  payment_method_types: Schema.Array(Schema.String)
})
const ExpiredPage = Schema.Struct({ id: Schema.String })

const result = (check: string, state: CheckResult["state"], text: string): CheckResult => ({ check, state, text })

/** Whether a restricted key lacks a permission. */
const lacksPermission = (cause: unknown) => isForbidden(cause) && cause.statusCode === 403
const headersOf = (cause: unknown): Readonly<Record<string, string>> => (isForbidden(cause) ? cause.headers : {}) ?? {}

/** A failed read is a result, too: payments may work even if the key may not read this. */
const reportFailure = <R>(check: string, what: string, work: Effect.Effect<CheckResult, StripeFailed, R>) =>
  Effect.catchTag(work, "StripeFailed", ({ cause }) =>
    Effect.succeed(
      lacksPermission(cause)
        ? result(check, "warning", `The key does not have permission to read ${what}, so this was not checked.`)
        : result(check, "failed", describeFailure(cause))
    )
  )

const checkKey = ({ isTest }: StripeSettings): CheckResult =>
  isTest
    ? result("key", "warning", "LARDER_STRIPE_KEY is a test key: only test cards are accepted, and no money is taken.")
    : result("key", "ok", "LARDER_STRIPE_KEY is a live key: cards are charged.")

const checkAccount = ({ isTest }: StripeSettings, account: typeof Account.Type): CheckResult => {
  const { capabilities, charges_enabled, country, id } = account
  const cards = capabilities?.card_payments ?? "active"
  // with a test key, an account that is not activated yet still accepts test cards
  if (isTest || (charges_enabled && cards === "active"))
    return result("account", "ok", `${id}, ${country ?? "no country"}.`)
  const why = charges_enabled ? `its card payments are ${cards}` : "charges are not enabled"
  return result("account", "failed", `${id} cannot take payments: ${why}. Finish its activation in Stripe's dashboard.`)
}

const checkVersion = (version: string | undefined): CheckResult =>
  version === undefined || version === apiVersion
    ? result("api_version", "ok", apiVersion)
    : result("api_version", "failed", `Stripe answers in version ${version}; Larder expects ${apiVersion}.`)

const checkClock = (date: string | undefined, now: number): CheckResult => {
  const ahead = Math.round((now - Date.parse(date ?? "")) / 1000)
  if (!(Math.abs(ahead) > signatureTolerance))
    return result("clock", "ok", "This machine's clock agrees with Stripe's.")
  const difference = `${Math.abs(ahead)} seconds ${ahead > 0 ? "ahead of" : "behind"} Stripe's`
  return result(
    "clock",
    "warning",
    `This machine's clock is ${difference}: events are rejected if it is off by more than ${signatureTolerance}.`
  )
}

const checkPermissions = Effect.fnUntraced(function* (stripe: Stripe) {
  const oneRow = { limit: 1 }
  const reads = {
    "Checkout Sessions": () => stripe.checkout.sessions.list(oneRow),
    "Payment Intents": () => stripe.paymentIntents.list(oneRow),
    "Payment Methods": () => stripe.paymentMethods.list(oneRow),
    Customers: () => stripe.customers.list(oneRow),
    Refunds: () => stripe.refunds.list(oneRow),
    Disputes: () => stripe.disputes.list(oneRow)
  }
  const missing = yield* Effect.forEach(
    Object.entries(reads),
    ([what, read]) =>
      request<unknown>(read, Schema.Unknown).pipe(
        Effect.as([]),
        Effect.catchTag("StripeFailed", (failure) =>
          lacksPermission(failure.cause) ? Effect.succeed([what]) : Effect.fail(failure)
        )
      ),
    { concurrency: 6 }
  )
  const names = missing.flat().join(", ")
  return names === ""
    ? result("permissions", "ok", "The key has the permissions to read what payments need.")
    : result(
        "permissions",
        "failed",
        `The key lacks permission to read: ${names}. Grant these permissions in Stripe's dashboard.`
      )
})

const checkCurrency = Effect.fnUntraced(function* (stripe: Stripe, { country, default_currency }: typeof Account.Type) {
  if (country == null)
    return result("currency", "warning", "The account has no country, so its currencies are unknown.")
  const { supported_payment_currencies } = yield* request(() => stripe.countrySpecs.retrieve(country), Country)
  if (!supported_payment_currencies.includes("usd")) {
    return result("currency", "failed", `Customers of an account in ${country} cannot pay in US dollars.`)
  }
  const converted = `, which Stripe converts to the ${default_currency?.toUpperCase()} of the account`
  const isConverted = default_currency != null && default_currency !== "usd"
  return result("currency", "ok", `Customers pay in US dollars${isConverted ? converted : ""}.`)
})

/** Like a customer's page, but without Larder's payment id in the metadata, so events of the page are ignored. */
const checkCheckout = Effect.fnUntraced(
  function* (stripe: Stripe, { url }: ConsoleAddress) {
    const page = {
      cents: minPayment,
      email: "payments-check@example.com",
      customer: null,
      success_url: `${url}/`,
      cancel_url: `${url}/`
    }
    const session = yield* send(() =>
      stripe.checkout.sessions.create(buildSession(page, "payments-check", { made_by: "larder-serve payments check" }))
    )
    const expired = yield* Effect.result(request(() => stripe.checkout.sessions.expire(session.id), ExpiredPage))
    const { amount_total, currency, payment_method_types } = yield* request<typeof Page.Type>(
      () => Promise.resolve(session),
      Page
    )
    if (currency !== "usd" || amount_total !== page.cents) {
      return result("checkout", "failed", `A payment page for 10 US dollars asks for ${amount_total} in ${currency}.`)
    }
    if (!payment_method_types.includes("card")) {
      return result("checkout", "failed", "The payment page does not accept cards: enable them in Stripe's dashboard.")
    }
    if (Result.isFailure(expired)) {
      const left = `${session.id} could not be expired; it expires automatically within a day: ${describeFailure(expired.failure.cause)}`
      return result("checkout", "warning", `A payment page was created. ${left}`)
    }
    return result(
      "checkout",
      "ok",
      `A payment page for 10 US dollars was created and expired immediately (${session.id}).`
    )
  },
  Effect.uninterruptible,
  Effect.catchTag("StripeFailed", ({ cause }) => Effect.succeed(result("checkout", "failed", describeFailure(cause))))
)

const checkSecret = (secret: string | undefined): CheckResult => {
  if (secret === undefined) {
    const consequence = "events are rejected, and payments, refunds and disputes are found late"
    return result("webhook_secret", "warning", `LARDER_STRIPE_WEBHOOK_SECRET is not set: ${consequence}.`)
  }
  return /^whsec_\S+$/.test(secret)
    ? result("webhook_secret", "ok", "LARDER_STRIPE_WEBHOOK_SECRET is set.")
    : result(
        "webhook_secret",
        "warning",
        "LARDER_STRIPE_WEBHOOK_SECRET is not a signing secret. Signing secrets begin with whsec_ and contain no spaces."
      )
}

const checkEndpoint = Effect.fnUntraced(function* (stripe: Stripe, { isPublic, url }: ConsoleAddress) {
  const path = "/webhooks/stripe"
  const wanted = isPublic ? `${url}${path}` : `<console>${path}`
  const listed = yield* request(
    () => stripe.webhookEndpoints.list({ limit: 100 }).autoPagingToArray({ limit: 1000 }),
    Schema.Array(Endpoint)
  )
  const matching = listed.filter(({ url }) => (isPublic ? url === wanted : URL.parse(url)?.pathname === path))
  const enabled = matching.filter(({ status }) => status === "enabled")
  const [missing] = enabled
    .map(({ enabled_events }) =>
      neededEvents.filter((event) => !enabled_events.includes(event) && !enabled_events.includes("*"))
    )
    .toSorted((a, b) => a.length - b.length)
  if (missing?.length === 0) return result("webhook_endpoint", "ok", `Events are sent to ${enabled[0]?.url}.`)
  if (missing !== undefined) {
    return result("webhook_endpoint", "warning", `The endpoint ${wanted} lacks these events: ${missing.join(", ")}.`)
  }
  const state = matching.length > 0 ? "is disabled: enable it" : "does not exist: create it"
  const events = `for ${neededEvents.join(", ")}`
  return result("webhook_endpoint", "warning", `The endpoint ${wanted} ${state} in Stripe's dashboard, ${events}.`)
})

export const checkStripe = Effect.fn("Stripe.check")(function* (settings: StripeSettings, console: ConsoleAddress) {
  const stripe = openStripe(settings)
  const key = checkKey(settings)
  const secret = checkSecret(settings.webhookSecret && Redacted.value(settings.webhookSecret))
  const current = yield* Effect.result(send(() => stripe.accounts.retrieveCurrent()))
  if (Result.isFailure(current) && !lacksPermission(current.failure.cause)) {
    // every further request would be refused too
    return [key, result("account", "failed", describeFailure(current.failure.cause)), secret]
  }
  const headers = Result.isSuccess(current) ? current.success.lastResponse.headers : headersOf(current.failure.cause)
  const account = Effect.flatMap(Effect.fromResult(current), (answer) =>
    request(() => Promise.resolve(answer), Account)
  )
  return [
    key,
    yield* reportFailure(
      "account",
      "the account",
      Effect.map(account, (account) => checkAccount(settings, account))
    ),
    checkVersion(headers["stripe-version"]),
    checkClock(headers.date, yield* Clock.currentTimeMillis),
    yield* reportFailure("permissions", "payments", checkPermissions(stripe)),
    yield* reportFailure(
      "currency",
      "the account",
      Effect.flatMap(account, (account) => checkCurrency(stripe, account))
    ),
    yield* checkCheckout(stripe, console),
    secret,
    yield* reportFailure("webhook_endpoint", "webhook endpoints", checkEndpoint(stripe, console))
  ]
})
