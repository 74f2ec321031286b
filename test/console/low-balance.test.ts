/** The form for the balance below which people get a mail, sent over HTTP. */
import { beforeAll, describe, expect, it } from "vitest"
import { readError, readValue } from "../support/console/pages.ts"
import { type SignedIn, startSpendingConsole } from "../support/console/spending-console.ts"

const console = startSpendingConsole()
const path = "/billing/low-balance"

describe("the low-balance mail", () => {
  let customer: SignedIn
  beforeAll(async () => {
    customer = await console.signIn()
  })
  const save = (threshold: string, is_on = "yes") => customer.browser.submit(path, { threshold, is_on })
  const readBilling = async () => (await customer.browser.get("/billing")).text

  it("is off until someone chooses a balance, which the billing page shows", async () => {
    expect(await readBilling()).toContain("Get a mail before your credits run out.")
    const { location, status } = await save("2.50")
    expect([status, location]).toEqual([303, "/billing"])
    const text = await readBilling()
    expect(text).toContain("You get a mail when the balance falls below $2.50.")
    expect(text).toContain("whenever the balance falls below $2.50")
    expect(readValue((await customer.browser.get(path)).text, "threshold")).toBe("2.50")
  })

  it.each([
    ["0.99", "Enter a balance from $1.00 to $50,000.00."],
    ["50000.01", "Enter a balance from $1.00 to $50,000.00."],
    ["", "Enter a balance in US dollars."],
    ["many", "Enter an amount in dollars and cents, such as 20 or 20.50."]
  ])("rejects the balance %j at its field, and keeps the saved one", async (typed, problem) => {
    await save("3")
    const { status, text } = await save(typed)
    expect([status, readError(text, "threshold"), readValue(text, "threshold")]).toEqual([422, problem, typed])
    expect(await readBilling()).toContain("falls below $3.00")
  })

  it("can be switched off", async () => {
    await save("3")
    expect((await save("", "no")).location).toBe("/billing")
    expect(await readBilling()).toContain("You get no mail about a low balance.")
    expect((await customer.browser.get(path)).text).not.toContain("Switch off")
  })
})
