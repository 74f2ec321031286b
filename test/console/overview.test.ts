/** The first page of the console: what it says of an account at the edges of months, and before and after its calls. */
import { Administration } from "@larder/serve/ledger"
import { afterEach, describe, expect, it } from "vitest"
import { call, linkCalled, type SignedIn, spendingConsole } from "../support/console/spending-console.ts"

let shownAt: string | undefined
const shop = spendingConsole({ now: () => (shownAt === undefined ? Date.now() : Date.parse(shownAt)) })
afterEach(() => {
  shownAt = undefined
})

let calls = 0
const callAt = ({ key }: SignedIn, at: string) => shop.run(call(key, key.key, `overview_${calls++}`, Date.parse(at)))
const overviewOf = async ({ browser }: SignedIn, at?: string) => {
  shownAt = at
  const { status, text } = await browser.get("/")
  expect(status).toBe(200)
  return text
}
const stat = (text: string, label: string) =>
  new RegExp(`<dt[^>]*>${label}</dt>\\s*<dd[^>]*>([^<]*)</dd>\\s*<dd[^>]*>([^<]*)`).exec(text)?.slice(1)

describe("the overview", () => {
  it.each([
    ["2027-01-31T23:59:59.999Z", "$0.20"],
    ["2027-02-01T00:00:00.000Z", "$0.00"],
    ["2027-03-31T23:59:59.999Z", "$0.10"]
  ])("shows what was spent in the UTC month so far, and nothing before it, at %s", async (at, spent) => {
    const who = await shop.signedIn()
    const days = ["2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z", "2027-01-31T23:00:00.000Z"]
    for (const day of [...days, "2027-03-01T00:00:00.000Z"]) await callAt(who, day)
    expect(stat(await overviewOf(who, at), "Spent this month")).toEqual([
      spent,
      expect.stringMatching(/charged calls?$/)
    ])
  })

  it("shows the balance in its header, with a visible label", async () => {
    const text = await overviewOf(await shop.signedIn())
    expect(text).toMatch(/<a class="balance"[^>]*><small>Balance<\/small> \$5\.00<\/a>/)
  })

  it("links to the keys before the first call, and to a new key when there is no valid one", async () => {
    const who = await shop.signedIn()
    const withKey = await overviewOf(who)
    expect(withKey).toContain("No calls yet")
    expect(linkCalled(withKey, "Your keys")).toBe("/keys")
    await shop.run(Administration.use((ledger) => ledger.revokeKey({ key_id: who.key.id })))
    const withoutKey = await overviewOf(who)
    expect(withoutKey).toContain("No calls yet")
    expect(linkCalled(withoutKey, "Create a key")).toBe("/keys/new")
    const later = await overviewOf(who, new Date(Date.now() + 40 * 86_400_000).toISOString())
    expect(later).toContain("No calls in the last 31 days")
    expect(later).not.toContain("Create a key")
  })

  it("says that the balance is used up when it is zero or below", async () => {
    for (const credits of [-5_000, -7_000]) {
      const who = await shop.signedIn()
      await callAt(who, new Date().toISOString())
      const account_id = who.account.id
      await shop.run(
        Administration.use((ledger) =>
          ledger.book({ account_id, type: "adjustment", credits, reference: `dp_${credits}`, note: "dispute" })
        )
      )
      expect(stat(await overviewOf(who), "Lasts at this pace")).toEqual([
        "Used up",
        "Calls are refused until you add credits."
      ])
    }
  })

  it("warns before the credits run out when auto-recharge is off", async () => {
    const who = await shop.signedIn()
    const noon = `${new Date().toISOString().slice(0, 10)}T12:00:00.000Z`
    await callAt(who, noon)
    expect(await overviewOf(who, noon)).not.toContain("At this pace")
    for (let more = 0; more < 20; more++) await callAt(who, noon)
    const text = await overviewOf(who, noon) // 2,900 of 5,000 credits are left, at 2,100 a day
    expect(text).toContain("At this pace the balance lasts about 1 day, and auto-recharge is off.")
    expect(linkCalled(text, "set up auto-recharge")).toBe("/billing/auto-recharge")
  })
})
