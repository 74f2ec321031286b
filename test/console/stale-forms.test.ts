/** Billing forms that were opened before a colleague changed the card or the settings. */
import { Billing } from "@larder/serve/billing"
import { beforeEach, describe, expect, it } from "vitest"
import { listButtons, readHiddenFields, readValue } from "../support/console/pages.ts"
import { type SignedIn, startSpendingConsole } from "../support/console/spending-console.ts"
import { makeCardPayments } from "./card-payments.ts"

const console = startSpendingConsole()
const { payByCard } = makeCardPayments(console)
const [visa, mastercard] = ["4242424242424242", "5555555555554444"] as const
const path = "/billing/auto-recharge"

let customer: SignedIn
beforeEach(async () => {
  customer = await console.signIn()
  await payByCard(customer, "100", visa) // 105,000 credits
})

const readSettings = () => console.run(Billing.use((service) => service.settings(customer.account.id)))

describe("a form that was opened before another card was saved", () => {
  it("charges nothing, and names the card that is saved now", async () => {
    const review = await customer.browser.get("/billing/top-up?amount=75")
    expect(listButtons(review.text)[0]).toBe("Pay $75.00 with Visa ending in 4242")
    await payByCard(customer, "10", mastercard)
    const form = { ...readHiddenFields(review.text), pay_with: "saved_card" }
    const refused = await customer.browser.post("/billing/top-up", form)
    expect(refused.status).toBe(409)
    expect(refused.text).toContain(
      "Nothing was charged: another card was saved since this page was opened, Mastercard ending in 4444."
    )
    expect(listButtons(refused.text)[0]).toBe("Pay $75.00 with Mastercard ending in 4444")
    const paid = await customer.browser.post("/billing/top-up", {
      ...readHiddenFields(refused.text),
      pay_with: "saved_card"
    })
    expect(paid.status).toBe(303)
  })

  it("removes nothing, and asks about the card that is saved now", async () => {
    const confirmation = await customer.browser.get("/billing/card")
    await payByCard(customer, "10", mastercard)
    const refused = await customer.browser.post("/billing/card", readHiddenFields(confirmation.text))
    expect([refused.status, (await readSettings()).card?.last4]).toEqual([409, "4444"])
    expect(refused.text).toContain("Nothing was removed: another card was saved since this page was opened.")
    expect(refused.text).toContain("Mastercard ending in 4444 is deleted here and at the card processor.")
    expect((await customer.browser.post("/billing/card", readHiddenFields(refused.text))).status).toBe(303)
    expect((await readSettings()).card).toBeNull()
  })

  it("does not switch on auto-recharge with a card that it did not show", async () => {
    const { text } = await customer.browser.get(path)
    await payByCard(customer, "10", mastercard)
    const choice = { ...readHiddenFields(text), recharge_amount: "30", trigger: "5", is_on: "yes" }
    const refused = await customer.browser.post(path, choice)
    expect([refused.status, (await readSettings()).recharge.is_on]).toEqual([409, false])
    expect(refused.text).toContain("with Mastercard ending in 4444. Your input is kept below.")
  })
})

describe("a form of auto-recharge that was opened before a change", () => {
  it("does not switch auto-recharge on again, and keeps the typed values", async () => {
    const fields = { recharge_amount: "20", trigger: "5", is_on: "yes" }
    await customer.browser.submit(path, fields)
    const { text } = await customer.browser.get(path)
    expect(listButtons(text)).toEqual(["Switch off", "Save"])
    await customer.browser.submit(path, { is_on: "no" }) // a colleague
    const choice = { recharge_amount: "30", trigger: "6", is_on: "yes" }
    const refused = await customer.browser.post(path, { ...readHiddenFields(text), ...choice })
    expect([refused.status, (await readSettings()).recharge]).toMatchObject([409, { is_on: false, cents: 20_00 }])
    expect(refused.text).toContain(
      "Nothing was saved: the settings changed, or the ledger has a refund or an adjustment, since you opened this page. Auto-recharge is now off, $20.00 below $5.00, at most $100.00 a day and $2,000.00 a month, with Visa ending in 4242."
    )
    expect(listButtons(refused.text)).toEqual(["Switch on"])
    expect([readValue(refused.text, "recharge_amount"), readValue(refused.text, "trigger")]).toEqual(["30", "6"])
    expect((await customer.browser.post(path, { ...readHiddenFields(refused.text), ...choice })).status).toBe(303)
    expect((await readSettings()).recharge).toMatchObject({ is_on: true, cents: 30_00, trigger_credits: 6_000 })
  })

  it("does not replace newer amounts with its own", async () => {
    const { text } = await customer.browser.get(path)
    const send = (html: string, recharge_amount: string) =>
      customer.browser.post(path, { ...readHiddenFields(html), recharge_amount, trigger: "5", is_on: "yes" })
    expect((await send(text, "40")).status).toBe(303)
    expect([(await send(text, "50")).status, (await readSettings()).recharge.cents]).toEqual([409, 40_00])
  })

  it("switches auto-recharge off, even if it was changed in the meantime", async () => {
    const { text } = await customer.browser.get(path)
    const choice = { ...readHiddenFields(text), recharge_amount: "40", trigger: "5", is_on: "yes" }
    await customer.browser.post(path, choice)
    expect((await customer.browser.post(path, { ...readHiddenFields(text), is_on: "no" })).status).toBe(303)
    expect((await readSettings()).recharge.is_on).toBe(false)
  })
})
