/**
 * Checks whether payments will work with the configured account: reads that change nothing, and a payment page for 10
 * dollars that is expired immediately. It cannot check whether the webhook secret belongs to the endpoint, or whether a
 * saved card can be charged, because that would take money.
 */
import { Clock, Effect, Redacted, Result, Schema } from "effect"
import type Stripe from "stripe"
import { cheapestPayment } from "../amounts.ts"
import { signatureTolerance } from "../processor.ts"
import { apiVersion, asking, CheckoutSession, isForbidden, openStripe, Refused, reasonOf } from "./api.ts"
import type { StripeSettings } from "./settings.ts"
import { sessionOf } from "./stripe-processor.ts"

export interface Finding {
  readonly check: string
  /** `failed`: no payment can be made. `warning`: payments work, but something is missing or could not be checked. */
  readonly state: "ok" | "warning" | "failed"
  readonly text: string
}

export interface ConsoleAddress {
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
const Made = Schema.Struct({ id: Schema.String })

const finding = (check: string, state: Finding["state"], text: string): Finding => ({ check, state, text })

/** Returns the client's undecoded answer, with its headers. */
const request = <A>(send: () => Promise<A>) =>
  Effect.tryPromise({ try: send, catch: (cause) => new Refused({ cause }) })

/** True if a restricted key lacks a permission. */
const isNotAllowed = (cause: unknown) => isForbidden(cause) && cause.statusCode === 403
const headersOf = (cause: unknown): Readonly<Record<string, string>> => (isForbidden(cause) ? cause.headers : {}) ?? {}

/** Turns a refusal into a finding: payments may work even if the key may not read this. */
const findingOf = <R>(check: string, what: string, work: Effect.Effect<Finding, Refused, R>) =>
  Effect.catchTag(work, "Refused", ({ cause }) =>
    Effect.succeed(
      isNotAllowed(cause)
        ? finding(check, "warning", `The key does not have permission to read ${what}, so this was not checked.`)
        : finding(check, "failed", reasonOf(cause))
    )
  )

const checkKey = ({ isTest }: StripeSettings): Finding =>
  isTest
    ? finding("key", "warning", "LARDER_STRIPE_KEY is a test key: only test cards are accepted, and no money is taken.")
    : finding("key", "ok", "LARDER_STRIPE_KEY is a live key: cards are charged.")

const checkAccount = ({ isTest }: StripeSettings, account: typeof Account.Type): Finding => {
  const { capabilities, charges_enabled, country, id } = account
  const cards = capabilities?.card_payments ?? "active"
  // with a test key, an account that is not activated yet still accepts test cards
  if (isTest || (charges_enabled && cards === "active"))
    return finding("account", "ok", `${id}, ${country ?? "no country"}.`)
  const why = charges_enabled ? `its card payments are ${cards}` : "charges are not enabled"
  return finding(
    "account",
    "failed",
    `${id} cannot take payments: ${why}. Finish its activation in Stripe's dashboard.`
  )
}

const checkVersion = (answered: string | undefined): Finding =>
  answered === undefined || answered === apiVersion
    ? finding("api_version", "ok", apiVersion)
    : finding("api_version", "failed", `Stripe answers in version ${answered}; Larder expects ${apiVersion}.`)

const checkClock = (date: string | undefined, now: number): Finding => {
  const ahead = Math.round((now - Date.parse(date ?? "")) / 1000)
  if (!(Math.abs(ahead) > signatureTolerance))
    return finding("clock", "ok", "This machine's clock agrees with Stripe's.")
  const how = `${Math.abs(ahead)} seconds ${ahead > 0 ? "ahead of" : "behind"} Stripe's`
  return finding(
    "clock",
    "warning",
    `This machine's clock is ${how}: events are rejected if it is off by more than ${signatureTolerance}.`
  )
}

const checkPermissions = Effect.fnUntraced(function* (stripe: Stripe) {
  const one = { limit: 1 }
  const reads = {
    "Checkout Sessions": () => stripe.checkout.sessions.list(one),
    "Payment Intents": () => stripe.paymentIntents.list(one),
    "Payment Methods": () => stripe.paymentMethods.list(one),
    Customers: () => stripe.customers.list(one),
    Refunds: () => stripe.refunds.list(one),
    Disputes: () => stripe.disputes.list(one)
  }
  const missing = yield* Effect.forEach(
    Object.entries(reads),
    ([what, read]) =>
      asking<unknown>(read, Schema.Unknown).pipe(
        Effect.as([]),
        Effect.catchTag("Refused", (refused) =>
          isNotAllowed(refused.cause) ? Effect.succeed([what]) : Effect.fail(refused)
        )
      ),
    { concurrency: 6 }
  )
  const names = missing.flat().join(", ")
  return names === ""
    ? finding("permissions", "ok", "The key has the permissions to read what payments need.")
    : finding(
        "permissions",
        "failed",
        `The key lacks permission to read: ${names}. Grant these permissions in Stripe's dashboard.`
      )
})

const checkCurrency = Effect.fnUntraced(function* (stripe: Stripe, { country, default_currency }: typeof Account.Type) {
  if (country == null)
    return finding("currency", "warning", "The account has no country, so its currencies are unknown.")
  const { supported_payment_currencies } = yield* asking(() => stripe.countrySpecs.retrieve(country), Country)
  if (!supported_payment_currencies.includes("usd")) {
    return finding("currency", "failed", `Customers of an account in ${country} cannot pay in US dollars.`)
  }
  const converted = `, which Stripe converts to the ${default_currency?.toUpperCase()} of the account`
  const isConverted = default_currency != null && default_currency !== "usd"
  return finding("currency", "ok", `Customers pay in US dollars${isConverted ? converted : ""}.`)
})

/**
 * Uses the parameters of a customer's page. Without Larder's payment id in the metadata, events of the page are
 * ignored.
 */
const checkCheckout = Effect.fnUntraced(
  function* (stripe: Stripe, { url }: ConsoleAddress) {
    const page = {
      cents: cheapestPayment,
      email: "payments-check@example.com",
      customer: null,
      success_url: `${url}/`,
      cancel_url: `${url}/`
    }
    const made = yield* request(() =>
      stripe.checkout.sessions.create(sessionOf(page, "payments-check", { made_by: "larder-serve payments check" }))
    )
    const expired = yield* Effect.result(asking(() => stripe.checkout.sessions.expire(made.id), Made))
    const { amount_total, currency, payment_method_types } = yield* asking<typeof Page.Type>(
      () => Promise.resolve(made),
      Page
    )
    if (currency !== "usd" || amount_total !== page.cents) {
      return finding("checkout", "failed", `A payment page for 10 US dollars asks for ${amount_total} in ${currency}.`)
    }
    if (!payment_method_types.includes("card")) {
      return finding("checkout", "failed", "The payment page does not accept cards: enable them in Stripe's dashboard.")
    }
    if (Result.isFailure(expired)) {
      const left = `${made.id} could not be expired; it expires automatically within a day: ${reasonOf(expired.failure.cause)}`
      return finding("checkout", "warning", `A payment page was created. ${left}`)
    }
    return finding(
      "checkout",
      "ok",
      `A payment page for 10 US dollars was created and expired immediately (${made.id}).`
    )
  },
  Effect.uninterruptible,
  Effect.catchTag("Refused", ({ cause }) => Effect.succeed(finding("checkout", "failed", reasonOf(cause))))
)

const checkSecret = (secret: string | undefined): Finding => {
  if (secret === undefined) {
    const then = "events are rejected, and payments, refunds and disputes are found late"
    return finding("webhook_secret", "warning", `LARDER_STRIPE_WEBHOOK_SECRET is not set: ${then}.`)
  }
  return /^whsec_\S+$/.test(secret)
    ? finding("webhook_secret", "ok", "LARDER_STRIPE_WEBHOOK_SECRET is set.")
    : finding(
        "webhook_secret",
        "warning",
        "LARDER_STRIPE_WEBHOOK_SECRET is not a signing secret. Signing secrets begin with whsec_ and contain no spaces."
      )
}

const checkEndpoint = Effect.fnUntraced(function* (stripe: Stripe, { isPublic, url }: ConsoleAddress) {
  const path = "/webhooks/stripe"
  const wanted = isPublic ? `${url}${path}` : `<console>${path}`
  const listed = yield* asking(
    () => stripe.webhookEndpoints.list({ limit: 100 }).autoPagingToArray({ limit: 1000 }),
    Schema.Array(Endpoint)
  )
  const ours = listed.filter((it) => (isPublic ? it.url === wanted : URL.parse(it.url)?.pathname === path))
  const enabled = ours.filter(({ status }) => status === "enabled")
  const [missing] = enabled
    .map(({ enabled_events }) =>
      neededEvents.filter((event) => ![event, "*"].some((it) => enabled_events.includes(it)))
    )
    .toSorted((a, b) => a.length - b.length)
  if (missing?.length === 0) return finding("webhook_endpoint", "ok", `Events are sent to ${enabled[0]?.url}.`)
  if (missing !== undefined) {
    return finding("webhook_endpoint", "warning", `The endpoint ${wanted} lacks these events: ${missing.join(", ")}.`)
  }
  const isOff = ours.length > 0 ? "is disabled: enable it" : "does not exist: create it"
  const events = `for ${neededEvents.join(", ")}`
  return finding("webhook_endpoint", "warning", `The endpoint ${wanted} ${isOff} in Stripe's dashboard, ${events}.`)
})

export const checkStripe = Effect.fn("Stripe.check")(function* (settings: StripeSettings, console: ConsoleAddress) {
  const stripe = openStripe(settings)
  const key = checkKey(settings)
  const secret = checkSecret(settings.webhookSecret && Redacted.value(settings.webhookSecret))
  const asked = yield* Effect.result(request(() => stripe.accounts.retrieveCurrent()))
  if (Result.isFailure(asked) && !isNotAllowed(asked.failure.cause)) {
    // every further request would be refused too
    return [key, finding("account", "failed", reasonOf(asked.failure.cause)), secret]
  }
  const headers = Result.isSuccess(asked) ? asked.success.lastResponse.headers : headersOf(asked.failure.cause)
  const account = Effect.flatMap(Effect.fromResult(asked), (answer) => asking(() => Promise.resolve(answer), Account))
  return [
    key,
    yield* findingOf(
      "account",
      "the account",
      Effect.map(account, (it) => checkAccount(settings, it))
    ),
    checkVersion(headers["stripe-version"]),
    checkClock(headers.date, yield* Clock.currentTimeMillis),
    yield* findingOf("permissions", "payments", checkPermissions(stripe)),
    yield* findingOf(
      "currency",
      "the account",
      Effect.flatMap(account, (it) => checkCurrency(stripe, it))
    ),
    yield* checkCheckout(stripe, console),
    secret,
    yield* findingOf("webhook_endpoint", "webhook endpoints", checkEndpoint(stripe, console))
  ]
})
