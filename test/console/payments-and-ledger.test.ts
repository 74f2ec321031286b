/** Payments, receipts and the ledger: complete, only for their own account, and as a file. */
import { Billing, Simulator } from "@larder/serve/billing"
import { Administration } from "@larder/serve/ledger"
import { People } from "@larder/serve/people"
import { Effect, Stream } from "effect"
import Papa from "papaparse"
import { beforeAll, describe, expect, it } from "vitest"
import { findLink, readAllPages, readColumn } from "../support/console/pages.ts"
import { makeCall, type SignedIn, startSpendingConsole } from "../support/console/spending-console.ts"

const console = startSpendingConsole()
const formula = '=cmd|"/c calc"!A1'
let mine: SignedIn
let other: SignedIn
const notes = ["@SUM(1)", "+1", 'Good will, "thanks"', "-1"]

/** Pays an amount with a card of the simulator. */
const payAmount = (customer: SignedIn, cents: number, submission: string, person_id = "pers_1") =>
  console.run(
    Effect.gen(function* () {
      const billing = yield* Billing
      const simulator = yield* Simulator
      const topUp = yield* billing.topUp({
        account_id: customer.account.id,
        person_id,
        email: "a@example.com",
        cents,
        card: null,
        submission,
        success_url: (id) => `${console.url()}/billing/payments/${id}`,
        cancel_url: console.url
      })
      if (!("redirect" in topUp)) return yield* Effect.die("the payment was made immediately")
      const reference = new URL(topUp.redirect).pathname.split("/").at(-1) ?? ""
      const result = yield* simulator.pay(reference, { number: "4242424242424242", expires: "12/40", cvc: "123" })
      if (result.kind !== "paid") return yield* Effect.die(`the simulator returned ${result.kind}`)
      return yield* billing.payment(customer.account.id, new URL(result.url).pathname.split("/").at(-1) ?? "")
    })
  )

const calls = 80
const payments: Array<Awaited<ReturnType<typeof payAmount>>> = []

beforeAll(async () => {
  mine = await console.signIn(formula)
  other = await console.signIn("Other")
  for (let index = 0; index < 26; index++)
    payments.push(await payAmount(mine, 1_000 + index, `submission-${String(index).padStart(12, "0")}`))
  for (const note of notes) {
    await console.run(
      Administration.use((ledger) => ledger.creditAccount({ account_id: mine.account.id, credits: 7, note }))
    )
  }
  for (let index = 0; index < calls; index++) await console.run(makeCall(mine.key, mine.key.key, `req_${index}`))
  await console.run(makeCall(other.key, other.key.key, "req_of_other"))
})

const readEntries = () =>
  console.run(Effect.flatMap(Administration, (ledger) => Stream.runCollect(ledger.entriesOf(mine.account.id))))
/** As read aloud and shown on a phone; a wide screen hides the unit, which is in the heading. */
const formatFigure = (value: number) => `${value.toLocaleString("en-US").replace("-", "−")} credits`

describe("the ledger", () => {
  it("shows every entry of the account once, newest first, with the balance after it", async () => {
    const pages = await readAllPages(mine.browser, "/billing/ledger")
    const expected = (await readEntries()).toReversed()
    expect(pages.length).toBe(Math.ceil(expected.length / 50))
    expect(pages.flatMap((page) => readColumn(page, 5))).toEqual(expected.map(({ balance }) => formatFigure(balance)))
    expect(pages.flatMap((page) => readColumn(page, 3))).toEqual(expected.map(({ request_id }) => request_id ?? "–"))
  })

  it.each([
    ["calls", ["charge"]],
    ["payments", ["top_up", "auto_recharge"]],
    ["refunds", ["refund", "adjustment"]],
    ["grants", ["grant"]]
  ])("shows every entry of the kind %s once", async (what, types) => {
    const pages = await readAllPages(mine.browser, `/billing/ledger?what=${what}`)
    const expected = (await readEntries()).filter(({ type }) => types.includes(type)).toReversed()
    expect(pages.flatMap((page) => readColumn(page, 5))).toEqual(expected.map(({ balance }) => formatFigure(balance)))
  })

  it("names the unit of each number, and marks empty cells for phones", async () => {
    const account = await console.signIn("Small")
    await console.run(
      Administration.use((ledger) => ledger.creditAccount({ account_id: account.account.id, credits: 1, note: "Gift" }))
    )
    const { text } = await account.browser.get("/billing/ledger")
    expect(readColumn(text, 4)).toEqual(["+1 credit", "+5,000 credits"])
    expect(readColumn(text, 5)).toEqual(["5,001 credits", "5,000 credits"])
    expect(text).toContain('5,001<span class="unit"> credits</span>')
    expect(text.match(/<div>–<\/div>/)).toBeNull()
    expect(text.match(/<td[^>]*><div><span class="nothing">–<\/span><\/div>/g)?.length).toBe(3)
  })

  it("continues at the same entry even if new ones are added", async () => {
    const first = await mine.browser.get("/billing/ledger")
    await console.run(makeCall(mine.key, mine.key.key, "req_added"))
    const [second = ""] = await readAllPages(mine.browser, findLink(first.text, "Older") ?? "")
    const expected = (await readEntries()).toReversed().slice(51, 101)
    expect(readColumn(second, 5)).toEqual(expected.map(({ balance }) => formatFigure(balance)))
  })

  it("streams a CSV file of all entries without formulas", async () => {
    const { headers, text } = await mine.browser.get("/billing/ledger.csv")
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8")
    expect(headers.get("content-length")).toBeNull()
    expect(headers.get("transfer-encoding")).toBe("chunked")
    const { data } = Papa.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true })
    const toSafe = (value: string | null) => (value !== null && /^[=+\-@]/.test(value) ? `'${value}` : (value ?? ""))
    expect(data).toEqual(
      (await readEntries()).map((entry) => ({
        position: String(entry.position),
        occurred_at: entry.occurred_at,
        type: entry.type,
        credits: String(entry.credits),
        usd: String(entry.credits / 1_000),
        balance_credits: String(entry.balance),
        balance_usd: String(entry.balance / 1_000),
        key_id: entry.key_id ?? "",
        key: entry.key_id === null ? "" : toSafe(`${formula} (…${mine.key.last4})`),
        endpoint: entry.endpoint ?? "",
        reference: entry.request_id ?? "",
        note: toSafe(entry.note)
      }))
    )
    expect(text.match(/(^|,)"?[=+@]/m)).toBeNull()
    expect(text).not.toContain("req_of_other")
  })

  it("links back to billing and to a file of all entries, even from a filtered page", async () => {
    const { text } = await mine.browser.get("/billing/ledger?what=grants")
    expect(findLink(text, "Back to billing")).toBe("/billing")
    expect(findLink(text, "Download all as CSV")).toBe("/billing/ledger.csv")
  })

  it.each(["what=everything", "before=0", "before=-1", "before=1.5", "before=x"])(
    "returns 404 for %s",
    async (query) => {
      expect((await mine.browser.get(`/billing/ledger?${query}`)).status).toBe(404)
    }
  )
})

describe("payments", () => {
  it("links back to billing, even without any payment", async () => {
    for (const { browser } of [mine, other]) {
      expect(findLink((await browser.get("/billing/payments")).text, "Back to billing")).toBe("/billing")
    }
  })

  it("states on every page that payments are simulated, even before the first one", async () => {
    const path = `/billing/payments/${payments[0]?.id}`
    for (const page of [path, `${path}/receipt`]) {
      expect((await mine.browser.get(page)).text).toContain("Simulated: no money moved")
    }
    const refused = { amount: "9", submission: "refused-submission-1", pay_with: "new_card" }
    const dueRecharge = { recharge_amount: "10", trigger: "50000", is_on: "yes" }
    const pages = await Promise.all([
      ...["", "/top-up", "/top-up?amount=50", "/auto-recharge", "/card", "/payments"].map((page) =>
        mine.browser.get(`/billing${page}`)
      ),
      mine.browser.submit("/billing/top-up", refused),
      mine.browser.submit("/billing/auto-recharge", dueRecharge),
      other.browser.get("/billing/auto-recharge") // has no card
    ])
    for (const { text } of pages) {
      expect(text).toContain("Payments are simulated here: no money moves")
      expect(text).not.toMatch(/of the card processor|by the card processor/)
    }
    const titles = pages.map(({ text }) => /<h1[^>]*>([^<]*)/.exec(text)?.[1])
    expect(titles).toEqual([
      "Billing",
      "Add credits",
      "Add credits",
      "Auto-recharge",
      "Remove the saved card?",
      "Payments",
      "Add credits",
      "Charge the card now?",
      "Auto-recharge"
    ])
  })

  it("lists each payment once, newest first", async () => {
    const pages = await readAllPages(mine.browser, "/billing/payments")
    expect(pages.length).toBe(2)
    const cents = pages.flatMap((page) => readColumn(page, 4))
    expect(cents).toEqual(payments.map(({ cents }) => `$${(cents / 100).toFixed(2)}`).toReversed())
  })

  it("has a receipt with account, amount, credits and card", async () => {
    const [payment] = payments
    if (payment === undefined) throw new Error("no payment was made")
    const { status, text } = await mine.browser.get(`/billing/payments/${payment.id}/receipt`)
    expect(status).toBe(200)
    for (const part of [
      "<dt>Paid to</dt><dd>Larder</dd>",
      "Bakery",
      mine.account.id,
      "$10.00",
      "10,000",
      "Visa ending in 4242",
      payment.id
    ]) {
      expect(text).toContain(part)
    }
  })

  it("names the payer in the receipt, even after that person was removed", async () => {
    const customer = await console.signIn("Named")
    const { person } = await console.run(
      Effect.gen(function* () {
        const people = yield* People
        const invited = { account_id: customer.account.id, email: "payer@example.com", is_operator: false }
        const { token } = yield* people.invite(invited)
        return yield* people.accept({ token, email: "", password: "a long enough pass phrase" })
      })
    )
    const payment = await payAmount(customer, 5_000, "submission-named-001", person.id)
    const readPayer = async () => {
      const { text } = await customer.browser.get(`/billing/payments/${payment.id}/receipt`)
      return /<dt>Paid by<\/dt><dd>([^<]*)/.exec(text)?.[1]
    }
    expect(await readPayer()).toBe("payer@example.com")
    await console.run(People.use((people) => people.remove(person.id)))
    expect(await readPayer()).toBe("payer@example.com")
  })

  it.each(["", "/receipt"])("returns 404 for /billing/payments/{id}%s of another account", async (rest) => {
    for (const { id } of payments.slice(0, 3)) {
      expect((await mine.browser.get(`/billing/payments/${id}${rest}`)).status).toBe(200)
      expect((await other.browser.get(`/billing/payments/${id}${rest}`)).status).toBe(404)
    }
    expect((await mine.browser.get(`/billing/payments/pay_none${rest}`)).status).toBe(404)
  })

  it("lists no payment of another account", async () => {
    const last = payments.at(-1)?.id ?? ""
    for (const path of ["/billing", "/billing/payments", `/billing/payments?before=${last}`, "/billing/ledger"]) {
      const { status, text } = await other.browser.get(path)
      expect(status).toBe(200)
      expect(text).not.toContain("pay_")
      expect(text).not.toContain("4242")
      expect(text).not.toContain(mine.account.id)
    }
    expect((await other.browser.get("/billing/ledger.csv")).text).not.toContain("pay_")
  })

  it("states that an open payment is not confirmed, polls for the outcome, and has no receipt", async () => {
    const { payment } = await console.run(
      Effect.gen(function* () {
        const billing = yield* Billing
        yield* billing.topUp({
          account_id: other.account.id,
          person_id: "pers_1",
          email: "a@example.com",
          cents: 5_000,
          card: null,
          submission: "open-submission-0001",
          success_url: (id) => `${console.url()}/billing/payments/${id}`,
          cancel_url: console.url
        })
        const [payment] = yield* billing.payments(other.account.id, { before: null, limit: 1 })
        return { payment }
      })
    )
    const page = await other.browser.get(`/billing/payments/${payment?.id}`)
    expect(page.text).toContain("This payment is not confirmed yet.")
    expect(page.text).toContain("data-poll=")
    expect((await other.browser.get(`/billing/payments/${payment?.id}/receipt`)).status).toBe(404)
  })
})

it.each([
  "/billing",
  "/billing/top-up",
  "/billing/auto-recharge",
  "/billing/card",
  "/billing/payments",
  "/billing/payments/pay_none",
  "/billing/payments/pay_none/receipt",
  "/billing/ledger",
  "/billing/ledger.csv"
])("%s requires signing in", async (path) => {
  const { headers, status } = await console.openBrowser().get(path)
  expect([status, headers.get("location")?.split("?")[0]]).toEqual([303, "/sign-in"])
})

it.each(["/billing/top-up", "/billing/auto-recharge", "/billing/card"])(
  "a form for %s from another site is rejected with 403",
  async (path) => {
    for (const origin of ["https://evil.example", "null", undefined]) {
      const response = await mine.browser.request(path, {
        method: "POST",
        body: new URLSearchParams({ amount: "50", is_on: "no", pay_with: "saved_card" }),
        ...(origin !== undefined && { headers: { origin } })
      })
      expect(response.status).toBe(403)
    }
  }
)
