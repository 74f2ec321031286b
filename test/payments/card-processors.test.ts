/** Contract tests for card processors, run against the simulator, on both databases, and Stripe. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { RetrievedPayment } from "@larder/serve/billing/processor.ts"
import type { TestCardName } from "@larder/serve/billing/simulator/test-cards.ts"
import { postgresConsole } from "@larder/serve/ledger"
import { allTables, ConsoleDatabase } from "@larder/serve/persistence"
import { Clock, Context, Effect, Layer, Redacted, type Scope } from "effect"
import { inject } from "vitest"
import { oncePerFile } from "../support/once-per-file.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { consoleIn } from "../support/serve/sqlite-console.ts"
import type { ProcessorHarness } from "./processor-harness.ts"
import { simulatorHarness } from "./simulator-harness.ts"
import { adjustableClock } from "./stores.ts"
import { stripeHarness } from "./stripe-harness.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-processor-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

/** Opened once for the file, because that is slow. Every test starts with empty tables. */
const onSharedDatabase = (opened: Effect.Effect<Context.Context<ConsoleDatabase>, unknown, Scope.Scope>) => {
  const shared = oncePerFile(opened)
  return Effect.gen(function* () {
    const services = yield* shared
    const { run } = Context.get(services, ConsoleDatabase)
    yield* Effect.forEach(allTables, (table) => run(`delete from console.${table}`), { discard: true })
    return yield* Effect.provide(simulatorHarness, services)
  })
}

const harnesses: Readonly<Record<string, Effect.Effect<ProcessorHarness, unknown, Scope.Scope>>> = {
  "the simulator in a folder": onSharedDatabase(
    Effect.flatMap(folder, (directory) => Layer.build(consoleIn(directory)))
  ),
  "the simulator in PostgreSQL": onSharedDatabase(
    Effect.flatMap(
      Effect.promise(() => newDatabase(inject("postgresUrl"))),
      (url) => Layer.build(postgresConsole(Redacted.make(url)))
    )
  ),
  Stripe: stripeHarness
}

const email = "ada@example.test"
const urls = { success_url: "http://127.0.0.1:9/paid", cancel_url: "http://127.0.0.1:9/billing" }

const withHelpers = (harness: ProcessorHarness) => {
  const { retrieve } = harness.processor
  const newPayment = (payment_id: string, cents: number) =>
    Effect.map(Clock.currentTimeMillis, (now) => ({
      payment_id,
      account_id: "acct_1",
      cents,
      created_at: new Date(now).toISOString()
    }))
  const checkout = Effect.fnUntraced(function* (payment_id: string, cents: number, customer: string | null = null) {
    const request = yield* newPayment(payment_id, cents)
    return { request, opened: yield* harness.processor.checkout({ ...request, email, customer, ...urls }) }
  })
  /** Pays on the payment page, and retrieves the payment. */
  const buy = Effect.fnUntraced(function* (payment_id: string, cents: number, card: TestCardName) {
    const { request, opened } = yield* checkout(payment_id, cents)
    yield* harness.pay(payment_id, card)
    const retrieved = yield* retrieve({ ...request, reference: opened.reference, customer: null, card: null })
    assert.isDefined(retrieved)
    return retrieved
  })
  /** Saves a card by paying with it, then charges it off-session. */
  const charge = Effect.fnUntraced(function* (payment_id: string, cents: number, card: TestCardName) {
    const { card: saved, customer } = yield* buy(`pay_of_${payment_id}`, 1000, card)
    assert.isNotNull(saved)
    assert.isNotNull(customer)
    const request = { ...(yield* newPayment(payment_id, cents)), customer: customer ?? "", card: saved?.id ?? "" }
    return { request, charged: yield* Effect.result(harness.processor.charge(request)) }
  })
  const retrieveAgain = ({ reference }: RetrievedPayment, payment_id: string, cents: number) =>
    Effect.flatMap(newPayment(payment_id, cents), (request) =>
      retrieve({ ...request, reference, customer: null, card: null })
    )
  return { ...harness, newPayment, checkout, buy, charge, retrieveAgain, retrieve }
}
type TestCheckout = ReturnType<typeof withHelpers>

interface Summary extends Pick<RetrievedPayment, "state" | "cents" | "problem"> {
  readonly reversed: ReadonlyArray<string>
}
const summarise = ({ cents, problem, reversed, state }: RetrievedPayment): Summary => ({
  state,
  cents,
  problem,
  reversed: reversed.map(({ cents, kind, state }) => `${kind} ${cents} ${state}`)
})
const paid = (cents: number, ...reversed: ReadonlyArray<string>): Summary => ({
  state: "succeeded",
  cents,
  problem: null,
  reversed
})

describe.each(Object.entries(harnesses))("%s", (_, harness) => {
  const test = (name: string, work: (checkout: TestCheckout) => Effect.Effect<void, unknown, Scope.Scope>) =>
    it.live(name, () => Effect.scoped(Effect.flatMap(harness, (harness) => work(withHelpers(harness)))))

  test("accepts a payment on its page, and saves the card", ({ buy, netCents }) =>
    Effect.gen(function* () {
      const retrieved = yield* buy("pay_1", 5000, "good")
      assert.deepStrictEqual(summarise(retrieved), paid(5000))
      assert.deepStrictEqual([retrieved.card?.brand, retrieved.card?.last4], ["visa", "4242"])
      assert.match(retrieved.card?.expires ?? "", /^\d\d\/20\d\d$/)
      assert.isNotNull(retrieved.customer)
      assert.strictEqual(yield* netCents, 5000)
    }))

  test("keeps a payment open until it is paid, even after a decline", ({ buy, checkout, retrieve, pay }) =>
    Effect.gen(function* () {
      const { request, opened } = yield* checkout("pay_1", 5000)
      const query = { ...request, reference: opened.reference, customer: null, card: null }
      const open = { state: "open" as const, cents: 0, problem: null, reversed: [] }
      assert.deepStrictEqual(summarise((yield* retrieve(query)) ?? (yield* Effect.die("none"))), open)
      yield* pay("pay_1", "declined")
      assert.deepStrictEqual(summarise((yield* retrieve(query)) ?? (yield* Effect.die("none"))), open)
      yield* pay("pay_1", "mastercard")
      assert.deepStrictEqual(summarise((yield* retrieve(query)) ?? (yield* Effect.die("none"))), paid(5000))
      yield* buy("pay_2", 1000, "amex")
    }))

  test("charges once even if the customer submits the payment page twice", ({
    checkout,
    netCents,
    pay,
    paid: payments
  }) =>
    Effect.gen(function* () {
      const first = yield* checkout("pay_1", 5000)
      yield* pay("pay_1", "good")
      yield* pay("pay_1", "good")
      assert.strictEqual(yield* netCents, 5000)
      assert.strictEqual(yield* payments, 1)
      assert.match(first.opened.url, /^http/)
    }))

  test("charges a saved card off-session, once for each payment id", ({
    charge,
    netCents,
    paid: payments,
    processor
  }) =>
    Effect.gen(function* () {
      const { request, charged } = yield* charge("pay_1", 10_000, "good")
      const retrieved = yield* Effect.fromResult(charged)
      assert.deepStrictEqual(summarise(retrieved), paid(10_000))
      assert.strictEqual(retrieved.card?.id, request.card)
      assert.deepStrictEqual(yield* processor.charge(request), retrieved)
      assert.strictEqual(yield* netCents, 11_000)
      assert.strictEqual(yield* payments, 2)
    }))

  test("charges once for eight concurrent requests with the same payment id", ({ charge, netCents, processor }) =>
    Effect.gen(function* () {
      const { request } = yield* charge("pay_1", 10_000, "good")
      const repeated = { ...request, payment_id: "pay_2" }
      const all = yield* Effect.all(
        Array.from({ length: 8 }, () => Effect.result(processor.charge(repeated))),
        { concurrency: 8 }
      )
      assert.isTrue(all.some(({ _tag }) => _tag === "Success"))
      assert.strictEqual(yield* netCents, 21_000)
    }))

  const declines: ReadonlyArray<readonly [TestCardName, string]> = [
    ["declined_later", "The card was declined."],
    [
      "owner_always",
      "The card's bank requires authentication. To pay with it, choose “Pay with another card” and enter it again."
    ]
  ]
  for (const [card, problem] of declines) {
    test(`reports why charging a saved card failed: ${card}`, ({ charge, netCents, retrieve }) =>
      Effect.gen(function* () {
        const { request, charged } = yield* charge("pay_1", 10_000, card)
        const failed = { state: "failed" as const, cents: 0, problem, reversed: [] }
        const retrieved = yield* Effect.fromResult(charged)
        assert.deepStrictEqual(summarise(retrieved), failed)
        const query = { ...request, reference: retrieved.reference }
        assert.deepStrictEqual(summarise((yield* retrieve(query)) ?? retrieved), failed)
        assert.strictEqual(yield* netCents, 1000)
      }))
  }

  test("charges a card off-session after one confirmation", ({ charge }) =>
    Effect.gen(function* () {
      const { charged } = yield* charge("pay_1", 10_000, "owner_once")
      assert.deepStrictEqual(summarise(yield* Effect.fromResult(charged)), paid(10_000))
    }))

  test("does not charge a removed card, and removes the same card twice without an error", ({
    charge,
    netCents,
    processor
  }) =>
    Effect.gen(function* () {
      const { request } = yield* charge("pay_1", 10_000, "good")
      yield* processor.detachCard(request.card)
      yield* processor.detachCard(request.card)
      yield* processor.detachCard("pm_unknown")
      const retrieved = yield* processor.charge({ ...request, payment_id: "pay_2" })
      assert.strictEqual(retrieved.state, "failed")
      assert.match(retrieved.problem ?? "", /no longer saved/)
      assert.strictEqual(yield* netCents, 11_000)
    }))

  test("recovers a charge by its payment id after its response was lost", ({
    charge,
    netCents,
    retrieve,
    loseNextResponse,
    processor
  }) =>
    Effect.gen(function* () {
      const { request } = yield* charge("pay_1", 10_000, "good")
      yield* loseNextResponse
      const lost = { ...request, payment_id: "pay_2", cents: 2000 }
      assert.strictEqual((yield* Effect.flip(processor.charge(lost)))._tag, "ProcessorUnavailable")
      const found = yield* retrieve({ ...lost, reference: null })
      assert.deepStrictEqual(found && summarise(found), paid(2000))
      assert.deepStrictEqual(yield* processor.charge(lost), found)
      assert.strictEqual(yield* netCents, 13_000)
    }))

  test("recovers a payment page by its payment id after its response was lost", ({
    newPayment,
    retrieve,
    loseNextResponse,
    pay,
    processor
  }) =>
    Effect.gen(function* () {
      yield* loseNextResponse
      const request = yield* newPayment("pay_1", 5000)
      const lost = yield* Effect.flip(processor.checkout({ ...request, email, customer: null, ...urls }))
      assert.strictEqual(lost._tag, "ProcessorUnavailable")
      const query = { ...request, reference: null, customer: null, card: null }
      assert.strictEqual((yield* retrieve(query))?.state, "open")
      yield* pay("pay_1", "good")
      const found = yield* retrieve(query)
      assert.deepStrictEqual(found && summarise(found), paid(5000))
    }))

  test("rejects a payment on an expired page", ({ checkout, netCents, retrieve, pay, processor }) =>
    Effect.gen(function* () {
      const { request, opened } = yield* checkout("pay_1", 5000)
      const query = { ...request, reference: opened.reference, customer: null, card: null }
      const expired = yield* processor.expireCheckout({ ...query, reference: null })
      assert.deepStrictEqual(expired && summarise(expired), { state: "expired", cents: 0, problem: null, reversed: [] })
      assert.deepStrictEqual(yield* processor.expireCheckout(query), expired)
      yield* Effect.exit(pay("pay_1", "good"))
      assert.deepStrictEqual(yield* retrieve(query), expired)
      assert.strictEqual(yield* netCents, 0)
    }))

  test("keeps a payment that was made before its page expired", ({ checkout, pay, processor }) =>
    Effect.gen(function* () {
      const { request, opened } = yield* checkout("pay_1", 5000)
      yield* pay("pay_1", "good")
      const expired = yield* processor.expireCheckout({
        ...request,
        reference: opened.reference,
        customer: null,
        card: null
      })
      assert.deepStrictEqual(expired && summarise(expired), paid(5000))
      assert.isUndefined(
        yield* processor.expireCheckout({
          ...request,
          payment_id: "pay_9",
          reference: null,
          customer: null,
          card: null
        })
      )
    }))

  test("finds nothing for a payment that was never requested", ({ newPayment, retrieve }) =>
    Effect.gen(function* () {
      const request = yield* newPayment("pay_9", 5000)
      for (const card of [null, "pm_1"]) {
        assert.isUndefined(yield* retrieve({ ...request, reference: null, customer: null, card }))
      }
    }))

  test("fails during an outage, and works again after it", ({ charge, netCents, retrieve, outage, processor }) =>
    Effect.gen(function* () {
      const { request } = yield* charge("pay_1", 10_000, "good")
      yield* outage(true)
      const next = { ...request, payment_id: "pay_2" }
      const query = { ...next, reference: null }
      for (const work of [processor.charge(next), retrieve(query), processor.detachCard(request.card)]) {
        assert.strictEqual(
          (yield* Effect.flip<unknown, { readonly _tag: string }, never>(work))._tag,
          "ProcessorUnavailable"
        )
      }
      yield* outage(false)
      assert.isUndefined(yield* retrieve(query))
      assert.deepStrictEqual(summarise(yield* processor.charge(next)), paid(10_000))
      assert.strictEqual(yield* netCents, 21_000)
    }))

  test("reports refunds, including failed ones", ({ buy, failRefund, netCents, retrieveAgain, refund }) =>
    Effect.gen(function* () {
      const retrieved = yield* buy("pay_1", 5000, "good")
      const part = yield* refund("pay_1", 2000)
      const after = yield* retrieveAgain(retrieved, "pay_1", 5000)
      assert.deepStrictEqual(after && summarise(after), paid(5000, "refund 2000 taken"))
      yield* refund("pay_1", null)
      assert.strictEqual(yield* netCents, 0)
      yield* failRefund("pay_1", part)
      const last = yield* retrieveAgain(retrieved, "pay_1", 5000)
      assert.deepStrictEqual(last && summarise(last), paid(5000, "refund 2000 returned", "refund 3000 taken"))
      assert.strictEqual(yield* netCents, 2000)
    }))

  test("refunds once for twelve concurrent requests of the same refund", ({ buy, netCents, refund }) =>
    Effect.gen(function* () {
      for (const payment of ["pay_1", "pay_2", "pay_3"]) {
        yield* buy(payment, 5000, "good")
        const all = Array.from({ length: 12 }, () => Effect.exit(refund(payment, 5000)))
        const done = yield* Effect.all(all, { concurrency: "unbounded" })
        assert.strictEqual(done.filter(({ _tag }) => _tag === "Success").length, 1)
      }
      assert.strictEqual(yield* netCents, 0)
    }))

  test("returns the payment id of an event, and rejects invalid signatures", ({ buy, event, processor }) =>
    Effect.gen(function* () {
      const { reference } = yield* buy("pay_1", 5000, "good")
      const { body, header } = yield* event("pay_1")
      const named = [{ payment_id: "pay_1", reference }]
      assert.deepStrictEqual(yield* processor.readEvent(body, header), named)
      assert.deepStrictEqual(yield* processor.readEvent(body, header), named)
      const forgeries = [
        processor.readEvent(body.replace("pay_1", "pay_2"), header),
        processor.readEvent(body, () => null),
        processor.readEvent(body, () => "t=1,v1=00"),
        processor.readEvent(
          body,
          (name) => header(name)?.replace(/v1=(.)/, (_, digit) => `v1=${digit === "0" ? 1 : 0}`) ?? null
        )
      ]
      for (const forgery of forgeries) assert.strictEqual((yield* Effect.flip(forgery))._tag, "EventRejected")
    }))

  for (const [seconds, when] of [
    [301, "ago"],
    [-302, "in the future"]
  ] as const) {
    test(`rejects an event that was signed more than five minutes ${when}`, ({ buy, event, processor }) =>
      Effect.gen(function* () {
        yield* buy("pay_1", 5000, "good")
        const { body, header } = yield* event("pay_1")
        const readAfter = Effect.fnUntraced(function* (by: number) {
          const { clock, advanceClock } = yield* adjustableClock
          yield* advanceClock(by * 1000)
          return yield* Effect.provideService(processor.readEvent(body, header), Clock.Clock, clock)
        })
        const { message } = yield* Effect.flip(readAfter(seconds))
        assert.match(
          message,
          new RegExp(`^The event was signed 30\\d seconds ${when}; .* Check the server's clock\\.$`)
        )
        assert.lengthOf(yield* readAfter(Math.sign(seconds) * 290), 1)
      }))
  }
})
