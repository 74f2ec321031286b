/** The simulator: its stored state, its test cards, and limits of refunds. */
import { assert, describe, it } from "@effect/vitest"
import {
  newRequest,
  openSimulator,
  openSimulatorIn,
  pageDetails,
  temporaryFolder,
  validCard
} from "@larder/test/support/serve/simulator.ts"
import { consoleIn } from "@larder/test/support/serve/sqlite-console.ts"
import { Effect, Schema } from "effect"
import { ConsoleDatabase } from "../../persistence/index.ts"
import { isCardNumber, testCards } from "./test-cards.ts"

describe("the simulator", () => {
  it.live("keeps payments, cards and faults after a restart of the server", () =>
    Effect.gen(function* () {
      const home = yield* temporaryFolder
      const paid = yield* Effect.scoped(
        Effect.gen(function* () {
          const simulator = yield* openSimulatorIn(home)
          const { reference } = yield* simulator.processor.checkout({ ...newRequest("pay_1"), ...pageDetails })
          yield* simulator.pay(reference, validCard)
          yield* simulator.setFaults({ slow_ms: 5 })
          return yield* simulator.processor.retrieve({ ...newRequest("pay_1"), reference, customer: null, card: null })
        })
      )
      const { faults, processor } = yield* openSimulatorIn(home)
      assert.strictEqual((yield* faults).slow_ms, 5)
      const saved = { customer: paid?.customer ?? "", card: paid?.card?.id ?? "" }
      assert.strictEqual((yield* processor.charge({ ...newRequest("pay_2"), ...saved })).state, "succeeded")
    }).pipe(Effect.scoped)
  )

  it.live("stores no card number", () =>
    Effect.gen(function* () {
      const home = yield* temporaryFolder
      yield* Effect.scoped(
        Effect.gen(function* () {
          const simulator = yield* openSimulatorIn(home)
          const { reference } = yield* simulator.processor.checkout({ ...newRequest("pay_1"), ...pageDetails })
          yield* simulator.pay(reference, { ...validCard, number: "4111 1111 1111 1111" })
          yield* simulator.pay(reference, validCard)
        })
      )
      const rows = yield* Effect.flatMap(ConsoleDatabase, (db) =>
        db.all(Schema.Struct({ body: Schema.String }), "select body from console.simulated")
      ).pipe(Effect.provide(consoleIn(home)))
      assert.isAbove(rows.length, 2)
      assert.notMatch(JSON.stringify(rows), /4242 ?4242|4111 ?1111/)
    }).pipe(Effect.scoped)
  )

  it.live("requires authentication for some cards, and declines if the cardholder refuses", () =>
    Effect.gen(function* () {
      const { authenticate, pay, processor } = yield* openSimulator
      const { reference } = yield* processor.checkout({ ...newRequest("pay_1"), ...pageDetails })
      const card = { ...validCard, number: testCards.owner_always.number }
      assert.deepStrictEqual(yield* pay(reference, card), { kind: "requires_authentication" })
      const refusal = yield* authenticate(reference, false)
      assert.deepStrictEqual(refusal, {
        kind: "declined",
        problem: "The cardholder did not confirm the payment with the bank."
      })
      assert.strictEqual((yield* authenticate(reference, true)).kind, "declined")
      yield* pay(reference, card)
      assert.deepStrictEqual(yield* authenticate(reference, true), { kind: "paid", url: pageDetails.success_url })
    }).pipe(Effect.scoped)
  )

  it.live("makes refunds of one test card fail a few seconds later", () =>
    Effect.gen(function* () {
      const { pay, processor, refund } = yield* openSimulator
      const { reference } = yield* processor.checkout({ ...newRequest("pay_1"), ...pageDetails })
      yield* pay(reference, { ...validCard, number: testCards.refunds_fail.number })
      yield* refund(reference, null)
      const state = Effect.map(
        processor.retrieve({ ...newRequest("pay_1"), reference, customer: null, card: null }),
        (retrieved) => retrieved?.reversed[0]?.state
      )
      assert.strictEqual(yield* state, "taken")
      while ((yield* state) === "taken") yield* Effect.sleep("100 millis")
      assert.strictEqual(yield* state, "returned")
    }).pipe(Effect.scoped)
  )

  it.live("refunds no more than was paid, and nothing twice", () =>
    Effect.gen(function* () {
      const { failRefund, pay, processor, refund } = yield* openSimulator
      const { reference } = yield* processor.checkout({ ...newRequest("pay_1"), ...pageDetails })
      const readMessage = <A>(work: Effect.Effect<A, { readonly message: string }>) =>
        Effect.map(Effect.flip(work), ({ message }) => message)
      assert.strictEqual(yield* readMessage(refund(reference, null)), "No part of this payment can be refunded.")
      yield* pay(reference, validCard)
      assert.strictEqual(
        yield* readMessage(refund(reference, 5001)),
        "A refund of this payment must be from $0.01 to $50.00."
      )
      assert.strictEqual(
        yield* readMessage(refund(reference, 0.5)),
        "A refund of this payment must be from $0.01 to $50.00."
      )
      const partialRefund = yield* refund(reference, 4000)
      assert.strictEqual(
        yield* readMessage(refund(reference, 1001)),
        "A refund of this payment must be from $0.01 to $10.00."
      )
      yield* failRefund(reference, partialRefund)
      assert.strictEqual(
        yield* readMessage(failRefund(reference, partialRefund)),
        "This payment has no such refund that can fail now."
      )
      assert.strictEqual(yield* readMessage(refund("sim_pay_9", null)), "There is no such payment.")
      yield* refund(reference, 5000)
      assert.strictEqual(yield* readMessage(refund(reference, null)), "No part of this payment can be refunded.")
    }).pipe(Effect.scoped)
  )

  it.live("times out after ten seconds, although the payment was made", () =>
    Effect.gen(function* () {
      const { pay, setFaults, processor } = yield* openSimulator
      const { reference } = yield* processor.checkout({ ...newRequest("pay_1"), ...pageDetails })
      yield* pay(reference, validCard)
      const query = { ...newRequest("pay_1"), reference, customer: null, card: null }
      const paid = yield* processor.retrieve(query)
      yield* setFaults({ slow_ms: 20_000 })
      const charge = { ...newRequest("pay_2"), customer: paid?.customer ?? "", card: paid?.card?.id ?? "" }
      const error = yield* Effect.flip(processor.charge(charge))
      assert.strictEqual(error.message, "simulator error: no response within 10 seconds")
      yield* setFaults({ slow_ms: 0 })
      const payment = yield* processor.retrieve({ ...charge, reference: null })
      assert.strictEqual(payment?.state, "succeeded")
    }).pipe(Effect.scoped)
  )

  it.each(Object.entries(testCards))("has a valid check digit in the number of the test card %s", (_, { number }) => {
    assert.isTrue(isCardNumber(number))
    assert.isFalse(isCardNumber(number.replace(/.$/, (digit) => String((Number(digit) + 1) % 10))))
  })
})
