import { assert, describe, it } from "@effect/vitest"
import { newRequest, openSimulator, pageDetails, validCard } from "@larder/test/support/serve/simulator.ts"
import { Effect } from "effect"
import { savedCardExplanation, testCards } from "../../billing/index.ts"
import { makeForm } from "../web/form.ts"
import { type CheckoutResponse, makeCheckoutPage } from "./checkout-page.ts"

const textOf = (answer: CheckoutResponse) =>
  answer.kind === "leave"
    ? Effect.succeed(`leaves for ${answer.url}`)
    : Effect.promise(async () => `${answer.status}\n${await answer.body}`)

/** Ids of the fields with autofocus; at most one. */
const focused = (text: string) => [...text.matchAll(/<input id="([^"]+)"[^>]* autofocus/g)].map(([, id]) => id)

const opened = Effect.gen(function* () {
  const simulator = yield* openSimulator
  const page = makeCheckoutPage(simulator)
  const { reference } = yield* simulator.processor.checkout({ ...newRequest("pay_1"), ...pageDetails })
  const get = Effect.flatMap(page.get(reference), textOf)
  const post = (fields: Record<string, string>) =>
    Effect.flatMap(page.post(reference, makeForm(new URLSearchParams(fields))), textOf)
  return { simulator, page, reference, get, post }
})

describe("the simulator's payment page", () => {
  it.live("asks for a card, lists the test cards, and leads back without paying", () =>
    Effect.gen(function* () {
      const { get } = yield* opened
      const text = yield* get
      assert.match(text, /^200\n<!doctype html>/)
      assert.include(text, "<h1>Pay $50.00</h1>")
      assert.include(text, 'href="http://127.0.0.1:9/billing"')
      for (const label of ["Card number", "Expires", "Security code"]) assert.include(text, `${label}</label>`)
      assert.include(text, "4242 4242 4242 4242")
      assert.include(text, "3782 822463 10005")
    }).pipe(Effect.scoped)
  )

  it.live("says above the form that no money moves, and turns autocomplete off", () =>
    Effect.gen(function* () {
      const { get } = yield* opened
      const text = yield* get
      assert.include(text, "Simulated payment: no money moves. Use a test card below, never a real one.")
      assert.isBelow(text.indexOf("Simulated payment:"), text.indexOf("<form"))
      const inputs = [...text.matchAll(/<input[^>]*>/g)].map(([input]) => input)
      assert.strictEqual(inputs.length, 3)
      for (const input of inputs) assert.include(input, 'autocomplete="off"')
    }).pipe(Effect.scoped)
  )

  it.live("says what is bought, where the receipt will be, and what the saved card is for", () =>
    Effect.gen(function* () {
      const { get } = yield* opened
      const text = yield* get
      assert.include(text, "for 50,000 credits")
      assert.match(text, /The receipt will be in the console, under\s+Billing\./)
      assert.include(text, savedCardExplanation)
      assert.notInclude(text, "@")
    }).pipe(Effect.scoped)
  )

  it.live("describes each test card differently", () =>
    Effect.gen(function* () {
      const { get } = yield* opened
      const abouts = Object.values(testCards).map(({ about }) => about)
      assert.strictEqual(new Set(abouts).size, abouts.length)
      const text = yield* get
      for (const about of abouts) assert.include(text, about)
    }).pipe(Effect.scoped)
  )

  it.live("contains no inline script or style, and escapes what was typed", () =>
    Effect.gen(function* () {
      const { post } = yield* opened
      const text = yield* post({ ...validCard, number: "<script>alert(1)</script>" })
      assert.notMatch(text, /<script|<style| style=| on[a-z]+="/)
      assert.include(text, "&lt;script&gt;")
    }).pipe(Effect.scoped)
  )

  it.live("takes a good card and leads to the console, also when it is sent or opened again", () =>
    Effect.gen(function* () {
      const { get, post } = yield* opened
      const leaves = `leaves for ${pageDetails.success_url}`
      assert.strictEqual(yield* post(validCard), leaves)
      assert.strictEqual(yield* post(validCard), leaves)
      assert.strictEqual(yield* get, leaves)
    }).pipe(Effect.scoped)
  )

  it.live("answers 422 with every problem of a card, and keeps the number that was typed", () =>
    Effect.gen(function* () {
      const { post } = yield* opened
      const text = yield* post({ number: "4242 4242 4242 4241", expires: "13/40", cvc: "12" })
      assert.match(text, /^422\n/)
      for (const problem of [
        "This is not a card number.",
        "Enter month and year, such as 04/30.",
        "Enter the three or four digits."
      ]) {
        assert.include(text, problem)
      }
      assert.include(text, 'value="4242 4242 4242 4241"')
      assert.deepStrictEqual(focused(text), ["number"])
      assert.deepStrictEqual(focused(yield* post({ ...validCard, cvc: "12" })), ["cvc"])
      assert.include(yield* post({ ...validCard, expires: "01/20" }), "The card has expired.")
    }).pipe(Effect.scoped)
  )

  it.live("answers 402 with the reason when a card is declined, and takes another card", () =>
    Effect.gen(function* () {
      const { post } = yield* opened
      const text = yield* post({ ...validCard, number: testCards.insufficient_funds.number })
      assert.match(text, /^402\n/)
      assert.include(text, "The card has insufficient funds. Nothing was charged. Try another card.")
      assert.notInclude(text, 'value="4000')
      assert.deepStrictEqual(focused(text), ["number"])
      assert.include(
        yield* post({ ...validCard, number: "4111111111111111" }),
        "Only the test cards below are accepted here."
      )
      assert.match(yield* post(validCard), /^leaves/)
    }).pipe(Effect.scoped)
  )

  it.live("asks for the bank's confirmation where a card needs it, also after a reload", () =>
    Effect.gen(function* () {
      const { get, post } = yield* opened
      const text = yield* post({ ...validCard, number: testCards.owner_once.number })
      assert.include(text, "<h1>Confirm with your bank</h1>")
      assert.strictEqual(yield* get, text)
      assert.include(yield* post({ bank: "refuse" }), "did not confirm the payment with the bank. Nothing was charged.")
      yield* post({ ...validCard, number: testCards.owner_once.number })
      assert.match(yield* post({ bank: "confirm" }), /^leaves/)
    }).pipe(Effect.scoped)
  )

  it.live("answers 404 for a payment that does not exist or that a saved card paid", () =>
    Effect.gen(function* () {
      const { page, post, simulator } = yield* opened
      yield* post(validCard)
      const [seen] = yield* simulator.payments(1)
      const saved = { customer: seen?.payment.customer ?? "", card: seen?.payment.card?.id ?? "" }
      const { reference } = yield* simulator.processor.charge({ ...newRequest("pay_2"), ...saved })
      for (const other of [reference, "sim_pay_9", "settings", ""]) {
        assert.match(yield* Effect.flatMap(page.get(other), textOf), /^404\n/)
      }
    }).pipe(Effect.scoped)
  )
})
