/** A real server that charges through a simulated Stripe on this machine, from the form to the credits. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { administer } from "../support/api/operator.ts"
import { readColumn } from "../support/console/pages.ts"
import { startOwnConsole } from "../support/console/served-console.ts"
import type { Environment } from "../support/programs.ts"
import { type StripeHost, sign, startStripeHost, stripeKey, webhookSecret } from "./stripe-host.ts"

let host: StripeHost
beforeAll(async () => {
  host = await startStripeHost()
})
afterAll(() => host.close())

const settings = (more: Environment = {}) => ({
  ...more,
  LARDER_STRIPE_KEY: stripeKey,
  get LARDER_STRIPE_API() {
    return host.url
  }
})
const served = startOwnConsole({ environment: settings({ LARDER_STRIPE_WEBHOOK_SECRET: webhookSecret }) })
const withoutSecret = startOwnConsole({ environment: settings() })

const readBalance = async (account_id: string, { home } = served) =>
  (await administer(home(), (ledger) => ledger.account({ account_id }))).balance_credits

/** Opens the payment page. */
const begin = async ({ signIn } = served) => {
  const { account, browser } = await signIn()
  const sent = await browser.submit("/billing/top-up", { pay_with: "new_card" }, "/billing/top-up?amount=50")
  const session = [...host.state.sessions.values()].find(({ url }) => sent.headers.get("refresh") === `0; url=${url}`)
  if (session === undefined) throw new Error(`${sent.status} does not redirect to a payment page:\n${sent.text}`)
  return { account, browser, sent, session }
}

const sendEvents = async (
  events: ReadonlyArray<{ readonly body: string; readonly signature: string }>,
  { url } = served
) => {
  const responses: Array<{ readonly status: number; readonly text: string }> = []
  for (const { body, signature } of events) {
    const headers = { "content-type": "application/json", "stripe-signature": signature }
    const response = await fetch(`${url()}/webhooks/stripe`, { method: "POST", headers, body })
    responses.push({ status: response.status, text: await response.text() })
  }
  return responses
}

const accepted = { status: 204, text: "" }
const wrongSecret =
  "The signature does not match: LARDER_STRIPE_WEBHOOK_SECRET on the server is not the signing secret (whsec_…) of this webhook endpoint, or the event is not from Stripe.\n"
const noSecret =
  "LARDER_STRIPE_WEBHOOK_SECRET is not set on the server, so events are rejected: set it to the signing secret (whsec_…) of this webhook endpoint.\n"

const refusedEvents = async () => {
  const text = await (await fetch(`${served.url()}/metrics`)).text()
  return Number(/^larder_webhook_events_total{outcome="refused"} (\d+)$/m.exec(text)?.[1])
}

describe("a server with a key of Stripe", () => {
  it("redirects to Stripe's page, and adds the credits when the customer returns", async () => {
    const { account, browser, session } = await begin()
    host.state.pay(session, "good")
    const { pathname } = new URL(session.success_url)
    expect((await browser.get(pathname)).status).toBe(200)
    expect(await readBalance(account.id)).toBe(55_000)
    expect((await browser.get("/billing")).text).toContain("4242")
  })

  it("redirects to any host of Stripe's page, although forms may only be sent to the console", async () => {
    const { sent, session } = await begin()
    expect(sent.status).toBe(200)
    expect(sent.text).toContain(`href="${session.url}">Continue</a>`)
    expect(sent.headers.get("content-security-policy")).toContain("form-action 'self';")
  })

  it("adds the credits once for repeated events, and deducts them for a dispute until it is won", async () => {
    const { account, session } = await begin()
    host.takeEvents()
    host.state.pay(session, "good")
    const paid = host.takeEvents()
    expect(await sendEvents([...paid.toReversed(), ...paid])).toEqual(Array(paid.length * 2).fill(accepted))
    expect(await readBalance(account.id)).toBe(55_000)
    if (session.intent === null) throw new Error("the page was not paid")
    const dispute = host.state.dispute(session.intent)
    await sendEvents(host.takeEvents())
    expect(await readBalance(account.id)).toBe(5000)
    host.state.close(dispute, "won")
    await sendEvents(host.takeEvents())
    expect(await readBalance(account.id)).toBe(55_000)
  })

  it("states on the console's pages that a disputed payment is held, and deducts it in the receipt", async () => {
    const { browser, session } = await begin()
    host.state.pay(session, "good")
    if (session.intent === null) throw new Error("the page was not paid")
    host.state.dispute(session.intent)
    const page = new URL(session.success_url).pathname
    const { text } = await browser.get(page)
    expect(text).toContain(
      "$50.00 of it is held until the bank decides the dispute, and 50,000 credits were deducted from your balance. If the dispute is won, the credits for the amount held are added again."
    )
    const receipt = await browser.get(`${page}/receipt`)
    expect(readColumn(receipt.text, 1)).toEqual(["50,000", "−50,000", "0"])
    expect(readColumn(receipt.text, 2)).toEqual(["$50.00", "−$50.00", "$0.00"])
    expect(readColumn((await browser.get("/billing/payments")).text, 3)).toEqual(["Disputed"])
    const ledger = await browser.get("/billing/ledger?what=refunds")
    const id = page.split("/").at(-1) ?? ""
    expect(readColumn(ledger.text, 2)).toEqual([`$50.00 of payment ${id.slice(0, 8)}…${id.slice(8)}: dispute`])
    expect(ledger.text).toContain(`href="${page}"`)
  })

  it("rejects events that Stripe has not signed, with the reason in one line, counts them, and logs a warning once", async () => {
    const { account, session } = await begin()
    const before = await refusedEvents()
    host.takeEvents()
    host.state.pay(session, "good")
    const forged = host
      .takeEvents()
      .map(({ body }) => ({ body, signature: sign("whsec_of_another_endpoint", body, Date.now()) }))
    expect(await sendEvents(forged)).toEqual(forged.map(() => ({ status: 400, text: wrongSecret })))
    expect(forged.length).toBeGreaterThan(1)
    expect((await refusedEvents()) - before).toBe(forged.length)
    const logged = served
      .logs()
      .match(/An event was rejected \(\d+ since the start\): The signature does not match: .*secret/g)
    expect(logged).toHaveLength(1)
    expect(await readBalance(account.id)).toBe(5000)
  })

  it("has no simulator, and writes no key and no secret to the log", async () => {
    const { browser } = await served.signIn({ is_operator: true })
    for (const path of ["/simulator", "/simulator/checkout/sim_pay_1"]) {
      expect((await browser.get(path)).status).toBe(404)
    }
    expect(served.logs()).not.toMatch(/sk_test|whsec_\w/)
  })

  it("warns at its start that a test key takes no money", () => {
    expect(served.logs()).toContain("Card payments run in Stripe's test mode: LARDER_STRIPE_KEY is a test key")
  })
})

describe("a server with a key of Stripe but without the webhook secret", () => {
  it("warns about the missing secret, rejects events, and adds the credits when the customer returns", async () => {
    expect(withoutSecret.logs()).toMatch(/LARDER_STRIPE_WEBHOOK_SECRET is not set, so Stripe's events are rejected: /)
    const { account, browser, session } = await begin(withoutSecret)
    host.takeEvents()
    host.state.pay(session, "good")
    const events = host.takeEvents()
    expect(await sendEvents(events, withoutSecret)).toEqual(events.map(() => ({ status: 400, text: noSecret })))
    expect(await readBalance(account.id, withoutSecret)).toBe(5000)
    expect((await browser.get(new URL(session.success_url).pathname)).status).toBe(200)
    expect(await readBalance(account.id, withoutSecret)).toBe(55_000)
  })
})
