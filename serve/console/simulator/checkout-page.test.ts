import { assert, describe, it } from "@effect/vitest"
import { newRequest, openSimulator, pageDetails, validCard } from "@larder/test/support/serve/simulator.ts"
import { Effect } from "effect"
import { savedCardExplanation, testCards } from "../../billing/index.ts"
import { makeForm } from "../web/form.ts"
import type { PageResult } from "../web/page.ts"
import { makeCheckoutPage } from "./checkout-page.ts"

const formatResult = (result: PageResult) => {
  if (result.kind === "leave") return Effect.succeed(`leaves for ${result.url}`)
  return result.kind === "document"
    ? Effect.promise(async () => `${result.status}\n${await result.body}`)
    : Effect.die(new Error(`a result of the kind ${result.kind}`))
}

const makeContext = (reference: string) => ({
  url: new URL(`http://127.0.0.1:9/simulator/checkout/${reference}`),
  params: { reference },
  address: "127.0.0.1",
  session: undefined,
  known_browser: undefined
})

/** Ids of the fields with autofocus; at most one. */
const findFocused = (text: string) => [...text.matchAll(/<input id="([^"]+)"[^>]* autofocus/g)].map(([, id]) => id)

const makeCheckout = Effect.gen(function* () {
  const simulator = yield* openSimulator
  const page = makeCheckoutPage(simulator)
  const { reference } = yield* simulator.processor.checkout({ ...newRequest("pay_1"), ...pageDetails })
  const open = (reference: string) => Effect.flatMap(page.get(makeContext(reference)), formatResult)
  const post = (fields: Record<string, string>) =>
    Effect.flatMap(page.post({ ...makeContext(reference), form: makeForm(new URLSearchParams(fields)) }), formatResult)
  return { simulator, open, get: open(reference), post }
})

describe("the simulator's payment page", () => {
  it.live("asks for a card, lists the test cards, and links back without paying", () =>
    Effect.gen(function* () {
      const { get } = yield* makeCheckout
      const text = yield* get
      assert.match(text, /^200\n<!doctype html>/)
      assert.include(text, "<h1>Pay $50.00</h1>")
      assert.include(text, 'href="http://127.0.0.1:9/billing"')
      for (const label of ["Card number", "Expires", "Security code"]) assert.include(text, `${label}</label>`)
      assert.include(text, "4242 4242 4242 4242")
      assert.include(text, "3782 822463 10005")
    }).pipe(Effect.scoped)
  )

  it.live("states above the form that no money moves, and disables autocomplete", () =>
    Effect.gen(function* () {
      const { get } = yield* makeCheckout
      const text = yield* get
      assert.include(text, "Simulated payment: no money moves. Use a test card below, never a real one.")
      assert.isBelow(text.indexOf("Simulated payment:"), text.indexOf("<form"))
      const inputs = [...text.matchAll(/<input[^>]*>/g)].map(([input]) => input)
      assert.strictEqual(inputs.length, 3)
      for (const input of inputs) assert.include(input, 'autocomplete="off"')
    }).pipe(Effect.scoped)
  )

  it.live("states what is bought, where the receipt will be, and what the saved card is for", () =>
    Effect.gen(function* () {
      const { get } = yield* makeCheckout
      const text = yield* get
      assert.include(text, "for 50,000 credits")
      assert.match(text, /The receipt will be in the console, under\s+Billing\./)
      assert.include(text, savedCardExplanation)
      assert.notInclude(text, "@")
    }).pipe(Effect.scoped)
  )

  it.live("describes each test card differently", () =>
    Effect.gen(function* () {
      const { get } = yield* makeCheckout
      const descriptions = Object.values(testCards).map(({ about }) => about)
      assert.strictEqual(new Set(descriptions).size, descriptions.length)
      const text = yield* get
      for (const description of descriptions) assert.include(text, description)
    }).pipe(Effect.scoped)
  )

  it.live("contains no inline script or style, and escapes typed text", () =>
    Effect.gen(function* () {
      const { post } = yield* makeCheckout
      const text = yield* post({ ...validCard, number: "<script>alert(1)</script>" })
      assert.notMatch(text, /<script|<style| style=| on[a-z]+="/)
      assert.include(text, "&lt;script&gt;")
    }).pipe(Effect.scoped)
  )

  it.live("accepts a valid card and leads to the console, even if the form is sent or opened again", () =>
    Effect.gen(function* () {
      const { get, post } = yield* makeCheckout
      const leaves = `leaves for ${pageDetails.success_url}`
      assert.strictEqual(yield* post(validCard), leaves)
      assert.strictEqual(yield* post(validCard), leaves)
      assert.strictEqual(yield* get, leaves)
    }).pipe(Effect.scoped)
  )

  it.live("returns 422 with every problem of a card, and keeps the typed number", () =>
    Effect.gen(function* () {
      const { post } = yield* makeCheckout
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
      assert.deepStrictEqual(findFocused(text), ["number"])
      assert.deepStrictEqual(findFocused(yield* post({ ...validCard, cvc: "12" })), ["cvc"])
      assert.include(yield* post({ ...validCard, expires: "01/20" }), "The card has expired.")
    }).pipe(Effect.scoped)
  )

  it.live("returns 402 with the reason when a card is declined, and accepts another card", () =>
    Effect.gen(function* () {
      const { post } = yield* makeCheckout
      const text = yield* post({ ...validCard, number: testCards.insufficient_funds.number })
      assert.match(text, /^402\n/)
      assert.include(text, "The card has insufficient funds. Nothing was charged. Try another card.")
      assert.notInclude(text, 'value="4000')
      assert.deepStrictEqual(findFocused(text), ["number"])
      assert.include(
        yield* post({ ...validCard, number: "4111111111111111" }),
        "Only the test cards below are accepted here."
      )
      assert.match(yield* post(validCard), /^leaves/)
    }).pipe(Effect.scoped)
  )

  it.live("asks for the bank's confirmation if a card requires it, even after a reload", () =>
    Effect.gen(function* () {
      const { get, post } = yield* makeCheckout
      const text = yield* post({ ...validCard, number: testCards.owner_once.number })
      assert.include(text, "<h1>Confirm with your bank</h1>")
      assert.strictEqual(yield* get, text)
      assert.include(yield* post({ bank: "refuse" }), "did not confirm the payment with the bank. Nothing was charged.")
      yield* post({ ...validCard, number: testCards.owner_once.number })
      assert.match(yield* post({ bank: "confirm" }), /^leaves/)
    }).pipe(Effect.scoped)
  )

  it.live("returns 404 for a payment that does not exist or that a saved card paid", () =>
    Effect.gen(function* () {
      const { open, post, simulator } = yield* makeCheckout
      yield* post(validCard)
      const [paid] = yield* simulator.listPayments(1)
      const saved = { customer: paid?.payment.customer ?? "", card: paid?.payment.card?.id ?? "" }
      const { reference } = yield* simulator.processor.charge({ ...newRequest("pay_2"), ...saved })
      for (const other of [reference, "sim_pay_9", "settings", ""]) {
        assert.match(yield* open(other), /^404\n/)
      }
    }).pipe(Effect.scoped)
  )
})
