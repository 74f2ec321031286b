/** The forms for auto-recharge, sent over HTTP: invalid input, and payments. */
import { Billing, savedCardExplanation } from "@larder/serve/billing"
import { spendingPages } from "@larder/serve/console/pages.ts"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { simulatorHarness } from "../payments/simulator-harness.ts"
import {
  findLink,
  listButtons,
  listPrimaryButtons,
  readError,
  readHiddenFields,
  readValue,
  unescapeHtml
} from "../support/console/pages.ts"
import { type SignedIn, startSpendingConsole } from "../support/console/spending-console.ts"
import { invalidAmounts, makeCardPayments } from "./card-payments.ts"

const console = startSpendingConsole()
const { listPayments, openCardPage, payByCard, readBalance, readSettings } = makeCardPayments(console)

describe("auto-recharge", () => {
  let customer: SignedIn
  beforeAll(async () => {
    customer = await console.signIn()
  })
  const path = "/billing/auto-recharge"
  const save = (recharge_amount: string, trigger: string, is_on = "yes") =>
    customer.browser.submit(path, { recharge_amount, trigger, is_on })

  it("requires a saved card, and says so", async () => {
    expect((await customer.browser.get(path)).text).toContain("Auto-recharge needs a saved card")
    const { status, text } = await save("100", "20")
    expect([status, text.includes("There is no saved card.")]).toEqual([422, true])
    expect((await readSettings(customer)).recharge.is_on).toBe(false)
    await payByCard(customer, "100", "4242424242424242")
  })

  it.each(invalidAmounts)(
    "rejects the amount %j and a trigger that is not an amount, each at its field",
    async (typed, problem) => {
      const { status, text } = await save(typed, "many")
      expect(status).toBe(422)
      expect([readError(text, "recharge_amount"), readValue(text, "recharge_amount")]).toEqual([problem, typed])
      expect([readError(text, "trigger"), readValue(text, "trigger")]).toEqual([
        "Enter an amount in dollars and cents, such as 20 or 20.50.",
        "many"
      ])
      expect((await readSettings(customer)).recharge.is_on).toBe(false)
    }
  )

  it.each([
    ["0.99", "Enter a balance from $1.00 to $50,000.00."],
    ["50000.01", "Enter a balance from $1.00 to $50,000.00."],
    ["", "Enter a balance in US dollars."]
  ])("rejects the trigger %j at its field, and keeps the valid amount", async (typed, problem) => {
    const { status, text } = await save("75.50", typed)
    expect([status, readError(text, "trigger"), readValue(text, "trigger")]).toEqual([422, problem, typed])
    expect([readError(text, "recharge_amount"), readValue(text, "recharge_amount")]).toEqual(["", "75.50"])
  })

  it("can be switched on, changed, and switched off even if its fields are invalid", async () => {
    expect((await save("75.50", "20")).headers.get("location")).toBe("/billing")
    expect((await readSettings(customer)).recharge).toMatchObject({
      is_on: true,
      cents: 7_550,
      trigger_credits: 20_000
    })
    const shown = await customer.browser.get(path)
    expect(shown.text).toContain("<dt>Account</dt><dd>Bakery</dd>")
    expect([readValue(shown.text, "recharge_amount"), readValue(shown.text, "trigger")]).toEqual(["75.50", "20.00"])
    await save("80", "$1.00")
    expect((await readSettings(customer)).recharge).toMatchObject({ is_on: true, cents: 8_000, trigger_credits: 1_000 })
    expect((await save("rubbish", "rubbish", "no")).status).toBe(303)
    expect((await readSettings(customer)).recharge).toMatchObject({
      is_on: false,
      cents: 8_000,
      trigger_credits: 1_000
    })
  })

  it("is switched off when the card is removed, with a warning before and none afterwards", async () => {
    await save("75.50", "20")
    const confirmation = await customer.browser.get("/billing/card")
    expect(confirmation.text).toContain("Auto-recharge is on. Removing the card switches it off")
    expect((await readSettings(customer)).card).not.toBeNull()
    await customer.browser.post("/billing/card", readHiddenFields(confirmation.text))
    expect(await readSettings(customer)).toMatchObject({ card: null, recharge: { is_on: false } })
    const { text } = await customer.browser.get("/billing")
    expect(text).not.toContain("Auto-recharge was switched off")
    expect(findLink(text, "Remove")).toBeUndefined()
  })
})

describe("auto-recharge that charges immediately", () => {
  const path = "/billing/auto-recharge"
  let customer: SignedIn
  const save = (recharge_amount: string, trigger: string, payments?: string, is_on = "yes") =>
    customer.browser.submit(path, { recharge_amount, trigger, is_on, ...(payments !== undefined && { payments }) })
  const findRecharges = async () => (await listPayments(customer)).filter(({ kind }) => kind === "auto_recharge")
  beforeAll(async () => {
    customer = await console.signIn()
    await payByCard(customer, "10", "4242424242424242") // 15,000 credits
  })

  it("asks for confirmation, and states the account, the amount, the card, the number of payments and the total", async () => {
    const { status, text } = await save("10", "5,000")
    expect(status).toBe(200)
    const sentences = unescapeHtml(text.replace(/<[^>]*>/g, "")).replace(/\s+/g, " ")
    expect(text).toContain("<dt>Account</dt><dd>Bakery</dd>")
    expect(sentences).toContain("The balance is $15.00, below the $5,000.00 that you chose.")
    expect(sentences).toContain(
      "Visa ending in 4242 is charged $10.00 now, and again as calls are made, until the balance is at least $5,000.00: about 499 payments, $4,990.00 in total"
    )
    expect(sentences).toContain(
      "Recharges are at least a minute apart, and at most $50.00 a day and $1,000.00 a month."
    )
    expect(listButtons(text)).toEqual(["Switch on and charge $10.00", "Back"])
    expect(["recharge_amount", "trigger", "payments"].map((name) => readHiddenFields(text)[name])).toEqual([
      "10",
      "5,000",
      "499"
    ])
    expect((await readSettings(customer)).recharge).toMatchObject({ is_on: false, is_configured: false })
    expect(await findRecharges()).toEqual([])
  })

  it("asks again if more payments are needed than were shown, and keeps the typed values", async () => {
    for (const payments of ["498", "0", "many", ""]) {
      expect([payments, listButtons((await save("10", "5000", payments)).text)]).toEqual([
        payments,
        ["Switch on and charge $10.00", "Back"]
      ])
    }
    const { text } = await save("12.50", "5000", "400", "not_yet")
    expect([readValue(text, "recharge_amount"), readValue(text, "trigger")]).toEqual(["12.50", "5000"])
    expect((await readSettings(customer)).recharge.is_on).toBe(false)
    expect(await findRecharges()).toEqual([])
  })

  it("does not ask if the balance equals the trigger", async () => {
    expect((await save("10", "15")).status).toBe(303)
  })

  it("asks before it saves a change while it is on", async () => {
    expect(listButtons((await save("10", "5000")).text)).toEqual(["Save and charge $10.00", "Back"])
    expect((await save("", "", "", "no")).status).toBe(303)
  })

  it("charges once after one payment was confirmed", async () => {
    const { text } = await save("10", "16")
    expect(text).not.toContain("and again")
    const { headers } = await save("10", "16", readHiddenFields(text).payments)
    expect(headers.get("location")).toBe("/billing")
    const [, notice = ""] = /larder_notice_[\w.]+=([^;]*)/.exec(headers.get("set-cookie") ?? "") ?? []
    expect(Buffer.from(notice, "base64url").toString()).toContain(
      "below $16.00, at most $50.00 a day and $1,000.00 a month. The card is being charged now."
    )
    const listRecharges = async () => (await findRecharges()).map(({ cents, state }) => [cents, state])
    await expect.poll(listRecharges).toEqual([[1_000, "succeeded"]])
    expect(await readBalance(customer)).toBe(25_000)
  })
})

describe("auto-recharge on the pages of the console", () => {
  let customer: SignedIn
  const readSection = (html: string, heading: string) => {
    const [, body = ""] = new RegExp(`<section aria-labelledby="s-${heading}">(.*?)</section>`, "s").exec(html) ?? []
    return unescapeHtml(body.replace(/<[^>]*>/g, " "))
  }
  beforeAll(async () => {
    customer = await console.signIn()
  })

  it("is linked from the overview and from billing, and explained before a card is saved", async () => {
    const billing = await customer.browser.get("/billing")
    expect(findLink(billing.text, "How it works")).toBe("/billing/auto-recharge")
    expect(findLink((await customer.browser.get("/")).text, "Set up")).toBe("/billing/auto-recharge")
    const recharge = await customer.browser.get("/billing/auto-recharge")
    expect(findLink(recharge.text, "Add credits")).toBe("/billing/top-up")
    for (const { text } of [billing, recharge]) expect(text).toContain(savedCardExplanation)
  })

  it("shows no amounts on the billing page before they are chosen", async () => {
    await payByCard(customer, "10", "4000000000000341") // 15,000 credits; every later charge is declined
    const { text } = await customer.browser.get("/billing")
    expect(readSection(text, "auto-recharge")).not.toContain("$")
    expect(findLink(text, "Set up")).toBe("/billing/auto-recharge")
    expect((await customer.browser.get("/billing/auto-recharge")).text).toContain("These are suggested amounts")
  })

  it("states when and for which card it was switched off, with links to continue", async () => {
    const choice = { recharge_amount: "10", trigger: "16", is_on: "yes", payments: "1" }
    await customer.browser.submit("/billing/auto-recharge", choice)
    await expect.poll(async () => (await readSettings(customer)).recharge.is_on).toBe(false)
    const pages = await Promise.all(
      ["/", "/billing", "/billing/auto-recharge"].map((path) => customer.browser.get(path))
    )
    for (const { text } of pages) {
      expect(text).toMatch(
        /Auto-recharge was switched off\. A recharge of \$10\.00 with Visa ending in 0341 failed on \d{1,2} \w+ \d{4}, \d\d:\d\d UTC\. The card was declined\./
      )
      expect(text).not.toContain("notice bad")
    }
    for (const { text } of pages) {
      expect(findLink(text, "Switch auto-recharge on again")).toBe("/billing/auto-recharge")
    }
    expect(listButtons(pages[2]?.text ?? "")).toEqual(["Switch on"])
  })

  it("offers other cards first after a failed recharge, until the card pays again or is replaced", async () => {
    const openReview = () => customer.browser.get("/billing/top-up?amount=50")
    const refused = await openReview()
    expect(refused.text).toContain("The last payment with Visa ending in 0341 failed. The card was declined.")
    expect(listButtons(refused.text)).toEqual(["Pay with another card", "Pay $50.00 with Visa ending in 0341"])
    expect(listPrimaryButtons(refused.text)).toEqual(["Pay with another card"])
    await openCardPage(customer, "20") // an unfinished payment does not count for the card
    expect(listPrimaryButtons((await openReview()).text)).toEqual(["Pay with another card"])
    await payByCard(customer, "10", "5555555555554444")
    const replaced = await openReview()
    expect(replaced.text).not.toContain("The last payment with")
    expect(listPrimaryButtons(replaced.text)).toEqual(["Pay $50.00 with Mastercard ending in 4444"])
    await payByCard(customer, "10", "4000000000000341")
    expect(listPrimaryButtons((await openReview()).text)).toEqual(["Pay $50.00 with Visa ending in 0341"])
  })

  it("keeps the warning and the amounts when it is saved as off, and loses the warning when it is switched on", async () => {
    const path = "/billing/auto-recharge"
    await customer.browser.submit(path, { is_on: "no" })
    const [overview, billing] = await Promise.all(["/", "/billing"].map((page) => customer.browser.get(page)))
    for (const page of [overview, billing]) expect(page?.text).toContain("Auto-recharge was switched off")
    expect(readSection(billing?.text ?? "", "auto-recharge")).toMatch(
      /Last used\s+\$10\.00 whenever the balance falls below \$16\.00/
    )
    const choice = { recharge_amount: "10", trigger: "1", is_on: "yes" }
    expect((await customer.browser.submit(path, choice)).status).toBe(303)
    expect((await customer.browser.get("/")).text).not.toContain("Auto-recharge was switched off")
  })
})

describe("auto-recharge after a refund", () => {
  it("is off, and every page of the account states why until a person switches it on", async () => {
    const customer = await console.signIn()
    await payByCard(customer, "50", "4242424242424242")
    const path = "/billing/auto-recharge"
    const choice = { recharge_amount: "50", trigger: "10", is_on: "yes" }
    await customer.browser.submit(path, choice)
    const [payment] = await listPayments(customer)
    await console.run(
      Effect.gen(function* () {
        const { event, refund } = yield* simulatorHarness
        yield* refund(payment?.id ?? "", null)
        const { body, header } = yield* event(payment?.id ?? "")
        yield* Billing.use((billing) => billing.webhook(body, header))
      }).pipe(Effect.scoped)
    )
    const paths = spendingPages.flatMap(({ get, path }) => (get && !/[:.]/.test(path) ? [path] : []))
    const stopped =
      /Auto-recharge was switched off\. A payment was refunded: \$50\.00, recorded on \d{1,2} \w+ \d{4}, \d\d:\d\d UTC\./
    for (const page of paths)
      expect([page, stopped.test((await customer.browser.get(page)).text)]).toEqual([page, true])
    expect((await customer.browser.get("/no-such-page")).text).toMatch(stopped)
    const confirmation = await customer.browser.submit(path, { ...choice, trigger: "1" })
    expect(confirmation.status).toBe(303)
    for (const page of paths) expect((await customer.browser.get(page)).text).not.toMatch(stopped)
  })
})

describe("the ceilings of auto-recharge", () => {
  const path = "/billing/auto-recharge"
  let customer: SignedIn
  const save = (fields: Readonly<Record<string, string>>) =>
    customer.browser.submit(path, { recharge_amount: "40", trigger: "1", is_on: "yes", ...fields })
  const readCeilings = async () => {
    const { daily_ceiling_cents, monthly_ceiling_cents } = (await readSettings(customer)).recharge
    return [daily_ceiling_cents, monthly_ceiling_cents]
  }
  beforeAll(async () => {
    customer = await console.signIn()
    await payByCard(customer, "50", "4242424242424242")
  })

  it("are suggested as 5 and 100 times the amount, and are filled in so if they are left empty", async () => {
    const { text } = await customer.browser.get(path)
    const names = ["recharge_amount", "daily_ceiling", "monthly_ceiling"]
    expect(names.map((name) => readValue(text, name))).toEqual(["100.00", "500.00", "10000.00"])
    await save({ daily_ceiling: "", monthly_ceiling: "" })
    expect(await readCeilings()).toEqual([200_00, 4_000_00])
  })

  it("are never below the amount", async () => {
    const { status, text } = await save({ daily_ceiling: "39.99", monthly_ceiling: "many" })
    expect(status).toBe(422)
    expect(readError(text, "daily_ceiling")).toBe(
      "Enter at least the amount of one recharge, and at most $5,000,000.00."
    )
    expect([readError(text, "monthly_ceiling"), readValue(text, "monthly_ceiling")]).toEqual([
      "Enter an amount in dollars and cents, such as 500 or 500.50.",
      "many"
    ])
    expect((await save({ daily_ceiling: "40", monthly_ceiling: "40" })).status).toBe(303)
    expect(await readCeilings()).toEqual([40_00, 40_00])
  })

  it("are shown with what is used of them, and with when the next recharge may begin", async () => {
    const fields = { trigger: "60", daily_ceiling: "70", monthly_ceiling: "5,000" }
    const confirmation = await save(fields)
    const saved = await customer.browser.post(path, { ...readHiddenFields(confirmation.text), is_on: "yes" })
    expect(saved.status).toBe(303)
    await expect.poll(() => readBalance(customer)).toBe(95_000)
    const { text } = await customer.browser.get(path)
    const shown = unescapeHtml(text.replace(/<[^>]*>/g, " ")).replace(/\s+/g, " ")
    expect(shown).toContain("Today $40.00 of $70.00 This month $40.00 of $5,000.00")
    expect(shown).toMatch(
      /Another recharge would exceed the ceiling of this day\. The card is not charged before \d{1,2} \w+ \d{4}, 00:00:00 UTC; calls go on until the balance is used up\./
    )
  })
})
