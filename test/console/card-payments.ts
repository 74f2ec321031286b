/** Payments by card through the console and the simulated processor, and invalid amounts that several tests type. */
import { Billing, Simulator } from "@larder/serve/billing"
import { Administration } from "@larder/serve/ledger"
import { expect } from "vitest"
import { readHiddenFields } from "../support/console/pages.ts"
import type { SignedIn, SpendingConsole } from "../support/console/spending-console.ts"

/** Typed amounts, each with the problem that the form shows. */
export const invalidAmounts = [
  ["", "Enter an amount in US dollars."],
  ["ten", "Enter an amount in dollars and cents, such as 75 or 75.50."],
  ["-50", "Enter an amount in dollars and cents, such as 75 or 75.50."],
  ["1e3", "Enter an amount in dollars and cents, such as 75 or 75.50."],
  ["12.345", "Enter an amount in dollars and cents, such as 75 or 75.50."],
  ["0x64", "Enter an amount in dollars and cents, such as 75 or 75.50."],
  ["9.99", "Enter at least $10 and at most $50,000."],
  ["0", "Enter at least $10 and at most $50,000."],
  ["50000.01", "Enter at least $10 and at most $50,000."],
  ['"><script>alert(1)</script>', "Enter an amount in dollars and cents, such as 75 or 75.50."]
] as const

export const makeCardPayments = (console: SpendingConsole) => {
  /** Opens the payment page of the processor, and returns what the customer can do there. */
  const openCardPage = async ({ browser }: SignedIn, amount: string) => {
    const review = await browser.get(`/billing/top-up?amount=${amount}`)
    const sent = await browser.post("/billing/top-up", { ...readHiddenFields(review.text), pay_with: "new_card" })
    expect(sent.status).toBe(303)
    const reference = new URL(sent.location ?? "").pathname.split("/").at(-1) ?? ""
    const payment = await console.run(Simulator.use((simulator) => simulator.findPayment(reference)))
    const cancelUrl = new URL(payment?.payment.cancel_url ?? "")
    return {
      payment_id: payment?.payment.payment_id ?? "",
      cancelPath: cancelUrl.pathname + cancelUrl.search,
      pay: (number: string) =>
        console.run(Simulator.use((simulator) => simulator.pay(reference, { number, expires: "12/40", cvc: "123" })))
    }
  }

  /** Pays an amount on the page of the processor, and returns to the console. */
  const payByCard = async (customer: SignedIn, amount: string, number: string) => {
    const result = await (await openCardPage(customer, amount)).pay(number)
    if (result.kind !== "paid") throw new Error(`the simulator returned ${JSON.stringify(result)}`)
    const { pathname, search } = new URL(result.url)
    return customer.browser.get(pathname + search)
  }

  const readBalance = async ({ account }: SignedIn) =>
    (await console.run(Administration.use((ledger) => ledger.account({ account_id: account.id })))).balance_credits
  const listPayments = ({ account }: SignedIn) =>
    console.run(Billing.use((billing) => billing.payments(account.id, { before: null, limit: 100 })))
  const readSettings = ({ account }: SignedIn) => console.run(Billing.use((billing) => billing.settings(account.id)))
  return { listPayments, openCardPage, payByCard, readBalance, readSettings }
}
