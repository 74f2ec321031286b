/** What the page of a top-up warns of: a saved card that was refused last, and money that may be on its way. */
import { Billing, Simulator, type TopUp } from "@larder/serve/billing"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { spendingConsole } from "../support/console/spending-console.ts"
import { hiddenIn, payingByCard } from "./billing-forms.ts"

const console = spendingConsole()
const { payByCard } = payingByCard(console)

/** Pays and is saved; every later charge is declined. */
const declinedLater = { number: "4000000000000341", expires: "12/40", cvc: "123" }

it("a payment on a page that was opened before a recharge failed removes the warning about its card", async () => {
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

it("a top-up page names an earlier charge whose outcome is not known", async () => {
  const who = await console.signedIn()
  await payByCard(who, "10", "4242424242424242")
  const review = async () => (await who.browser.get("/billing/top-up?amount=14")).text
  const warning =
    /A payment of \$14\.00 with Visa ending in 4242, started <time[^>]*>[^<]*<\/time>, <a href="([^"]*)">is not confirmed yet<\/a>/
  await console.run(Simulator.use(({ setFaults }) => setFaults({ outage: true })))
  const { headers } = await who.browser.post("/billing/top-up", { ...hiddenIn(await review()), pay_with: "saved_card" })
  const payment = headers.get("location") ?? ""
  expect((await who.browser.get(payment)).text).toContain("do not pay again until this is decided")
  expect(warning.exec(await review())?.[1]).toBe(payment)
  await console.run(Simulator.use(({ setFaults }) => setFaults({ outage: false })))
  await who.browser.post("/billing/top-up", { amount: "20", submission: "left", pay_with: "new_card" }) // nobody pays there
  const { account } = who
  await console.run(
    Billing.use((billing) => billing.payments(account.id, { before: null, limit: 9 })).pipe(
      Effect.map((payments) => payments.filter(({ card, state }) => state === "open" && card === null).length),
      Effect.tap((pages) => Effect.sync(() => expect(pages).toBe(1)))
    )
  )
  expect((await review()).match(/not confirmed yet/g)).toHaveLength(1)
})
