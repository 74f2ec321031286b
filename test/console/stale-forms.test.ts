/** Two people of one account have forms about money open, and one is faster. */
import { Billing } from "@larder/serve/billing"
import { beforeEach, describe, expect, it } from "vitest"
import { type SignedIn, spendingConsole } from "../support/console/spending-console.ts"
import { buttonsOf, hiddenIn, payingByCard, valueAt } from "./billing-forms.ts"

const console = spendingConsole()
const { payByCard } = payingByCard(console)
const [visa, mastercard] = ["4242424242424242", "5555555555554444"] as const
const path = "/billing/auto-recharge"

let who: SignedIn
beforeEach(async () => {
  who = await console.signedIn()
  await payByCard(who, "100", visa) // 105,000 credits
})

const settings = () => console.run(Billing.use((service) => service.settings(who.account.id)))

describe("a form that was opened before another card was saved", () => {
  it("charges nothing, and names the card that is saved now", async () => {
    const review = await who.browser.get("/billing/top-up?amount=75")
    expect(buttonsOf(review.text)[0]).toBe("Pay $75.00 with Visa ending in 4242")
    await payByCard(who, "10", mastercard)
    const form = { ...hiddenIn(review.text), pay_with: "saved_card" }
    const refused = await who.browser.post("/billing/top-up", form)
    expect(refused.status).toBe(409)
    expect(refused.text).toContain(
      "Nothing was charged: another card was saved since this page was opened, Mastercard ending in 4444."
    )
    expect(buttonsOf(refused.text)[0]).toBe("Pay $75.00 with Mastercard ending in 4444")
    const paid = await who.browser.post("/billing/top-up", { ...hiddenIn(refused.text), pay_with: "saved_card" })
    expect(paid.status).toBe(303)
  })

  it("removes nothing, and asks about the card that is saved now", async () => {
    const asked = await who.browser.get("/billing/card")
    await payByCard(who, "10", mastercard)
    const refused = await who.browser.post("/billing/card", hiddenIn(asked.text))
    expect([refused.status, (await settings()).card?.last4]).toEqual([409, "4444"])
    expect(refused.text).toContain("Nothing was removed: another card was saved since this page was opened.")
    expect(refused.text).toContain("Mastercard ending in 4444 is deleted here and at the card processor.")
    expect((await who.browser.post("/billing/card", hiddenIn(refused.text))).status).toBe(303)
    expect((await settings()).card).toBeNull()
  })

  it("does not switch on auto-recharge with a card that it has not shown", async () => {
    const { text } = await who.browser.get(path)
    await payByCard(who, "10", mastercard)
    const choice = { ...hiddenIn(text), recharge_amount: "30", trigger: "5", is_on: "yes" }
    const refused = await who.browser.post(path, choice)
    expect([refused.status, (await settings()).recharge.is_on]).toEqual([409, false])
    expect(refused.text).toContain("with Mastercard ending in 4444. Your input is kept below.")
  })
})

describe("a form of auto-recharge that was opened before a change", () => {
  it("does not switch auto-recharge on again, and keeps what was typed", async () => {
    const fields = { recharge_amount: "20", trigger: "5", is_on: "yes" }
    await who.browser.post(path, { ...hiddenIn((await who.browser.get(path)).text), ...fields })
    const { text } = await who.browser.get(path)
    expect(buttonsOf(text)).toEqual(["Switch off", "Save"])
    await who.browser.post(path, { is_on: "no" }) // a colleague
    const choice = { recharge_amount: "30", trigger: "6", is_on: "yes" }
    const refused = await who.browser.post(path, { ...hiddenIn(text), ...choice })
    expect([refused.status, (await settings()).recharge]).toMatchObject([409, { is_on: false, cents: 20_00 }])
    expect(refused.text).toContain(
      "Nothing was saved: the settings changed after you opened this page. Auto-recharge is now off, $20.00 below $5.00, with Visa ending in 4242."
    )
    expect(buttonsOf(refused.text)).toEqual(["Switch on"])
    expect([valueAt(refused.text, "recharge_amount"), valueAt(refused.text, "trigger")]).toEqual(["30", "6"])
    expect((await who.browser.post(path, { ...hiddenIn(refused.text), ...choice })).status).toBe(303)
    expect((await settings()).recharge).toMatchObject({ is_on: true, cents: 30_00, trigger_credits: 6_000 })
  })

  it("does not replace newer amounts with its own", async () => {
    const { text } = await who.browser.get(path)
    const send = (carried: string, recharge_amount: string) =>
      who.browser.post(path, { ...hiddenIn(carried), recharge_amount, trigger: "5", is_on: "yes" })
    expect((await send(text, "40")).status).toBe(303)
    expect([(await send(text, "50")).status, (await settings()).recharge.cents]).toEqual([409, 40_00])
  })

  it("switches auto-recharge off, even if it was changed meanwhile", async () => {
    const { text } = await who.browser.get(path)
    const choice = { ...hiddenIn(text), recharge_amount: "40", trigger: "5", is_on: "yes" }
    await who.browser.post(path, choice)
    expect((await who.browser.post(path, { ...hiddenIn(text), is_on: "no" })).status).toBe(303)
    expect((await settings()).recharge.is_on).toBe(false)
  })
})
