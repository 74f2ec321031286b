/** Whether the page of a top-up warns of the saved card, where payments are decided in another order than they were begun. */
import { Billing, type TopUp } from "@larder/serve/billing/billing.ts"
import { Simulator } from "@larder/serve/billing/simulator/simulator.ts"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { spendingConsole } from "./spending-console.ts"

const console = spendingConsole()

/** Pays and is saved; every later charge is declined. */
const declinedLater = { number: "4000000000000341", expires: "12/40", cvc: "123" }

it("a page that was opened before a recharge failed, and paid on after it, leaves no warning of its card", async () => {
  const { account, browser } = await console.signedIn()
  const review = async () => (await browser.get("/billing/top-up?amount=50")).text
  const warning = "The last payment with Visa ending in 0341 failed."

  /** Opens a page of the processor; what is answered pays there and comes back. */
  const open = (submission: string) =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const simulator = yield* Simulator
      let payment_id = ""
      const asked: TopUp = {
        account_id: account.id,
        person_id: "person_1",
        email: "ada@example.test",
        cents: 10_00,
        card: null,
        submission,
        success_url: (id) => {
          payment_id = id
          return "http://127.0.0.1:9/paid"
        },
        cancel_url: () => "http://127.0.0.1:9/left"
      }
      const answer = yield* billing.topUp(asked)
      const reference = "redirect" in answer ? (new URL(answer.redirect).pathname.split("/").at(-1) ?? "") : ""
      return Effect.andThen(simulator.pay(reference, declinedLater), () => billing.payment(account.id, payment_id))
    })

  const payFirst = await console.run(open("first"))
  await console.run(payFirst)
  const payLater = await console.run(open("later"))
  const choice = { is_on: true, cents: 20_00, trigger_credits: 20_000 }
  await console.run(Billing.use((billing) => billing.saveRecharge(account.id, choice)))
  await expect.poll(review).toContain(warning)
  expect((await console.run(payLater)).state).toBe("succeeded")
  const text = await review()
  expect(text).not.toContain(warning)
  expect(text).toMatch(/<button class="button primary"[^>]*>Pay \$50\.00 with Visa ending in 0341<\/button>/)
})
