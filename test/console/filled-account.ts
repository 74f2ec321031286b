/**
 * An account with something on every page: a key and its calls, two people, a saved card, auto-recharge, payments, a receipt
 * and a refund. All of it is done over HTTP, as its people would. Its amounts are long, so that nothing else looks like them.
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { Entry } from "@larder/serve/ledger"
import { expect } from "vitest"
import { administer, listEntries } from "../support/api/operator.ts"
import type { Browser } from "../support/console/browser.ts"
import { keyIn, password, type ServedConsole } from "../support/console/served-console.ts"
import { hiddenIn } from "./billing-forms.ts"

/** Dollars and cents, as typed. */
interface Amounts {
  readonly budget: string
  readonly paid: string
  readonly refunded: string
  readonly recharge: string
  readonly trigger: string
}

export interface Filling {
  readonly account: string
  readonly key: string
  /** One of the simulator's. */
  readonly card: string
  readonly submission: string
  readonly is_operator?: boolean
  readonly amounts: Amounts
}

/** From the amount over the simulator's page back to the console. Answers with the payment's id. */
const payByCard = async (browser: Browser, amount: string, number: string, submission: string) => {
  const left = await browser.post("/billing/top-up", { amount, submission, pay_with: "new_card" })
  const paid = await browser.post(left.location ?? "", { number, expires: "12/40", cvc: "123" })
  const { pathname } = new URL(paid.location ?? "")
  expect((await browser.get(pathname)).text).toContain("credits were added to your balance")
  return pathname.split("/").at(-1) ?? ""
}

/** The processor tells of a refund in its own time, and calls are noted after their answers. */
const untilShown = async (browser: Browser, path: string, text: string) => {
  while (!(await browser.get(path)).text.includes(text)) await sleep(20)
}

/** Those who may play the bank are operators; this one belongs to neither account. */
const refund = async (site: ServedConsole, payment: string, amount: string) => {
  const { browser } = await site.signedIn({ is_operator: true, name: "Operators" })
  const { status } = await browser.post(`/simulator/payments/sim_${payment}`, { do: "refund", amount })
  expect(status).toBe(303)
}

export const filledAccount = async (site: ServedConsole, filling: Filling) => {
  const { amounts, card, submission } = filling
  const { account, browser, email } = await site.signedIn({
    name: filling.account,
    is_operator: filling.is_operator ?? false
  })
  const colleague = `colleague-of-${email}`
  await site.browser().post(await site.invite(account.id), { email: colleague, password })

  const created = await browser.post("/keys/new", { name: filling.key, access: "all", budget: amounts.budget })
  const headers = { authorization: `Bearer ${keyIn(created.text)}` }
  const called = await fetch(`${site.api()}/v1/stores?limit=1`, { headers })
  const request = called.headers.get("x-request-id") ?? ""

  const first = await payByCard(browser, amounts.paid, card, submission)
  const carried = async (path: string) => hiddenIn((await browser.get(path)).text)
  const lastTopUp = {
    ...(await carried("/billing/top-up?amount=10")),
    submission: `${submission}-again`,
    pay_with: "saved_card"
  }
  const second = ((await browser.post("/billing/top-up", lastTopUp)).location ?? "").split("/").at(-1) ?? ""
  await refund(site, first, amounts.refunded)
  await untilShown(browser, `/billing/payments/${first}`, "of it was returned to your card")
  const { shown = "" } = await carried("/billing/auto-recharge")
  const choice = { recharge_amount: amounts.recharge, trigger: amounts.trigger, is_on: "yes", shown }
  expect((await browser.post("/billing/auto-recharge", choice)).location).toBe("/billing")
  await browser.get("/billing") // what was told once is told
  await untilShown(browser, "/requests", request)

  const [key] = await administer(site.home(), (ledger) => ledger.listKeys({ account_id: account.id }))
  if (key === undefined) throw new Error("no key was made")
  const entries = await listEntries(site.home(), account.id)
  return { account, browser, email, colleague, key, payments: [first, second], request, entries, lastTopUp, filling }
}
export type FilledAccount = Awaited<ReturnType<typeof filledAccount>>

/** `4321.09` as pages and files write it, in dollars and in credits. */
const spellings = (amount: string) =>
  [Number(amount), Math.round(Number(amount) * 1_000)].flatMap((value) => [
    String(value),
    value.toLocaleString("en-US"),
    value.toLocaleString("en-US", { minimumFractionDigits: 2 })
  ])

const balanceOf = (entries: ReadonlyArray<Entry>) => entries.at(-1)?.balance ?? 0

/** What nobody outside of the account may see, each in all the ways in which it may be written. */
export const secretsOf = (of: FilledAccount): ReadonlyArray<readonly [what: string, spelt: ReadonlyArray<string>]> => {
  const { amounts } = of.filling
  return [
    ["the account's id", [of.account.id]],
    ["the account's name", [of.filling.account]],
    ["a person", [of.email]],
    ["another person", [of.colleague]],
    ["the key's id", [of.key.id]],
    ["the key's name", [of.filling.key]],
    ["the key's last characters", [`…${of.key.last4}`]],
    ["the saved card", ["Mastercard", "ending in 4444"]],
    ["a payment", [of.payments[0] ?? ""]],
    ["another payment", [of.payments[1] ?? ""]],
    ["a request", [of.request]],
    ["the budget", spellings(amounts.budget)],
    ["what was paid", spellings(amounts.paid)],
    ["what was refunded", spellings(amounts.refunded)],
    ["what is recharged", spellings(amounts.recharge)],
    ["when it is recharged", spellings(amounts.trigger)],
    ["the balance", spellings(String(balanceOf(of.entries) / 1_000))]
  ]
}
