/** Warnings on the page of a top-up: a declined saved card, and a charge that is in doubt. */
import { Billing, Simulator } from "@larder/serve/billing"
import type { TopUp } from "@larder/serve/billing/payments.ts"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { readHiddenFields } from "../support/console/pages.ts"
import { startSpendingConsole } from "../support/console/spending-console.ts"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import { makeCardPayments } from "./card-payments.ts"

const console = startSpendingConsole()
const { payByCard } = makeCardPayments(console)

/** Pays once and is saved; every later charge is declined. */
const cardDeclinedLater = { number: "4000000000000341", expires: "12/40", cvc: "123" }

it("a payment on a page that was opened before a recharge failed removes the warning about its card", async () => {
  const { account, browser } = await console.signIn()
  const openReview = async () => (await browser.get("/billing/top-up?amount=50")).text
  const warning = "The last payment with Visa ending in 0341 failed."

  /** Opens a page of the processor, and returns an effect that pays there and reads the payment. */
  const open = (submission: string) =>
    Effect.gen(function* () {
      const billing = yield* Billing
      const simulator = yield* Simulator
      let payment_id = ""
      const form: TopUp = {
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
      const topUp = yield* billing.topUp(form)
      const reference = "redirect" in topUp ? (new URL(topUp.redirect).pathname.split("/").at(-1) ?? "") : ""
      return Effect.andThen(simulator.pay(reference, cardDeclinedLater), () => billing.payment(account.id, payment_id))
    })

  const payFirst = await console.run(open("first"))
  await console.run(payFirst)
  const payLater = await console.run(open("later"))
  const choice = rechargeChoice({ cents: 20_00, trigger_credits: 20_000 })
  await console.run(Billing.use((billing) => saveRecharge(billing, account.id, choice)))
  await expect.poll(openReview).toContain(warning)
  expect((await console.run(payLater)).state).toBe("succeeded")
  const text = await openReview()
  expect(text).not.toContain(warning)
  expect(text).toMatch(/<button class="button primary"[^>]*>Pay \$50\.00 with Visa ending in 0341<\/button>/)
})

it("a top-up page warns about an earlier charge whose outcome is unknown", async () => {
  const customer = await console.signIn()
  await payByCard(customer, "10", "4242424242424242")
  const openReview = async () => (await customer.browser.get("/billing/top-up?amount=14")).text
  const warning =
    /A payment of \$14\.00 with Visa ending in 4242, started <time[^>]*>[^<]*<\/time>, <a href="([^"]*)">is not confirmed yet<\/a>/
  await console.run(Simulator.use(({ setFaults }) => setFaults({ outage: true })))
  const { headers } = await customer.browser.post("/billing/top-up", {
    ...readHiddenFields(await openReview()),
    pay_with: "saved_card"
  })
  const payment = headers.get("location") ?? ""
  expect((await customer.browser.get(payment)).text).toContain("do not pay again until this is decided")
  expect(warning.exec(await openReview())?.[1]).toBe(payment)
  await console.run(Simulator.use(({ setFaults }) => setFaults({ outage: false })))
  // stays unpaid
  await customer.browser.submit("/billing/top-up", { amount: "20", submission: "left", pay_with: "new_card" })
  const { account } = customer
  await console.run(
    Billing.use((billing) => billing.payments(account.id, { before: null, limit: 9 })).pipe(
      Effect.map((payments) => payments.filter(({ card, state }) => state === "open" && card === null).length),
      Effect.tap((pages) => Effect.sync(() => expect(pages).toBe(1)))
    )
  )
  expect((await openReview()).match(/not confirmed yet/g)).toHaveLength(1)
})
