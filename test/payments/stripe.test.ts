/** Behaviour of the Stripe adapter that the simulator does not have, over Stripe's wire format. */
import { assert, describe, it } from "@effect/vitest"
import type { PaymentQuery } from "@larder/serve/billing/processor.ts"
import { apiVersion } from "@larder/serve/billing/stripe"
import { makeStripeProcessor } from "@larder/serve/billing/stripe/stripe-processor.ts"
import { Effect, Redacted } from "effect"
import { fillWithSessions, stripeHarnessWithHost } from "./stripe-harness.ts"
import { formatEventBody, sign, webhookSecret } from "./stripe-host.ts"

const now = new Date().toISOString()
const newRequest = (payment_id: string, cents = 5000) => ({ payment_id, account_id: "acct_1", cents, created_at: now })
const page = { email: "ada@example.test", success_url: "http://127.0.0.1:9/paid", cancel_url: "http://127.0.0.1:9/no" }
const query = (payment_id: string, more: Partial<PaymentQuery> = {}): PaymentQuery => ({
  ...newRequest(payment_id),
  reference: null,
  customer: null,
  card: null,
  ...more
})

/** A customer who has paid 50 dollars once, as `pay_1`. */
const afterOnePayment = Effect.gen(function* () {
  const { host, settings, harness } = yield* stripeHarnessWithHost
  const { processor } = harness
  const opened = yield* processor.checkout({ ...newRequest("pay_1"), ...page, customer: null })
  yield* harness.pay("pay_1", "good")
  const retrieved = yield* processor.retrieve(query("pay_1", { reference: opened.reference }))
  if (retrieved?.card == null || retrieved.customer === null) return yield* Effect.die("pay_1 was not paid")
  const saved = { card: retrieved.card.id, customer: retrieved.customer }
  const [intent] = host.state.intents.values()
  if (intent === undefined) return yield* Effect.die("there is no PaymentIntent")
  return { host, settings, harness, processor, opened, saved, intent }
})

describe("Stripe", () => {
  it.live("receives the pinned version of its API with every request", () =>
    Effect.gen(function* () {
      const { host } = yield* afterOnePayment
      assert.deepStrictEqual([...host.versions], [apiVersion])
    })
  )

  it.live("refuses a wrong key, which appears in no message", () =>
    Effect.gen(function* () {
      const { settings } = yield* afterOnePayment
      const wrong = makeStripeProcessor({ ...settings, key: Redacted.make("sk_test_of_somebody_else") })
      const error = yield* Effect.flip(wrong.retrieve(query("pay_1")))
      assert.match(error.message, /^stripe error: the key in LARDER_STRIPE_KEY is refused \(401, request req_/)
      assert.notInclude(JSON.stringify(error), "sk_test")
      assert.notInclude(String(error.cause), "somebody")
    })
  )

  it.live("is unavailable when no server listens, when the connection closes, and when the response is invalid", () =>
    Effect.gen(function* () {
      const { host, processor, saved } = yield* afterOnePayment
      const charge = (id: string) => Effect.flip(processor.charge({ ...newRequest(id), ...saved }))
      host.faults.outage = "closed"
      assert.match((yield* charge("pay_2")).message, /no connection/)
      host.faults.outage = "none"
      host.faults.invalidJson = true
      assert.strictEqual((yield* charge("pay_3"))._tag, "ProcessorUnavailable")
      const found = yield* processor.retrieve(query("pay_3", saved))
      assert.strictEqual(found?.state, "succeeded")
      yield* Effect.promise(host.close)
      assert.match((yield* charge("pay_4")).message, /no connection/)
    })
  )

  it.live("repeats its own error for the same id, and charges nothing", () =>
    Effect.gen(function* () {
      const { host, processor, saved, harness } = yield* afterOnePayment
      host.faults.failNext = true
      const failing = { ...newRequest("pay_2"), ...saved }
      for (const _ of [1, 2]) assert.match((yield* Effect.flip(processor.charge(failing))).message, /500/)
      assert.isUndefined(yield* processor.retrieve(query("pay_2", saved)))
      assert.strictEqual(yield* harness.netCents, 5000)
    })
  )

  it.live("does not charge another amount under a used id", () =>
    Effect.gen(function* () {
      const { processor, saved, harness } = yield* afterOnePayment
      yield* processor.charge({ ...newRequest("pay_2", 1000), ...saved })
      const error = yield* Effect.flip(processor.charge({ ...newRequest("pay_2", 9000), ...saved }))
      assert.strictEqual(error._tag, "ProcessorUnavailable")
      assert.strictEqual(yield* harness.netCents, 6000)
    })
  )

  it.live("reports another amount as received, and another currency as a problem", () =>
    Effect.gen(function* () {
      const { intent, opened, processor } = yield* afterOnePayment
      const retrieved = processor.retrieve(query("pay_1", { reference: opened.reference }))
      intent.received = 4000
      assert.strictEqual((yield* retrieved)?.cents, 4000)
      intent.currency = "eur"
      const inEuros = yield* retrieved
      assert.deepStrictEqual([inEuros?.state, inEuros?.cents], ["succeeded", 0])
      assert.match(inEuros?.problem ?? "", /EUR/)
    })
  )

  it.live("does not accept the reference of another payment", () =>
    Effect.gen(function* () {
      const { opened, processor } = yield* afterOnePayment
      const error = yield* Effect.flip(processor.retrieve(query("pay_2", { reference: opened.reference })))
      assert.match(error.message, /is not the payment pay_2/)
    })
  )

  it.live("creates a new customer if the known one was removed", () =>
    Effect.gen(function* () {
      const { host, processor, saved, harness } = yield* afterOnePayment
      host.state.customers.delete(saved.customer)
      const { reference } = yield* processor.checkout({ ...newRequest("pay_2"), ...page, customer: saved.customer })
      yield* harness.pay("pay_2", "good")
      const retrieved = yield* processor.retrieve(query("pay_2", { reference }))
      assert.strictEqual(retrieved?.state, "succeeded")
      assert.notStrictEqual(retrieved?.customer, saved.customer)
    })
  )

  it.live("opens a page that asks for the e-mail address when Stripe does not accept the known one", () =>
    Effect.gen(function* () {
      const { host, processor, saved, harness } = yield* afterOnePayment
      host.state.customers.delete(saved.customer)
      const localPage = { ...page, email: "ada@mailhost" }
      for (const [id, customer] of [
        ["pay_2", null],
        ["pay_3", saved.customer]
      ] as const) {
        const { reference } = yield* processor.checkout({ ...newRequest(id), ...localPage, customer })
        assert.isNull(host.state.sessions.get(reference)?.email)
        yield* harness.pay(id, "good")
        assert.strictEqual((yield* processor.retrieve(query(id, { reference })))?.state, "succeeded")
      }
    })
  )

  it.live("cancels an old charge that was never confirmed, so that another one can begin", () =>
    Effect.gen(function* () {
      const { host, intent, processor, saved } = yield* afterOnePayment
      const created = Math.floor(Date.now() / 1000)
      const unconfirmed = {
        ...intent,
        id: "pi_half",
        metadata: { payment_id: "pay_2" },
        status: "requires_confirmation"
      } as const
      const charge = query("pay_2", saved)
      host.state.intents.set(unconfirmed.id, { ...unconfirmed, created })
      assert.strictEqual((yield* processor.retrieve(charge))?.state, "open") // it may still be in progress
      host.state.intents.set(unconfirmed.id, { ...unconfirmed, created: created - 1000 })
      const lateQuery = { ...charge, created_at: new Date((created - 1000) * 1000).toISOString() }
      const retrieved = yield* processor.retrieve(lateQuery)
      assert.deepStrictEqual(
        [retrieved?.state, retrieved?.cents, retrieved?.problem],
        ["expired", 0, "The card processor did not finish the payment. Nothing was charged."]
      )
      assert.strictEqual(host.state.intents.get(unconfirmed.id)?.status, "canceled")
      assert.deepStrictEqual(yield* processor.retrieve({ ...lateQuery, reference: unconfirmed.id }), retrieved)
    })
  )

  it.live("reports an expired page as expired, without a payment", () =>
    Effect.gen(function* () {
      const { host, processor } = yield* afterOnePayment
      const { reference } = yield* processor.checkout({ ...newRequest("pay_2"), ...page, customer: null })
      const session = host.state.sessions.get(reference)
      if (session !== undefined) session.status = "expired"
      const retrieved = yield* processor.retrieve(query("pay_2", { reference }))
      assert.deepStrictEqual([retrieved?.state, retrieved?.cents, retrieved?.problem], ["expired", 0, null])
    })
  )

  it.live("finds a payment among 250 others by listing three pages", () =>
    Effect.gen(function* () {
      const { host, processor } = yield* afterOnePayment
      for (let i = 0; i < 250; i++) {
        yield* processor.checkout({ ...newRequest(`pay_other_${i}`), ...page, customer: null })
      }
      host.takeRequests()
      assert.strictEqual((yield* processor.retrieve(query("pay_1")))?.state, "succeeded")
      const lists = host.takeRequests().filter((request) => request === "GET /v1/checkout/sessions")
      assert.strictEqual(lists.length, 3)
    })
  )

  it.live("finds a payment page dated an hour too late, and a charge dated 23 hours too late", () =>
    Effect.gen(function* () {
      const { processor, saved } = yield* afterOnePayment
      yield* processor.charge({ ...newRequest("pay_2"), ...saved })
      const timeAfter = (hours: number) => new Date(Date.parse(now) + hours * 3_600_000 - 60_000).toISOString()
      const page = yield* processor.retrieve(query("pay_1", { created_at: timeAfter(1) }))
      const charge = yield* processor.retrieve(query("pay_2", { ...saved, created_at: timeAfter(23) }))
      assert.deepStrictEqual([page?.state, charge?.state], ["succeeded", "succeeded"])
    })
  )

  it.live("finds a saved card's charge among those of its customer, without listing pages", () =>
    Effect.gen(function* () {
      const { host, processor, saved } = yield* afterOnePayment
      yield* processor.charge({ ...newRequest("pay_2", 3000), ...saved })
      fillWithSessions(host)
      host.takeRequests()
      assert.strictEqual((yield* processor.retrieve(query("pay_2", saved)))?.cents, 3000)
      assert.notInclude(host.takeRequests(), "GET /v1/checkout/sessions")
    })
  )

  it.live("finds the payment of an event without listing pages, even by its charge", () =>
    Effect.gen(function* () {
      const { host, intent, opened, processor } = yield* afterOnePayment
      fillWithSessions(host)
      assert.match((yield* Effect.flip(processor.retrieve(query("pay_1")))).message, /so this one may be missing/)
      for (const reference of [opened.reference, intent.id]) {
        const retrieved = yield* processor.retrieve(query("pay_1", { reference }))
        assert.deepStrictEqual([retrieved?.state, retrieved?.reference], ["succeeded", opened.reference])
      }
    })
  )

  it.live("keeps a payment open after a declined card, even if the event names the charge", () =>
    Effect.gen(function* () {
      const { host, processor, harness } = yield* afterOnePayment
      const { reference } = yield* processor.checkout({ ...newRequest("pay_2"), ...page, customer: null })
      yield* harness.pay("pay_2", "declined")
      const charge = [...host.state.intents.values()].find(({ metadata }) => metadata.payment_id === "pay_2")
      const retrieved = yield* processor.retrieve(query("pay_2", { reference: charge?.id ?? null }))
      assert.deepStrictEqual([retrieved?.state, retrieved?.reference], ["open", reference])
    })
  )

  it.live("deducts nothing for an inquiry, and at most the payment for a dispute", () =>
    Effect.gen(function* () {
      const { host, intent, opened, processor, harness } = yield* afterOnePayment
      const reversed = Effect.map(processor.retrieve(query("pay_1", { reference: opened.reference })), (retrieved) =>
        retrieved?.reversed.map(({ cents, kind, state }) => `${kind} ${cents} ${state}`)
      )
      const id = yield* harness.dispute("pay_1")
      const dispute = host.state.disputes.get(id)
      if (dispute === undefined) return yield* Effect.die("there is no dispute")
      const { movements } = dispute
      dispute.movements = []
      for (const status of ["warning_needs_response", "warning_under_review", "warning_closed", "prevented"]) {
        dispute.status = status
        assert.deepStrictEqual(yield* reversed, [])
      }
      dispute.movements = movements
      assert.deepStrictEqual(yield* reversed, ["dispute 5000 taken"]) // prevented, by returning the money
      intent.received = 4900
      for (const status of ["needs_response", "under_review", "lost", "appeal_under_review"]) {
        dispute.status = status
        assert.deepStrictEqual(yield* reversed, ["dispute 4900 taken"])
      }
      dispute.status = "won"
      assert.deepStrictEqual(yield* reversed, ["dispute 4900 returned"])
    })
  )

  it.live.each(["won", "lost"] as const)("reports a dispute that is open, and then %s", (outcome) =>
    Effect.gen(function* () {
      const { opened, processor, harness } = yield* afterOnePayment
      const reversed = Effect.map(processor.retrieve(query("pay_1", { reference: opened.reference })), (retrieved) =>
        retrieved?.reversed.map(({ cents, is_lost, kind, state }) => ({ cents, is_lost, kind, state }))
      )
      const open = { kind: "dispute", cents: 5000, state: "taken", is_lost: false } as const
      const dispute = yield* harness.dispute("pay_1")
      assert.deepStrictEqual(yield* reversed, [open])
      assert.strictEqual(yield* harness.netCents, 0)
      yield* harness.closeDispute(dispute, outcome)
      const closed = { won: { ...open, state: "returned" }, lost: { ...open, is_lost: true } } as const
      assert.deepStrictEqual(yield* reversed, [closed[outcome]])
      assert.strictEqual(yield* harness.netCents, outcome === "won" ? 5000 : 0)
    })
  )

  it.live("finds the payment of refund and dispute events, which contain only Stripe's ids", () =>
    Effect.gen(function* () {
      const { host, intent, processor, harness } = yield* afterOnePayment
      host.takeEvents()
      yield* harness.failRefund("pay_1", yield* harness.refund("pay_1", 1000))
      yield* harness.closeDispute(yield* harness.dispute("pay_1"), "won")
      const events = host.takeEvents()
      assert.deepStrictEqual(
        events.map(({ type }) => type),
        ["refund.created", "refund.failed", "charge.dispute.created", "charge.dispute.closed"]
      )
      for (const { body, signature } of events) {
        const named = [{ payment_id: "pay_1", reference: intent.id }]
        assert.deepStrictEqual(yield* processor.readEvent(body, () => signature), named)
      }
    })
  )

  it.live("ignores events about other payments and objects", () =>
    Effect.gen(function* () {
      const { processor } = yield* afterOnePayment
      const objects = [
        { object: "customer", id: "cus_1", metadata: {} },
        { object: "charge", id: "ch_1", metadata: {}, payment_intent: "pi_of_a_shop" },
        { object: "charge", id: "ch_1", metadata: {}, payment_intent: null },
        { object: "balance" }
      ]
      for (const object of objects) {
        const body = formatEventBody("some.event", object, Date.now())
        const header = () => sign(webhookSecret, body, Date.now())
        assert.deepStrictEqual(yield* processor.readEvent(body, header), [])
      }
      const notJson = "hello"
      assert.deepStrictEqual(yield* processor.readEvent(notJson, () => sign(webhookSecret, notJson, Date.now())), [])
    })
  )

  it.live("fails for an event during an outage, so that Stripe sends it again", () =>
    Effect.gen(function* () {
      const { host, processor, harness } = yield* afterOnePayment
      host.takeEvents()
      yield* harness.refund("pay_1", 1000)
      const [event] = host.takeEvents()
      yield* harness.outage(true)
      const error = yield* Effect.flip(processor.readEvent(event?.body ?? "", () => event?.signature ?? null))
      assert.strictEqual(error._tag, "ProcessorUnavailable")
    })
  )
})
