/**
 * An account with content on every page: a key and its calls, two people, a saved card, auto-recharge, payments, a
 * receipt and a refund. It is filled through the forms of the console. Its amounts are unusual, so that no other text
 * contains them.
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { Entry } from "@larder/serve/ledger"
import { expect } from "vitest"
import { administer, listEntries } from "../support/api/operator.ts"
import type { Browser } from "../support/console/browser.ts"
import { findKey, readHiddenFields } from "../support/console/pages.ts"
import { password, type ServedConsole } from "../support/console/served-console.ts"

/** Dollars and cents, as typed. */
interface Amounts {
  readonly budget: string
  readonly paid: string
  readonly refunded: string
  readonly recharge: string
  readonly trigger: string
}

export interface AccountContent {
  readonly account: string
  readonly key: string
  /** A test card of the simulator. */
  readonly card: string
  readonly submission: string
  readonly is_operator?: boolean
  readonly amounts: Amounts
}

/** Pays an amount on the simulator's page, returns to the console, and returns the id of the payment. */
const payByCard = async (browser: Browser, amount: string, number: string, submission: string) => {
  const topUp = await browser.submit("/billing/top-up", { amount, submission, pay_with: "new_card" })
  const paid = await browser.post(topUp.location ?? "", { number, expires: "12/40", cvc: "123" })
  const { pathname } = new URL(paid.location ?? "")
  expect((await browser.get(pathname)).text).toContain("credits were added to your balance")
  return pathname.split("/").at(-1) ?? ""
}

/** Waits for a text: refunds are reported, and calls are logged, shortly afterwards. */
const waitForText = async (browser: Browser, path: string, text: string) => {
  while (!(await browser.get(path)).text.includes(text)) await sleep(20)
}

/** Refunds a payment as an operator of a third account. */
const refund = async (site: ServedConsole, payment: string, amount: string) => {
  const { browser } = await site.signIn({ is_operator: true, name: "Operators" })
  const { status } = await browser.submit(`/simulator/payments/sim_${payment}`, { do: "refund", amount })
  expect(status).toBe(303)
}

export const fillAccount = async (site: ServedConsole, content: AccountContent) => {
  const { amounts, card, submission } = content
  const { account, browser, email } = await site.signIn({
    name: content.account,
    is_operator: content.is_operator ?? false
  })
  const colleague = `colleague-of-${email}`
  await site.openBrowser().post(await site.invite(account.id), { email: colleague, password })

  const created = await browser.submit("/keys/new", { name: content.key, access: "all", budget: amounts.budget })
  const headers = { authorization: `Bearer ${findKey(created.text)}` }
  const response = await fetch(`${site.api()}/v1/stores?limit=1`, { headers })
  const request = response.headers.get("x-request-id") ?? ""

  const first = await payByCard(browser, amounts.paid, card, submission)
  const review = "/billing/top-up?amount=10"
  const { form_owner, ...shown } = readHiddenFields((await browser.get(review)).text)
  const lastTopUp = { ...shown, submission: `${submission}-again`, pay_with: "saved_card" }
  const second = ((await browser.submit("/billing/top-up", lastTopUp, review)).location ?? "").split("/").at(-1) ?? ""
  await refund(site, first, amounts.refunded)
  await waitForText(browser, `/billing/payments/${first}`, "of it was returned to your card")
  const choice = { recharge_amount: amounts.recharge, trigger: amounts.trigger, is_on: "yes" }
  expect((await browser.submit("/billing/auto-recharge", choice)).location).toBe("/billing")
  await browser.get("/billing") // shows the notice, which appears only once
  await waitForText(browser, "/requests", request)

  const [key] = await administer(site.home(), (ledger) => ledger.listKeys({ account_id: account.id }))
  if (key === undefined) throw new Error("no key was created")
  const entries = await listEntries(site.home(), account.id)
  return { account, browser, email, colleague, key, payments: [first, second], request, entries, lastTopUp, content }
}
export type FilledAccount = Awaited<ReturnType<typeof fillAccount>>

/** All notations of an amount such as `4321.09` in pages and files, in dollars and in credits. */
const listNotations = (amount: string) =>
  [Number(amount), Math.round(Number(amount) * 1_000)].flatMap((value) => [
    String(value),
    value.toLocaleString("en-US"),
    value.toLocaleString("en-US", { minimumFractionDigits: 2 })
  ])

const readLastBalance = (entries: ReadonlyArray<Entry>) => entries.at(-1)?.balance ?? 0

/** Information that only the people of the account may see, in every notation. */
export const listSecrets = (
  filled: FilledAccount
): ReadonlyArray<readonly [what: string, notations: ReadonlyArray<string>]> => {
  const { amounts } = filled.content
  return [
    ["the account's id", [filled.account.id]],
    ["the account's name", [filled.content.account]],
    ["a person", [filled.email]],
    ["another person", [filled.colleague]],
    ["the key's id", [filled.key.id]],
    ["the key's name", [filled.content.key]],
    ["the key's last characters", [`…${filled.key.last4}`]],
    ["the saved card", ["Mastercard", "ending in 4444"]],
    ["a payment", [filled.payments[0] ?? ""]],
    ["another payment", [filled.payments[1] ?? ""]],
    ["a request", [filled.request]],
    ["the budget", listNotations(amounts.budget)],
    ["the paid amount", listNotations(amounts.paid)],
    ["the refunded amount", listNotations(amounts.refunded)],
    ["the recharged amount", listNotations(amounts.recharge)],
    ["the trigger of auto-recharge", listNotations(amounts.trigger)],
    ["the balance", listNotations(String(readLastBalance(filled.entries) / 1_000))]
  ]
}
