/** The overview of an account: at the start and end of months, and before and after its calls. */
import { Administration } from "@larder/serve/ledger"
import { afterEach, describe, expect, it } from "vitest"
import { findLink } from "../support/console/pages.ts"
import { makeCall, type SignedIn, startSpendingConsole } from "../support/console/spending-console.ts"

let requestTime: string | undefined
const shop = startSpendingConsole({ now: () => (requestTime === undefined ? Date.now() : Date.parse(requestTime)) })
afterEach(() => {
  requestTime = undefined
})

let calls = 0
const makeCallAt = ({ key }: SignedIn, at: string) =>
  shop.run(makeCall(key, key.key, `overview_${calls++}`, Date.parse(at)))
const openOverview = async ({ browser }: SignedIn, at?: string) => {
  requestTime = at
  const { status, text } = await browser.get("/")
  expect(status).toBe(200)
  return text
}
const readFigure = (text: string, label: string) =>
  new RegExp(`<dt[^>]*>${label}</dt>\\s*<dd[^>]*>([^<]*)</dd>\\s*<dd[^>]*>([^<]*)`).exec(text)?.slice(1)

describe("the overview", () => {
  it.each([
    ["2027-01-31T23:59:59.999Z", "$0.20"],
    ["2027-02-01T00:00:00.000Z", "$0.00"],
    ["2027-03-31T23:59:59.999Z", "$0.10"]
  ])("shows only the spending of the current UTC month, at %s", async (at, spent) => {
    const customer = await shop.signIn()
    const days = ["2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z", "2027-01-31T23:00:00.000Z"]
    for (const day of [...days, "2027-03-01T00:00:00.000Z"]) await makeCallAt(customer, day)
    expect(readFigure(await openOverview(customer, at), "Spent this month")).toEqual([
      spent,
      expect.stringMatching(/charged calls?$/)
    ])
  })

  it("shows the balance in its header, with a visible label", async () => {
    const text = await openOverview(await shop.signIn())
    expect(text).toMatch(/<a class="balance"[^>]*><small>Balance<\/small> \$5\.00<\/a>/)
  })

  it("links to the keys before the first call, and to a new key if there is no valid one", async () => {
    const customer = await shop.signIn()
    const withKey = await openOverview(customer)
    expect(withKey).toContain("No calls yet")
    expect(findLink(withKey, "Your keys")).toBe("/keys")
    await shop.run(Administration.use((ledger) => ledger.revokeKey({ key_id: customer.key.id })))
    const withoutKey = await openOverview(customer)
    expect(withoutKey).toContain("No calls yet")
    expect(findLink(withoutKey, "Create a key")).toBe("/keys/new")
    const textLater = await openOverview(customer, new Date(Date.now() + 40 * 86_400_000).toISOString())
    expect(textLater).toContain("No calls in the last 31 days")
    expect(textLater).not.toContain("Create a key")
  })

  it("states that the balance is used up if it is zero or below", async () => {
    for (const credits of [-5_000, -7_000]) {
      const customer = await shop.signIn()
      await makeCallAt(customer, new Date().toISOString())
      const account_id = customer.account.id
      await shop.run(
        Administration.use((ledger) =>
          ledger.book({ account_id, type: "adjustment", credits, reference: `dp_${credits}`, note: "dispute" })
        )
      )
      expect(readFigure(await openOverview(customer), "Lasts at this rate")).toEqual([
        "Used up",
        "Calls are refused until you add credits."
      ])
    }
  })

  it("warns before the credits run out if auto-recharge is off", async () => {
    const customer = await shop.signIn()
    const noon = `${new Date().toISOString().slice(0, 10)}T12:00:00.000Z`
    await makeCallAt(customer, noon)
    expect(await openOverview(customer, noon)).not.toContain("At this rate")
    for (let index = 0; index < 20; index++) await makeCallAt(customer, noon)
    const text = await openOverview(customer, noon) // 2,900 of 5,000 credits are left, at 2,100 a day
    expect(text).toContain("At this rate the balance lasts about 1 day, and auto-recharge is off.")
    expect(findLink(text, "set up auto-recharge")).toBe("/billing/auto-recharge")
  })
})
