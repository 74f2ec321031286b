/** The forms about money, filled in and sent over HTTP: what is typed wrong, and what is paid. */

import { Billing } from "@larder/serve/billing/billing.ts"
import { Simulator } from "@larder/serve/billing/simulator/simulator.ts"
import { Administration } from "@larder/serve/ledger/administration.ts"
import { beforeAll, describe, expect, it } from "vitest"
import { linkCalled, type SignedIn, spendingConsole, unescaped } from "./spending-console.ts"

const console = spendingConsole()

const balanceOf = async ({ account }: SignedIn) =>
  (await console.run(Administration.use((ledger) => ledger.account({ account_id: account.id })))).balance_credits
const paymentsOf = ({ account }: SignedIn) =>
  console.run(Billing.use((billing) => billing.payments(account.id, { before: null, limit: 100 })))
const settingsOf = ({ account }: SignedIn) => console.run(Billing.use((billing) => billing.settings(account.id)))

/** The text behind the field's name: what a person reads beside it. */
const errorAt = (html: string, name: string) =>
  unescaped(new RegExp(`<p class="error" id="${name}-error">([^<]*)</p>`).exec(html)?.[1] ?? "")
const valueAt = (html: string, name: string) =>
  unescaped(new RegExp(`<input id="${name}"[^>]*?value="([^"]*)"`, "s").exec(html)?.[1] ?? "")
const hidden = (html: string, name: string) =>
  unescaped(new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? "")

/** From the amount over the processor's page back to the console. */
const payByCard = async (who: SignedIn, amount: string, number: string) => {
  const review = await who.browser.get(`/billing/top-up?amount=${amount}`)
  const left = await who.browser.post("/billing/top-up", {
    amount: hidden(review.text, "amount"),
    submission: hidden(review.text, "submission"),
    pay_with: "new_card"
  })
  expect(left.status).toBe(303)
  const reference = new URL(left.headers.get("location") ?? "").pathname.split("/").at(-1) ?? ""
  const paid = await console.run(
    Simulator.use((simulator) => simulator.pay(reference, { number, expires: "12/40", cvc: "123" }))
  )
  if (paid.kind !== "paid") throw new Error(`the simulator says ${JSON.stringify(paid)}`)
  const back = new URL(paid.url)
  return who.browser.get(back.pathname + back.search)
}

const amounts = [
  ["", "Type an amount in US dollars."],
  ["ten", "This is no amount in dollars and cents, such as 75 or 75.50."],
  ["-50", "This is no amount in dollars and cents, such as 75 or 75.50."],
  ["1e3", "This is no amount in dollars and cents, such as 75 or 75.50."],
  ["12.345", "This is no amount in dollars and cents, such as 75 or 75.50."],
  ["0x64", "This is no amount in dollars and cents, such as 75 or 75.50."],
  ["9.99", "Type at least $10 and at most $50,000."],
  ["0", "Type at least $10 and at most $50,000."],
  ["50000.01", "Type at least $10 and at most $50,000."],
  ['"><script>alert(1)</script>', "This is no amount in dollars and cents, such as 75 or 75.50."]
] as const

describe("a top-up", () => {
  let who: SignedIn
  beforeAll(async () => {
    who = await console.signedIn()
  })

  it.each(amounts)(
    "of %j is refused with a message at the field, which keeps what was typed",
    async (typed, problem) => {
      const asked = await who.browser.get(`/billing/top-up?amount=${encodeURIComponent(typed)}`)
      const sent = await who.browser.post("/billing/top-up", { amount: typed, submission: "s1", pay_with: "new_card" })
      for (const { status, text } of [asked, sent]) {
        expect([status, errorAt(text, "amount"), valueAt(text, "amount")]).toEqual([422, problem, typed])
        expect(text).toContain('autofocus aria-describedby="amount-error" aria-invalid="true"')
        expect(text).not.toContain("<script>alert")
      }
      expect(await paymentsOf(who)).toEqual([])
    }
  )

  it.each([
    ["10", "$10.00", "10,000 credits"],
    ["$1,234.50", "$1,234.50", "1,234,500 credits"],
    ["50000", "$50,000.00", "50,000,000 credits"]
  ])("of %s is told before it is paid", async (typed, paid, got) => {
    const { status, text } = await who.browser.get(`/billing/top-up?amount=${encodeURIComponent(typed)}`)
    expect(status).toBe(200)
    expect(text).toContain(`<dd>${paid}</dd>`)
    expect(text).toContain(`<dd>${got}</dd>`)
    expect(text).toContain(`Pay ${paid} by card</button>`)
  })

  it("with a new card leads to the processor, saves the card and adds its credits once", async () => {
    // nobody but the page that the customer comes back to asks how the payment went
    await console.run(Simulator.use((simulator) => simulator.play({ events: "none" })))
    const page = await payByCard(who, "100", "4242424242424242")
    await console.run(Simulator.use((simulator) => simulator.play({ events: "once" })))
    expect(page.text).toContain("Paid. 100,000 credits were added to your balance.")
    expect(page.text).toContain("</span>$105.00</a>")
    expect(await balanceOf(who)).toBe(105_000)
    const again = await who.browser.get("/billing")
    expect(again.text).toContain("Visa ending in 4242")
    expect(await balanceOf(who)).toBe(105_000)
  })

  it("with the saved card is one payment, however often its form is sent", async () => {
    const before = await balanceOf(who)
    const review = await who.browser.get("/billing/top-up?amount=50")
    expect(review.text).toContain("Pay $50.00 with Visa ending in 4242</button>")
    const form = { amount: "50.00", submission: hidden(review.text, "submission"), pay_with: "saved_card" }
    const sent = await Promise.all([1, 2, 3].map(() => who.browser.post("/billing/top-up", form)))
    const places = sent.map(({ headers, status }) => [status, headers.get("location")])
    expect(places).toEqual([places[0], places[0], places[0]])
    expect(places[0]).toEqual([303, expect.stringMatching(/^\/billing\/payments\/pay_/)])
    expect(await balanceOf(who)).toBe(before + 50_000)
  })

  it("whose form was sent before with another amount is refused, and shown anew", async () => {
    const review = await who.browser.get("/billing/top-up?amount=50")
    const submission = hidden(review.text, "submission")
    await who.browser.post("/billing/top-up", { amount: "50", submission, pay_with: "saved_card" })
    const other = await who.browser.post("/billing/top-up", { amount: "60", submission, pay_with: "saved_card" })
    expect(other.status).toBe(422)
    expect(other.text).toContain('role="alert"')
    expect(hidden(other.text, "submission")).not.toBe(submission)
  })

  it("while the processor is away is told so, and is the same payment when it is sent again", async () => {
    const before = await balanceOf(who)
    const review = await who.browser.get("/billing/top-up?amount=70")
    const form = { amount: "70", submission: hidden(review.text, "submission"), pay_with: "new_card" }
    await console.run(Simulator.use((simulator) => simulator.play({ outage: true })))
    const refused = await who.browser.post("/billing/top-up", form)
    await console.run(Simulator.use((simulator) => simulator.play({ outage: false })))
    expect([refused.status, hidden(refused.text, "submission")]).toEqual([503, form.submission])
    expect(refused.text).toContain("Nothing was charged")
    const sent = await who.browser.post("/billing/top-up", form)
    expect([sent.status, await balanceOf(who)]).toEqual([303, before])
    expect((await paymentsOf(who)).filter(({ cents }) => cents === 7_000).length).toBe(1)
  })

  it("that was left on the processor's page says that nothing was charged", async () => {
    const { text } = await who.browser.get("/billing/top-up?amount=100&left=yes")
    expect(text).toContain("The payment was not finished, and nothing was charged.")
  })

  it("with a saved card that there is none of is refused", async () => {
    const poor = await console.signedIn()
    const { status, text } = await poor.browser.post("/billing/top-up", {
      amount: "50",
      submission: "abcdefghijklmnopqrstuvwx",
      pay_with: "saved_card"
    })
    expect([status, text.includes("There is no saved card.")]).toEqual([422, true])
  })
})

describe("a saved card", () => {
  it("that cannot be removed while the processor is away is still there, and the page says what has happened", async () => {
    const who = await console.signedIn()
    await payByCard(who, "100", "4242424242424242")
    await console.run(Simulator.use((simulator) => simulator.play({ outage: true })))
    const refused = await who.browser.post("/billing/card", {})
    await console.run(Simulator.use((simulator) => simulator.play({ outage: false })))
    expect(refused.status).toBe(503)
    expect(refused.text).toContain("so the card is still saved there. Auto-recharge is off")
    expect(refused.text).toContain("Visa ending in 4242")
    expect((await who.browser.post("/billing/card", {})).headers.get("location")).toBe("/billing")
    expect((await settingsOf(who)).card).toBeNull()
  })
})

describe("auto-recharge", () => {
  let who: SignedIn
  beforeAll(async () => {
    who = await console.signedIn()
  })
  const path = "/billing/auto-recharge"
  const save = (recharge_amount: string, trigger: string, is_on = "yes") =>
    who.browser.post(path, { recharge_amount, trigger, is_on })

  it("needs a saved card, and says so", async () => {
    expect((await who.browser.get(path)).text).toContain("Auto-recharge needs a saved card")
    const { status, text } = await save("100", "20")
    expect([status, text.includes("There is no saved card.")]).toEqual([422, true])
    expect((await settingsOf(who)).recharge.is_on).toBe(false)
    await payByCard(who, "100", "4242424242424242")
  })

  it.each(amounts)("of %j is refused at its field, and so is such a trigger", async (typed, problem) => {
    const { status, text } = await save(typed, "many")
    expect(status).toBe(422)
    expect([errorAt(text, "recharge_amount"), valueAt(text, "recharge_amount")]).toEqual([problem, typed])
    expect([errorAt(text, "trigger"), valueAt(text, "trigger")]).toEqual([
      "This is no amount in dollars and cents, such as 20 or 20.50.",
      "many"
    ])
    expect((await settingsOf(who)).recharge.is_on).toBe(false)
  })

  it.each([
    ["0.99", "A trigger can be from $1.00 to $50,000.00."],
    ["50000.01", "A trigger can be from $1.00 to $50,000.00."],
    ["", "Type a balance in US dollars."]
  ])("below %j is refused, and keeps what is right", async (typed, problem) => {
    const { status, text } = await save("75.50", typed)
    expect([status, errorAt(text, "trigger"), valueAt(text, "trigger")]).toEqual([422, problem, typed])
    expect([errorAt(text, "recharge_amount"), valueAt(text, "recharge_amount")]).toEqual(["", "75.50"])
  })

  it("is switched on with its amounts, changed, and switched off whatever stands in the fields", async () => {
    expect((await save("75.50", "20")).headers.get("location")).toBe("/billing")
    expect((await settingsOf(who)).recharge).toMatchObject({ is_on: true, cents: 7_550, trigger_credits: 20_000 })
    const shown = await who.browser.get(path)
    expect([valueAt(shown.text, "recharge_amount"), valueAt(shown.text, "trigger")]).toEqual(["75.50", "20.00"])
    await save("80", "$1.00")
    expect((await settingsOf(who)).recharge).toMatchObject({ is_on: true, cents: 8_000, trigger_credits: 1_000 })
    expect((await save("rubbish", "rubbish", "no")).status).toBe(303)
    expect((await settingsOf(who)).recharge).toMatchObject({ is_on: false, cents: 8_000, trigger_credits: 1_000 })
  })

  it("goes off with the saved card, and says why", async () => {
    await save("75.50", "20")
    const asked = await who.browser.get("/billing/card")
    expect(asked.text).toContain("Auto-recharge is on. It is switched off")
    expect((await settingsOf(who)).card).not.toBeNull()
    await who.browser.post("/billing/card", {})
    expect(await settingsOf(who)).toMatchObject({ card: null, recharge: { is_on: false } })
    const { text } = await who.browser.get("/billing")
    expect(text).toContain("Auto-recharge was switched off. The saved card was removed.")
    expect(linkCalled(text, "Remove")).toBeUndefined()
  })
})
