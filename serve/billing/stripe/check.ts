/**
 * Checks whether payments will work with the configured account. It only reads, and opens a payment page for 10 dollars
 * that it expires immediately. It cannot check whether the webhook secret belongs to the endpoint, or whether a saved
 * card can be charged, because that would take money.
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
import { buildSessionParams } from "./stripe-processor.ts"

export interface PaymentsCheck {
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

const OptionalString = Schema.optionalKey(Schema.NullOr(Schema.String))
const Account = Schema.Struct({
  id: Schema.String,
  country: OptionalString,
  default_currency: OptionalString,
  charges_enabled: Schema.Boolean,
  capabilities: Schema.optionalKey(Schema.Struct({ card_payments: OptionalString }))
})
const Country = Schema.Struct({ supported_payment_currencies: Schema.Array(Schema.String) })
const Endpoint = Schema.Struct({
  url: Schema.String,
  status: Schema.String,
  enabled_events: Schema.Array(Schema.String)
})
const Page = Schema.Struct({
  ...CheckoutSession.fields,
  currency: OptionalString,
  amount_total: Schema.NullOr(Schema.Int),
  payment_method_types: Schema.Array(Schema.String)
})

type Outcome = Omit<PaymentsCheck, "check">
const ok = (text: string): Outcome => ({ state: "ok", text })
const warning = (text: string): Outcome => ({ state: "warning", text })
const failed = (text: string): Outcome => ({ state: "failed", text })

const lacksPermission = (cause: unknown) => isForbidden(cause) && cause.statusCode === 403
const readHeaders = (cause: unknown): Readonly<Record<string, string>> =>
  (isForbidden(cause) ? cause.headers : {}) ?? {}

/** A failed read is also a result: payments may work even if the key has no permission to read this. */
const reportFailure = <R>(subject: string, work: Effect.Effect<Outcome, StripeFailed, R>) =>
  Effect.catchTag(work, "StripeFailed", ({ cause }) =>
    Effect.succeed(
      lacksPermission(cause)
        ? warning(`The key does not have permission to read ${subject}, so this was not checked.`)
        : failed(describeFailure(cause))
    )
  )

const checkKey = ({ isTest }: StripeSettings): Outcome =>
  isTest
    ? warning("LARDER_STRIPE_KEY is a test key: only test cards are accepted, and no money is taken.")
    : ok("LARDER_STRIPE_KEY is a live key: cards are charged.")

const checkAccount = ({ isTest }: StripeSettings, account: typeof Account.Type): Outcome => {
  const { capabilities, charges_enabled, country, id } = account
  const cards = capabilities?.card_payments ?? "active"
  // with a test key, an account that is not activated yet still accepts test cards
  if (isTest || (charges_enabled && cards === "active")) return ok(`${id}, ${country ?? "no country"}.`)
  const reason = charges_enabled ? `its card payments are ${cards}` : "charges are not enabled"
  return failed(`${id} cannot take payments: ${reason}. Finish its activation in Stripe's dashboard.`)
}

const checkVersion = (version: string | undefined): Outcome => {
  if (version === undefined) return warning("Stripe's response does not state its API version, so it was not checked.")
  return version === apiVersion
    ? ok(apiVersion)
    : failed(`Stripe responds in version ${version}; Larder expects ${apiVersion}.`)
}

const checkClock = (date: string | undefined, now: number): Outcome => {
  const lead = Math.round((now - Date.parse(date ?? "")) / 1000)
  if (Number.isNaN(lead)) return warning("Stripe's response states no time, so this machine's clock was not checked.")
  if (Math.abs(lead) <= signatureTolerance) return ok("This machine's clock agrees with Stripe's.")
  const difference = `${Math.abs(lead)} seconds ${lead > 0 ? "ahead of" : "behind"} Stripe's`
  return warning(
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
    ([name, read]) =>
      request<unknown>(read, Schema.Unknown).pipe(
        Effect.as([]),
        Effect.catchTag("StripeFailed", (failure) =>
          lacksPermission(failure.cause) ? Effect.succeed([name]) : Effect.fail(failure)
        )
      ),
    { concurrency: 6 }
  )
  const names = missing.flat().join(", ")
  return names === ""
    ? ok("The key has the permissions to read what payments need.")
    : failed(`The key lacks permission to read: ${names}. Grant these permissions in Stripe's dashboard.`)
})

const checkCurrency = Effect.fnUntraced(function* (stripe: Stripe, { country, default_currency }: typeof Account.Type) {
  if (country == null) return warning("The account has no country, so its currencies are unknown.")
  const { supported_payment_currencies } = yield* request(() => stripe.countrySpecs.retrieve(country), Country)
  if (!supported_payment_currencies.includes("usd")) {
    return failed(`Customers of an account in ${country} cannot pay in US dollars.`)
  }
  const converted = `, which Stripe converts to the ${default_currency?.toUpperCase()} of the account`
  const isConverted = default_currency != null && default_currency !== "usd"
  return ok(`Customers pay in US dollars${isConverted ? converted : ""}.`)
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
      stripe.checkout.sessions.create(
        buildSessionParams(page, "payments-check", { made_by: "larder-serve payments check" })
      )
    )
    const expired = yield* Effect.result(send(() => stripe.checkout.sessions.expire(session.id)))
    const { amount_total, currency, payment_method_types } = yield* request<typeof Page.Type>(
      () => Promise.resolve(session),
      Page
    )
    if (currency !== "usd" || amount_total !== page.cents) {
      return failed(`A payment page for 10 US dollars shows ${amount_total} in ${currency}.`)
    }
    if (!payment_method_types.includes("card")) {
      return failed("The payment page does not accept cards: enable them in Stripe's dashboard.")
    }
    if (Result.isFailure(expired)) {
      const reason = describeFailure(expired.failure.cause)
      return warning(
        `A payment page was created. ${session.id} could not be expired; it expires automatically within a day: ${reason}`
      )
    }
    return ok(`A payment page for 10 US dollars was created and expired immediately (${session.id}).`)
  },
  Effect.uninterruptible,
  Effect.catchTag("StripeFailed", ({ cause }) => Effect.succeed(failed(describeFailure(cause))))
)

const checkSecret = (secret: string | undefined): Outcome => {
  if (secret === undefined) {
    const consequence = "events are rejected, and payments, refunds and disputes are found late"
    return warning(`LARDER_STRIPE_WEBHOOK_SECRET is not set: ${consequence}.`)
  }
  return /^whsec_\S+$/.test(secret)
    ? ok("LARDER_STRIPE_WEBHOOK_SECRET is set.")
    : warning(
        "LARDER_STRIPE_WEBHOOK_SECRET is not a signing secret. Signing secrets begin with whsec_ and contain no spaces."
      )
}

const checkEndpoint = Effect.fnUntraced(function* (stripe: Stripe, { isPublic, url }: ConsoleAddress) {
  const path = "/webhooks/stripe"
  const address = isPublic ? `${url}${path}` : `<console>${path}`
  const listed = yield* request(
    () => stripe.webhookEndpoints.list({ limit: 100 }).autoPagingToArray({ limit: 1000 }),
    Schema.Array(Endpoint)
  )
  const matching = listed.filter(({ url }) => (isPublic ? url === address : URL.parse(url)?.pathname === path))
  const enabled = matching.filter(({ status }) => status === "enabled")
  const [missing] = enabled
    .map(({ enabled_events }) =>
      neededEvents.filter((event) => !enabled_events.includes(event) && !enabled_events.includes("*"))
    )
    .toSorted((a, b) => a.length - b.length)
  if (missing?.length === 0) return ok(`Events are sent to ${enabled[0]?.url}.`)
  if (missing !== undefined) {
    return warning(`The endpoint ${address} lacks these events: ${missing.join(", ")}.`)
  }
  const state = matching.length > 0 ? "is disabled: enable it" : "does not exist: create it"
  const events = `for ${neededEvents.join(", ")}`
  return warning(`The endpoint ${address} ${state} in Stripe's dashboard, ${events}.`)
})

const toResults = (outcomes: Readonly<Record<string, Outcome>>): ReadonlyArray<PaymentsCheck> =>
  Object.entries(outcomes).map(([check, outcome]) => ({ check, ...outcome }))

export const checkStripe = Effect.fn("Stripe.check")(function* (settings: StripeSettings, address: ConsoleAddress) {
  const stripe = openStripe(settings)
  const key = checkKey(settings)
  const webhook_secret = checkSecret(settings.webhookSecret && Redacted.value(settings.webhookSecret))
  const retrieved = yield* Effect.result(send(() => stripe.accounts.retrieveCurrent()))
  if (Result.isFailure(retrieved) && !lacksPermission(retrieved.failure.cause)) {
    // every further request would be refused too
    return toResults({ key, account: failed(describeFailure(retrieved.failure.cause)), webhook_secret })
  }
  const headers = Result.isSuccess(retrieved)
    ? retrieved.success.lastResponse.headers
    : readHeaders(retrieved.failure.cause)
  const account = Effect.flatMap(Effect.fromResult(retrieved), (response) =>
    request(() => Promise.resolve(response), Account)
  )
  return toResults({
    key,
    account: yield* reportFailure(
      "the account",
      Effect.map(account, (decoded) => checkAccount(settings, decoded))
    ),
    api_version: checkVersion(headers["stripe-version"]),
    clock: checkClock(headers.date, yield* Clock.currentTimeMillis),
    permissions: yield* reportFailure("payments", checkPermissions(stripe)),
    currency: yield* reportFailure(
      "the account",
      Effect.flatMap(account, (decoded) => checkCurrency(stripe, decoded))
    ),
    checkout: yield* checkCheckout(stripe, address),
    webhook_secret,
    webhook_endpoint: yield* reportFailure("webhook endpoints", checkEndpoint(stripe, address))
  })
})
