/**
 * Sends every request of Larder to Stripe, with every parameter, to Stripe's own mock, which refuses what is not in Stripe's
 * OpenAPI description. Which parameters exclude each other is not part of it: see `payments/stripe-rules.ts`.
 * Needs Go to build the mock, which takes about a minute the first time.
 */
import { assert, it } from "@effect/vitest"
import type { PaymentQuery } from "@larder/serve/billing/processor.ts"
import { apiVersion, checkStripe } from "@larder/serve/billing/stripe"
import { CheckoutSession, Dispute, PaymentIntent, PaymentMethod, Refund } from "@larder/serve/billing/stripe/api.ts"
import { Effect, Redacted, Schema } from "effect"
import { parseParams } from "../payments/stripe-form.ts"
import { stripeHarnessWithHost } from "../payments/stripe-harness.ts"
import type { SentRequest, StripeHost } from "../payments/stripe-host.ts"
import { hasGo, startStripeMock } from "../payments/stripe-mock.ts"
import { findKnownName, knownParameters, listNames, parseRequest } from "../payments/stripe-rules.ts"

const listOf = <A, I>(item: Schema.Codec<A, I>) => Schema.Struct({ data: Schema.Array(item) })

/** What Larder reads from the responses. */
const responseSchemas: Readonly<Record<string, Schema.Codec<unknown, unknown>>> = {
  "POST checkout/sessions": CheckoutSession,
  "GET checkout/sessions": listOf(CheckoutSession),
  "GET checkout/sessions :id": CheckoutSession,
  "POST checkout/sessions :id expire": CheckoutSession,
  "POST payment_intents": PaymentIntent,
  "GET payment_intents": listOf(PaymentIntent),
  "GET payment_intents :id": PaymentIntent,
  "POST payment_intents :id cancel": PaymentIntent,
  "GET refunds": listOf(Refund),
  "GET disputes": listOf(Dispute),
  "GET payment_methods :id": PaymentMethod,
  "POST payment_methods :id detach": PaymentMethod
}

const now = new Date().toISOString()
const larder = { url: "https://console.example.com", isPublic: true }
const newRequest = (payment_id: string, cents = 5000) => ({ payment_id, account_id: "acct_1", cents, created_at: now })
const page = { email: "ada@example.com", success_url: `${larder.url}/paid`, cancel_url: `${larder.url}/left` }
const query = (payment_id: string, more: Partial<PaymentQuery> = {}): PaymentQuery => ({
  ...newRequest(payment_id),
  ...{ reference: null, customer: null, card: null },
  ...more
})

/** More than one page of everything that is listed to its end. */
const fill = ({ account, state }: StripeHost) => {
  const [[session], [intent]] = [[...state.sessions.values()], [...state.intents.values()]]
  if (session === undefined || intent === undefined) throw new Error("there is no payment")
  const dispute = state.dispute(intent)
  state.close(dispute, "won")
  for (let i = 0; i < 101; i++) {
    state.refund(intent, 1)
    state.disputes.set(`du_${i}`, { ...dispute, id: `du_${i}` })
    state.sessions.set(`cs_test_${i}`, { ...session, id: `cs_test_${i}`, metadata: {} })
    state.intents.set(`pi_${i}`, { ...intent, id: `pi_${i}`, metadata: {} })
  }
  const endpoint = { url: `${larder.url}/webhooks/stripe`, status: "enabled", enabled_events: ["*"] } as const
  account.endpoints = Array.from({ length: 101 }, () => endpoint)
}

/** Sends every request to the test's own host, which stores what it receives; Stripe's mock does not. */
const sendEveryRequest = Effect.gen(function* () {
  const { host, settings, harness } = yield* stripeHarnessWithHost
  const { processor } = harness
  const { reference } = yield* processor.checkout({ ...newRequest("pay_1"), ...page, customer: null })
  yield* harness.pay("pay_1", "good")
  const retrieved = yield* processor.retrieve(query("pay_1", { reference }))
  const saved = { card: retrieved?.card?.id ?? "", customer: retrieved?.customer ?? "" }
  const [intent] = host.state.intents.values()
  if (intent === undefined) return yield* Effect.die("there is no payment")
  fill(host)
  yield* processor.charge({ ...newRequest("pay_2"), ...saved })
  for (const lost of [query("pay_1"), query("pay_2", saved), query("pay_1", { reference: intent.id })]) {
    assert.strictEqual((yield* processor.retrieve(lost))?.state, "succeeded")
  }
  const unconfirmed = { ...intent, id: "pi_half", metadata: { payment_id: "pay_3" }, created: intent.created - 1000 }
  host.state.intents.set(unconfirmed.id, { ...unconfirmed, status: "requires_confirmation" })
  yield* processor.retrieve(query("pay_3", { ...saved, reference: unconfirmed.id }))
  const abandoned = yield* processor.checkout({ ...newRequest("pay_4"), ...page, customer: saved.customer })
  assert.strictEqual((yield* processor.expireCheckout(query("pay_4", abandoned)))?.state, "expired")
  yield* processor.detachCard(saved.card)
  assert.strictEqual((yield* processor.charge({ ...newRequest("pay_5"), ...saved })).state, "failed")
  host.state.customers.delete(saved.customer)
  yield* processor.checkout({ ...newRequest("pay_6"), ...page, customer: saved.customer })
  yield* checkStripe(settings, larder)
  return host.takeWholeRequests()
})

const sendToMock = async (mock: string, { body, method, path, query }: SentRequest) => {
  const headers = {
    authorization: "Bearer sk_test_123",
    "content-type": "application/x-www-form-urlencoded",
    "stripe-version": apiVersion
  }
  const response = await fetch(`${mock}${path}${query}`, { method, headers, ...(method === "POST" && { body }) })
  return { status: response.status, text: await response.text() }
}

it.live("every request that Larder sends is known, with every parameter", () =>
  Effect.gen(function* () {
    const sent = yield* sendEveryRequest
    const sentNames = sent.flatMap(({ body, method, path, query }) => {
      const { name } = parseRequest(method, path)
      const names = listNames(parseParams(method === "GET" ? query.slice(1) : body))
      return [name, ...names.map((param) => `${name} ${findKnownName(name, param)}`)]
    })
    const expected = Object.entries(knownParameters).flatMap(([name, params]) => [
      name,
      ...params.map((param) => `${name} ${param}`)
    ])
    assert.deepStrictEqual([...new Set(sentNames)].toSorted(), expected.toSorted())
  })
)

if (!hasGo()) console.warn("Go is not installed: no request is compared with Stripe's OpenAPI description.")
else {
  it.live(
    "Stripe's OpenAPI description contains every request that Larder sends, and the responses that Larder reads",
    () =>
      Effect.gen(function* () {
        const sent = yield* sendEveryRequest
        const mock = yield* Effect.acquireRelease(Effect.promise(startStripeMock), ({ stop }) => Effect.sync(stop))
        for (const request of sent) {
          const { name } = parseRequest(request.method, request.path)
          const { status, text } = yield* Effect.promise(() => sendToMock(mock.url, request))
          assert.strictEqual(status, 200, `${name}\n${request.query}${request.body}\n${text}`)
          const schema = responseSchemas[name]
          if (schema !== undefined) yield* Schema.decodeUnknownEffect(schema)(JSON.parse(text))
        }
        const settings = {
          key: Redacted.make("sk_test_123"),
          webhookSecret: undefined,
          isTest: true,
          api: new URL(mock.url)
        }
        const findings = yield* checkStripe(settings, larder)
        assert.deepStrictEqual(
          findings.filter(({ text }) => text.includes("the response is invalid")),
          []
        )
        const wrong = { method: "POST", path: "/v1/checkout/sessions", query: "", body: "payment_method_types[0]=card" }
        assert.strictEqual((yield* Effect.promise(() => sendToMock(mock.url, wrong))).status, 400)
      })
  )
}
