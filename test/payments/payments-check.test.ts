/** `larder-serve payments check`: its requests to Stripe, its findings, and its exit codes. */
import { checkStripe } from "@larder/serve/billing/stripe"
import { Clock, Effect, Redacted } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { withClockAhead } from "../support/clock-ahead.ts"
import { type Environment, run } from "../support/programs.ts"
import { openAccount } from "./stripe-account.ts"
import { liveKey, type StripeHost, startStripeHost, stripeKey, webhookSecret } from "./stripe-host.ts"

let host: StripeHost
beforeAll(async () => {
  host = await startStripeHost()
})
afterAll(() => host.close())

const check = (environment: Environment, flags: ReadonlyArray<string> = []) =>
  run("larder-serve", ["payments", "check", ...flags], { LARDER_STRIPE_API: host.url, ...environment })

const complete = {
  LARDER_STRIPE_KEY: liveKey,
  LARDER_STRIPE_WEBHOOK_SECRET: webhookSecret,
  LARDER_CONSOLE_URL: "https://console.example.com"
}

describe("larder-serve payments check", () => {
  it("exits with 0 when every check is ok, and leaves no open payment page", async () => {
    host.account.endpoints = [
      { url: "https://console.example.com/webhooks/stripe", status: "enabled", enabled_events: ["*"] }
    ]
    host.takeRequests()
    const { code, stderr, stdout } = await check(complete, ["--json"])
    expect([code, stderr]).toEqual([0, ""])
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ payments: "live", api_version: "2026-10-28.endive", state: "ok" })
    expect(report.checks.map(({ check, state }: Record<string, string>) => `${check} ${state}`)).toEqual([
      "key ok",
      "account ok",
      "api_version ok",
      "clock ok",
      "permissions ok",
      "currency ok",
      "checkout ok",
      "webhook_secret ok",
      "webhook_endpoint ok"
    ])
    expect(host.takeRequests().filter((request) => request.startsWith("POST"))).toEqual([
      "POST /v1/checkout/sessions",
      expect.stringMatching(/^POST \/v1\/checkout\/sessions\/cs_test_\w+\/expire$/)
    ])
    const [session, ...others] = host.state.sessions.values()
    expect([session?.status, session?.success_url, others]).toEqual(["expired", "https://console.example.com/", []])
    expect(session?.metadata.payment_id).toBeUndefined() // so its events name no payment of this ledger
  })

  it("exits with 4 when payments work and something is missing, and prints no secret", async () => {
    host.account.endpoints = []
    const { code, problems, stdout } = await check({ LARDER_STRIPE_KEY: stripeKey })
    expect(code).toBe(4)
    expect(stdout).toMatch(/^warning +key +.*a test key: only test cards are accepted/m)
    expect(stdout).toMatch(/^ok +checkout +/m)
    expect(stdout).toMatch(/^warning +webhook_secret +LARDER_STRIPE_WEBHOOK_SECRET is not set/m)
    expect(stdout).toMatch(/^warning +webhook_endpoint +.*checkout\.session\.completed/m)
    expect(problems).toBe(
      "larder-serve: Payments work, but something is missing: key, webhook_secret, webhook_endpoint\n"
    )
  })

  it("exits with 1 when payments do not work, even with --json, and prints no secret", async () => {
    host.faults.wrongKey = true
    const { code, problems, stderr, stdout } = await check(complete, ["--json"])
    host.faults.wrongKey = false
    expect(code).toBe(1)
    const { checks, state } = JSON.parse(stdout)
    expect([state, checks[1].check, checks[1].state]).toEqual(["failed", "account", "failed"])
    expect(checks[1].text).toMatch(/^the key in LARDER_STRIPE_KEY is refused \(401/)
    expect(problems).toBe("larder-serve: Payments do not work: account\n")
    expect(stdout + stderr).not.toMatch(/sk_|whsec_\w/)
  })

  it("exits with 1 when payments are simulated or the settings contradict each other, and sends no request", async () => {
    host.takeRequests()
    const simulated = await check({}, ["--json"])
    expect([simulated.code, JSON.parse(simulated.stdout).payments]).toEqual([1, "simulated"])
    const { code, stdout } = await check({ LARDER_STRIPE_KEY: "pk_live_0123456789" })
    expect([code, host.takeRequests()]).toEqual([1, []])
    expect(stdout).toMatch(/^failed +settings +LARDER_STRIPE_KEY is not a Stripe secret key/)
    expect(stdout).not.toContain("0123456789")
  })
})

describe("a check of payments", () => {
  const address = { url: "https://console.example.com", isPublic: true }
  const runCheck = async (
    {
      clock,
      isTest = false,
      ...others
    }: { readonly clock?: Clock.Clock; readonly isTest?: boolean } & Partial<Parameters<typeof checkStripe>[1]> = {},
    secret = webhookSecret
  ) => {
    const work = checkStripe(
      {
        key: Redacted.make(isTest ? stripeKey : liveKey),
        webhookSecret: Redacted.make(secret),
        isTest,
        api: new URL(host.url)
      },
      { ...address, ...others }
    )
    const findings = await Effect.runPromise(
      clock === undefined ? work : Effect.provideService(work, Clock.Clock, clock)
    )
    return findings.filter(({ state }) => state !== "ok").map(({ check, state, text }) => `${state} ${check}: ${text}`)
  }
  const enabled = {
    url: "https://console.example.com/webhooks/stripe",
    status: "enabled",
    enabled_events: ["*"]
  } as const

  beforeEach(() => {
    Object.assign(host.account, openAccount(), { endpoints: [enabled] })
    host.faults.forbidden.clear()
    host.faults.refusal = undefined
    host.faults.outage = "none"
    host.faults.missingHeaders = []
  })

  it("finds an account that cannot take payments, which matters only with a live key", async () => {
    host.account.charges_enabled = false
    const reason =
      "acct_loopback cannot take payments: charges are not enabled. Finish its activation in Stripe's dashboard."
    expect(await runCheck()).toEqual([`failed account: ${reason}`])
    expect(await runCheck({ isTest: true })).toEqual([expect.stringMatching(/^warning key: /)])
    Object.assign(host.account, { charges_enabled: true, card_payments: "pending" })
    expect(await runCheck()).toEqual([expect.stringMatching(/^failed account: .* its card payments are pending\./)])
  })

  it("finds an account whose customers cannot pay in US dollars", async () => {
    Object.assign(host.account, { country: "XX", default_currency: "eur", payable: ["eur"] })
    expect(await runCheck()).toEqual(["failed currency: Customers of an account in XX cannot pay in US dollars."])
  })

  it("finds that Stripe refuses a payment page, with Stripe's message", async () => {
    host.faults.refusal = "No valid payment method types for this Checkout Session."
    expect(await runCheck()).toEqual([expect.stringMatching(/^failed checkout: 400 .*No valid payment method types/)])
  })

  it("finds the permissions that a restricted key lacks, except those that it does not need", async () => {
    for (const kind of ["disputes", "refunds", "account", "webhook_endpoints"]) host.faults.forbidden.add(kind)
    expect(await runCheck()).toEqual([
      "warning account: The key does not have permission to read the account, so this was not checked.",
      "failed permissions: The key lacks permission to read: Refunds, Disputes. Grant these permissions in Stripe's dashboard.",
      "warning currency: The key does not have permission to read the account, so this was not checked.",
      "warning webhook_endpoint: The key does not have permission to read webhook endpoints, so this was not checked."
    ])
  })

  it("finds a webhook endpoint that is elsewhere, disabled or lacks events, and a malformed secret", async () => {
    host.account.endpoints = [{ ...enabled, url: "https://elsewhere.example.com/webhooks/stripe" }]
    expect(await runCheck()).toEqual([expect.stringMatching(/^warning webhook_endpoint: .* does not exist: create it/)])
    expect(await runCheck({ isPublic: false })).toEqual([]) // without LARDER_CONSOLE_URL, any host is accepted
    host.account.endpoints = [{ ...enabled, status: "disabled" }]
    expect(await runCheck()).toEqual([expect.stringMatching(/^warning webhook_endpoint: .* is disabled: enable it/)])
    host.account.endpoints = [
      { ...enabled, enabled_events: ["checkout.session.completed", "checkout.session.expired", "refund.created"] }
    ]
    expect(await runCheck({}, "sk_live_instead")).toEqual([
      "warning webhook_secret: LARDER_STRIPE_WEBHOOK_SECRET is not a signing secret. Signing secrets begin with whsec_ and contain no spaces.",
      "warning webhook_endpoint: The endpoint https://console.example.com/webhooks/stripe lacks these events: payment_intent.succeeded, payment_intent.payment_failed, payment_intent.canceled, refund.updated, refund.failed, charge.dispute.created, charge.dispute.updated, charge.dispute.closed, charge.dispute.funds_withdrawn, charge.dispute.funds_reinstated."
    ])
  })

  it("finds that the clock is an hour ahead", async () => {
    const clock = await Effect.runPromise(withClockAhead("1 hour")(Clock.Clock))
    expect(await runCheck({ clock })).toEqual([
      expect.stringMatching(
        /^warning clock: This machine's clock is 3\d{3} seconds ahead of Stripe's: events are rejected/
      )
    ])
  })

  it("warns that the clock and the version were not checked if the response does not state them", async () => {
    host.faults.missingHeaders = ["date", "stripe-version"]
    expect(await runCheck()).toEqual([
      "warning api_version: Stripe's response does not state its API version, so it was not checked.",
      "warning clock: Stripe's response states no time, so this machine's clock was not checked."
    ])
  })

  it("sends no further request after Stripe could not be reached", async () => {
    host.faults.outage = "503"
    host.takeRequests()
    expect(await runCheck()).toEqual([expect.stringMatching(/^failed account: 503/)])
    expect(host.takeRequests()).toEqual(["GET /v1/account"])
  })
})
