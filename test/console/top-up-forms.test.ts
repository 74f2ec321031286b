/** The forms for top-ups and saved cards, sent over HTTP: invalid input, and payments. */
import { Simulator, savedCardExplanation } from "@larder/serve/billing"
import { beforeAll, describe, expect, it } from "vitest"
import { listButtons, readError, readHiddenFields, readValue } from "../support/console/pages.ts"
import { type SignedIn, startSpendingConsole } from "../support/console/spending-console.ts"
import { invalidAmounts, makeCardPayments } from "./card-payments.ts"

const console = startSpendingConsole()
const { listPayments, openCardPage, payByCard, readBalance, readSettings } = makeCardPayments(console)

const notCompleted = "The payment was not completed, and nothing was charged."

describe("a top-up", () => {
  let customer: SignedIn
  beforeAll(async () => {
    customer = await console.signIn()
  })

  it.each(invalidAmounts)(
    "rejects the amount %j with a message at the field, and keeps the typed text",
    async (typed, problem) => {
      const opened = await customer.browser.get(`/billing/top-up?amount=${encodeURIComponent(typed)}`)
      const sent = await customer.browser.submit("/billing/top-up", {
        amount: typed,
        submission: "s1",
        pay_with: "new_card"
      })
      for (const { status, text } of [opened, sent]) {
        expect([status, readError(text, "amount"), readValue(text, "amount")]).toEqual([422, problem, typed])
        expect(text).toContain('autofocus aria-describedby="amount-error" aria-invalid="true"')
        expect(text).not.toContain("<script>alert")
      }
      expect(await listPayments(customer)).toEqual([])
    }
  )

  it.each([
    ["10", "$10.00", "10,000 credits"],
    ["$1,234.50", "$1,234.50", "1,234,500 credits"],
    ["50000", "$50,000.00", "50,000,000 credits"]
  ])("shows account, price and credits for the amount %s before the payment", async (typed, paid, credits) => {
    const { status, text } = await customer.browser.get(`/billing/top-up?amount=${encodeURIComponent(typed)}`)
    expect(status).toBe(200)
    expect(text).toContain("<dt>Account</dt><dd>Bakery</dd>")
    expect(text).toContain(`<dd>${paid}</dd>`)
    expect(text).toContain(`<dd>${credits}</dd>`)
    expect(text).toContain("Nothing is charged yet")
    expect(text).toContain(savedCardExplanation)
    expect(listButtons(text)).toEqual(["Continue to the card page"])
  })

  it("offers four amounts, and a field for any other", async () => {
    const { text } = await customer.browser.get("/billing")
    const links = [...text.matchAll(/<a [^>]*href="([^"]*amount=[^"]*)">([^<]*)</g)].map(([, href, label]) => [
      label,
      href
    ])
    expect(links).toEqual(["50", "100", "250", "500"].map((usd) => [`$${usd}`, `/billing/top-up?amount=${usd}`]))
    expect(text).toContain('<label for="amount">Or any amount</label>')
  })

  it("leads to the processor for a new card, saves the card and adds the credits once", async () => {
    // this console gets no events: only the page that the customer returns to requests the outcome
    const page = await payByCard(customer, "100", "4242424242424242")
    expect(page.text).toContain("Paid. 100,000 credits were added to your balance.")
    expect(page.text).toContain("$105.00</a>")
    expect(await readBalance(customer)).toBe(105_000)
    const billing = await customer.browser.get("/billing")
    expect(billing.text).toContain("Visa ending in 4242")
    expect(await readBalance(customer)).toBe(105_000)
  })

  it("makes one payment with the saved card if its form is sent three times", async () => {
    const before = await readBalance(customer)
    const review = await customer.browser.get("/billing/top-up?amount=50")
    expect(review.text).toContain("Pay $50.00 with Visa ending in 4242</button>")
    const form = { ...readHiddenFields(review.text), pay_with: "saved_card" }
    const sent = await Promise.all([1, 2, 3].map(() => customer.browser.post("/billing/top-up", form)))
    const locations = sent.map(({ headers, status }) => [status, headers.get("location")])
    expect(locations).toEqual([locations[0], locations[0], locations[0]])
    expect(locations[0]).toEqual([303, expect.stringMatching(/^\/billing\/payments\/pay_/)])
    expect(await readBalance(customer)).toBe(before + 50_000)
  })

  it("rejects a form that was already sent with another amount, and shows a new one", async () => {
    const review = await customer.browser.get("/billing/top-up?amount=50")
    const form = { ...readHiddenFields(review.text), pay_with: "saved_card" }
    await customer.browser.post("/billing/top-up", form)
    const refused = await customer.browser.post("/billing/top-up", { ...form, amount: "60" })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('role="alert"')
    expect(readHiddenFields(refused.text).submission).not.toBe(readHiddenFields(review.text).submission)
  })

  it("returns 503 while the processor is unavailable, and makes one payment when the form is sent again", async () => {
    const before = await readBalance(customer)
    const review = await customer.browser.get("/billing/top-up?amount=70")
    const form = { ...readHiddenFields(review.text), amount: "70", pay_with: "new_card" }
    await console.run(Simulator.use((simulator) => simulator.setFaults({ outage: true })))
    const refused = await customer.browser.post("/billing/top-up", form)
    await console.run(Simulator.use((simulator) => simulator.setFaults({ outage: false })))
    expect([refused.status, readHiddenFields(refused.text)]).toMatchObject([503, readHiddenFields(review.text)])
    expect(refused.text).toContain("Nothing was charged")
    const sent = await customer.browser.post("/billing/top-up", form)
    expect([sent.status, await readBalance(customer)]).toEqual([303, before])
    expect((await listPayments(customer)).filter(({ cents }) => cents === 7_000).length).toBe(1)
  })

  it("states that nothing was charged after the payment page is left, and cannot be paid later", async () => {
    const { cancelPath, pay, payment_id } = await openCardPage(customer, "80")
    const { status, text } = await customer.browser.get(cancelPath)
    expect([status, text.includes(notCompleted)]).toEqual([200, true])
    expect((await listPayments(customer)).find(({ id }) => id === payment_id)?.state).toBe("expired")
    expect((await pay("4242424242424242")).kind).not.toBe("paid")
  })

  it("shows a payment made in another tab when the checkout is cancelled", async () => {
    const before = await readBalance(customer)
    const { cancelPath, pay, payment_id } = await openCardPage(customer, "80")
    expect((await pay("4242424242424242")).kind).toBe("paid")
    const { headers, status } = await customer.browser.get(cancelPath)
    expect([status, headers.get("location")]).toEqual([303, `/billing/payments/${payment_id}`])
    expect(await readBalance(customer)).toBe(before + 80_000)
  })

  it("stays open if another account requests its cancel address", async () => {
    const { payment_id } = await openCardPage(customer, "80")
    const stranger = await console.signIn()
    for (const id of [payment_id, "pay_9", "yes"]) {
      const { status, text } = await stranger.browser.get(`/billing/top-up?amount=80&left=${id}`)
      expect([status, text.includes(notCompleted)]).toEqual([200, false])
    }
    expect((await listPayments(customer)).find(({ id }) => id === payment_id)?.state).toBe("open")
  })

  it("rejects a payment with the saved card if there is none", async () => {
    const withoutCard = await console.signIn()
    const { status, text } = await withoutCard.browser.submit("/billing/top-up", {
      amount: "50",
      submission: "abcdefghijklmnopqrstuvwx",
      pay_with: "saved_card"
    })
    expect([status, text.includes("There is no saved card.")]).toEqual([422, true])
  })
})

describe("a saved card", () => {
  it("disappears immediately if it is removed while the processor is unavailable", async () => {
    const customer = await console.signIn()
    await payByCard(customer, "100", "4242424242424242")
    const form = readHiddenFields((await customer.browser.get("/billing/card")).text)
    await console.run(Simulator.use((simulator) => simulator.setFaults({ outage: true })))
    const removed = await customer.browser.post("/billing/card", form)
    await console.run(Simulator.use((simulator) => simulator.setFaults({ outage: false })))
    expect([removed.status, removed.headers.get("location")]).toEqual([303, "/billing"])
    expect((await customer.browser.get("/billing")).text).toContain("No card saved")
    expect((await readSettings(customer)).card).toBeNull()
  })
})
