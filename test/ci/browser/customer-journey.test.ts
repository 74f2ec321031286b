/**
 * A customer in the console, in a real browser, from the first sign-in to a revoked key. The tests build on each other, and
 * check the accessibility of every page. Takes about a minute.
 */
import { pages } from "@larder/serve/console"
import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { sendOnce } from "../../support/api/client.ts"
import { admin } from "../../support/programs.ts"
import { sizes } from "./accessibility.ts"
import { useConsoleInBrowser } from "./console-in-browser.ts"
import { countInaccessibleCells, countPaymentIdLines, findVisibleLabels, measureItemGaps } from "./measures.ts"
import { findButton, payByCard, press, pressAndReadBusy, readContent, readHeading, waitForText } from "./page-steps.ts"

const setup = useConsoleInBrowser()
const { checkPage, withPage } = setup

const email = "ada@example.com"
const password = "lantern oyster gravel tractor"
const validCard = "4242 4242 4242 4242"
const declinedCard = "4000 0000 0000 0002"

const fillSignIn = async (page: Page, secret: string) => {
  await page.getByLabel("E-mail").fill(email)
  await page.getByLabel("Password").fill(secret)
  await press(page, findButton(page, "Sign in"))
}

let key = ""
const call = (path = "/v1/commodities?commodity=butter") => sendOnce(setup.server().api, path, { key })
const repeatCall = async (times: number) => {
  for (let calls = 0; calls < times; calls++) expect((await call()).status).toBe(200)
}

/** The remaining credits on the overview. */
const readBalance = async (page: Page): Promise<number> => {
  await page.goto("/")
  const [, credits = ""] = /(−?[\d,]+) credits/.exec(await readContent(page)) ?? []
  return Number(credits.replaceAll(",", "").replace("−", "-"))
}

describe("a customer in the console", () => {
  it("signs up with the printed link, which works once", () =>
    withPage(async (page, context) => {
      const link = setup.server().first_link ?? ""
      await page.goto(link)
      await checkPage(page, "invitation")
      await page.getByLabel("E-mail").fill(email)
      await page.getByLabel("Password").fill("short")
      await press(page, findButton(page, "Create my login"))
      expect(await page.getByRole("alert").innerText()).toContain("12 characters")
      await checkPage(page, "invitation-refused")
      await page.getByLabel("E-mail").fill(email)
      await page.getByLabel("Password").fill(password)
      await press(page, findButton(page, "Create my login"))
      expect(await readHeading(page)).toBe("Overview")
      await checkPage(page, "overview-initial")
      await press(page, findButton(page, "Sign out"))
      await page.goto(link)
      expect(await readContent(page)).toContain("has been used")
      await checkPage(page, "invitation-used")
      await context.clearCookies()
    }, "visitor"))

  it("signs in with e-mail and password, and arrives at the requested page", () =>
    withPage(async (page, context) => {
      await page.goto("/keys")
      expect(await readHeading(page)).toBe("Sign in")
      await checkPage(page, "sign-in")
      await press(page, page.getByRole("link", { name: "Forgot your password?" }))
      await checkPage(page, "forgot-password")
      await page.getByLabel("E-mail").fill("nobody@example.com")
      await press(page, findButton(page, "Send the link"))
      expect(await readHeading(page)).toBe("Look at the server's output")
      await checkPage(page, "forgot-password-sent")
      await page.goto("/keys")
      await fillSignIn(page, "not the password")
      expect(await page.getByRole("alert").innerText()).toContain("wrong")
      await checkPage(page, "sign-in-refused")
      await fillSignIn(page, password)
      expect(await readHeading(page)).toBe("Keys")
      await checkPage(page, "keys-initial")
      await setup.saveSignedIn(context)
    }, "visitor"))

  it("creates a key that is shown once and works", () =>
    withPage(async (page, context) => {
      await context.grantPermissions(["clipboard-read", "clipboard-write"])
      await page.goto("/keys/new")
      await checkPage(page, "key-new")
      await page.getByLabel("Name").fill("price dashboard")
      await page.getByLabel("Choose scopes one by one").check()
      await checkPage(page, "key-new-scopes")
      await page.getByLabel("Everything").check()
      await press(page, findButton(page, "Create the key"))
      key = (await page.locator("#new-key").innerText()).trim()
      expect(key).toMatch(/^svc_data_[A-Za-z0-9]{64}$/)
      await checkPage(page, "key-created")
      await findButton(page, "Copy the key").click()
      await page.getByText("Copied", { exact: true }).waitFor()
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(key)
      expect(await page.locator("#curl").innerText()).toContain(`Bearer ${key}`)
      await page.reload()
      expect(await readHeading(page)).toBe("Keys")
      expect(await page.content()).not.toContain(key)
      expect(await readContent(page)).toContain(`svc_data_…${key.slice(-4)}`)
      await repeatCall(3)
      expect((await call("/v1/commodities/prices?series=gold")).status).toBe(400)
    }))

  it("sees the calls, their cost and the rejected ones", () =>
    withPage(async (page) => {
      await page.goto("/requests")
      await waitForText(page, "400")
      await checkPage(page, "requests")
      await page.getByLabel("Status").selectOption("400")
      await press(page, findButton(page, "Show"))
      expect(await page.getByRole("row").count()).toBe(2)
      await page.goto("/usage")
      await waitForText(page, /200\tAnswered\t3\t75\.0%\n400\tInvalid request\t1/)
      await checkPage(page, "usage")
      const csv = await page.request.get(`${setup.server().console}/usage.csv`)
      expect(await csv.text()).toMatch(/price dashboard[^\n]*,3,30,0\.03/)
      expect(await readBalance(page)).toBe(4970)
      await checkPage(page, "overview")
    }))

  it("gets nothing for a declined card, and 50,000 credits for $50 with a valid card", () =>
    withPage(async (page) => {
      await page.goto("/billing")
      await checkPage(page, "billing-initial")
      await page.goto("/billing/low-balance")
      expect(await readContent(page)).toContain("This server sends no mail")
      await checkPage(page, "low-balance-off")
      await page.goto("/billing")
      await page.getByLabel("Or any amount").fill("9.99")
      await press(page, findButton(page, "Continue"))
      expect(await readContent(page)).toContain("at least $10 and at most $50,000")
      await checkPage(page, "top-up-refused")
      await page.goto("/billing")
      await press(page, page.getByRole("link", { name: "$50", exact: true }))
      await checkPage(page, "top-up")
      await press(page, findButton(page, "Continue to the card page"))
      await checkPage(page, "checkout")
      const checkout = page.url()
      await payByCard(page, declinedCard)
      expect(await page.getByRole("alert").innerText()).toContain("declined")
      await checkPage(page, "checkout-declined")
      expect(await readBalance(page)).toBe(4970)
      await page.goto(checkout)
      await payByCard(page, validCard)
      await waitForText(page, "Paid. 50,000 credits were added")
      await checkPage(page, "payment")
      await press(page, page.getByRole("link", { name: "Receipt" }))
      await checkPage(page, "receipt")
      expect(await readBalance(page)).toBe(54_970)
    }))

  it("is recharged automatically once calls bring the balance below the trigger", () =>
    withPage(async (page) => {
      await page.goto("/billing/auto-recharge")
      await page.getByLabel("Amount", { exact: true }).fill("10")
      await page.getByLabel("When the balance falls below").fill("54.96")
      await checkPage(page, "auto-recharge")
      await page.getByLabel("When the balance falls below").fill("100")
      await press(page, findButton(page, "Switch on"))
      expect(await readContent(page)).toMatch(/charged \$10\.00\s+now, and again as calls are made/)
      await checkPage(page, "auto-recharge-asks")
      await press(page, findButton(page, "Back"))
      expect(await page.getByLabel("When the balance falls below").inputValue()).toBe("100")
      await page.getByLabel("When the balance falls below").fill("54.96")
      expect(await pressAndReadBusy(page, findButton(page, "Switch on"))).toBe("Switch on")
      expect(await readContent(page)).toContain("Auto-recharge is on")
      await repeatCall(1) // 54.96 is not below 54.96
      await repeatCall(1)
      await page.goto("/billing/payments")
      await waitForText(page, /Auto-recharge[\s\S]*Paid[\s\S]*\$10\.00/)
      await checkPage(page, "payments")
      expect(await readBalance(page)).toBe(54_950 + 10_000)
    }))

  it("loses the credits of a refund once, which switches auto-recharge off", () =>
    withPage(async (page) => {
      await page.goto("/simulator")
      await checkPage(page, "simulator")
      expect(await countPaymentIdLines(page)).toEqual([1])
      await page.getByLabel("Lose the next answer").check()
      await press(page, findButton(page, "Apply"))
      await checkPage(page, "simulator-faults")
      await press(page, findButton(page, "Back to normal"))
      expect(await readContent(page)).toContain("No faults are simulated now.")
      await press(page, page.locator("tbody a").last())
      await checkPage(page, "simulator-payment")
      expect(await countPaymentIdLines(page)).toEqual([1])
      await page.getByLabel("Amount").fill("20")
      await press(page, page.getByRole("button", { name: "Refund", exact: true }))
      for (const [path, name] of [
        ["/", "overview"],
        ["/billing", "billing"],
        ["/billing/auto-recharge", "auto-recharge"]
      ] as const) {
        await page.goto(path)
        await waitForText(page, "Auto-recharge was switched off. A payment was refunded: $20.00, recorded on")
        await checkPage(page, `${name}-off`)
      }
      await page.goto("/billing/ledger")
      await waitForText(page, "−20,000")
      await checkPage(page, "ledger")
      await page.setViewportSize(sizes.phone)
      const afterTime = "getComputedStyle(document.querySelector('tbody th time'), '::after').content"
      expect(await page.evaluate(afterTime)).toBe('" UTC"')
      const entry = page.getByRole("row").nth(1)
      const measureTop = async (label: string) => (await entry.locator(`[data-label=${label}]`).boundingBox())?.y
      expect(await measureTop("Credits")).toBe(await measureTop("What"))
      expect((await entry.boundingBox())?.height).toBeLessThan(160)
      const grant = page.getByRole("row").last() // has neither a subject nor a reference
      expect(await findVisibleLabels(grant)).toEqual(["What", "Credits", "Balance"])
      expect(await countInaccessibleCells(grant)).toBe(0)
      const [show, download] = [findButton(page, "Show"), page.getByRole("link", { name: /as CSV/ })]
      expect((await show.boundingBox())?.y).toBe((await download.boundingBox())?.y)
      await page.setViewportSize(sizes.desktop)
      expect(await readBalance(page)).toBe(44_950)
    }))

  it("edits a key without changing its secret, replaces it, and revokes it permanently", () =>
    withPage(async (page) => {
      await page.goto("/keys")
      await press(page, page.getByRole("link", { name: "price dashboard", exact: true }))
      await checkPage(page, "key")
      await page.getByLabel("Budget per month").fill("0.06")
      await press(page, findButton(page, "Save"))
      expect(await readContent(page)).toContain("$0.06 a month")
      await checkPage(page, "keys")
      await repeatCall(1)
      expect((await call()).status).toBe(402)
      await press(page, page.getByRole("link", { name: "price dashboard", exact: true }))
      await press(page, page.getByRole("link", { name: "Replace this key…" }))
      await checkPage(page, "key-rotate")
      await press(page, findButton(page, "Replace the key"))
      expect(await readContent(page)).toContain("Both spend the same budget.")
      await checkPage(page, "key-rotated")
      expect((await call()).status).toBe(402)
      await page.goto("/keys")
      await press(page, page.getByRole("link", { name: "Revoke price dashboard" }))
      await checkPage(page, "key-revoke")
      await press(page, findButton(page, "Revoke permanently"))
      expect(await readContent(page)).toContain("is revoked")
      expect((await call()).status).toBe(401)
      await press(page, page.getByRole("link", { name: "Revoked keys (1)" }))
      await checkPage(page, "keys-revoked")
    }))

  it("opens the pages about runs, feeds, checks, rejects and prices", () =>
    withPage(async (page) => {
      await page.goto("/data")
      await checkPage(page, "data")
      for (const name of ["Freshness", "Runs", "Feeds", "Checks", "Rejects", "Prices"]) {
        await press(page, page.getByRole("navigation", { name: "Data" }).getByRole("link", { name }))
        expect(await readHeading(page)).toBe(name)
        await checkPage(page, `data-${name.toLowerCase()}`)
      }
      await page.getByLabel("Compare with").selectOption("cheese-block-sales-price-weekly")
      await press(page, findButton(page, "Show"))
      await checkPage(page, "data-prices-two")
      const readDash = (line: number) =>
        page.evaluate(`getComputedStyle(document.querySelector(".legend .line-${line}")).strokeDasharray`)
      expect(await readDash(1)).toBe("none")
      expect(await readDash(2)).not.toBe("none")
      await page.setViewportSize(sizes.phone)
      await page.goto("/data/feeds")
      const feed = page.getByRole("row", { name: "gov-mars/1603" })
      expect(await findVisibleLabels(feed)).toEqual(["Read to", "Last new payload"])
      expect(await countInaccessibleCells(feed)).toBe(0)
      await page.goto("/data")
      const gaps = await measureItemGaps(page, "Newest")
      expect(gaps.length).toBeGreaterThan(0)
      expect(Math.min(...gaps)).toBeGreaterThan(4)
      await page.setViewportSize(sizes.desktop)
      await page.goto("/data/checks")
      const columns = `[...document.querySelectorAll("thead tr")].map((heads) =>
        [...heads.cells].map((head) => Math.round(head.getBoundingClientRect().left)).join(" "))`
      expect(new Set(await page.evaluate<Array<string>>(columns)).size).toBe(1)
      await page.goto("/data/runs")
      await press(page, page.locator("tbody a").first())
      await checkPage(page, "data-run")
    }))

  it("removes the saved card", () =>
    withPage(async (page) => {
      await page.goto("/billing/card")
      await checkPage(page, "card")
      await press(page, findButton(page, "Remove the card"))
      expect(await readContent(page)).toContain("No card saved")
    }))

  it("skips the navigation and opens a form only by keyboard", () =>
    withPage(async (page) => {
      await page.goto("/keys")
      const readFocus = () => page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")
      await page.keyboard.press("Tab")
      expect(await readFocus()).toBe("Skip to the content")
      await page.keyboard.press("Enter")
      expect(await readFocus()).toBe("content")
      for (const link of ["Switch auto-recharge on again", "Create a key"]) {
        await page.keyboard.press("Tab")
        expect(await readFocus()).toBe(link)
      }
      await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")])
      expect(await readHeading(page)).toBe("Create a key")
    }))

  it("changes the password, which ends the other sessions", () =>
    withPage(async (page) => {
      await withPage(async (other) => {
        await other.goto("/sign-in")
        await fillSignIn(other, password)
        expect(await readHeading(other)).toBe("Overview")
        await page.goto("/account")
        await checkPage(page, "account")
        await page.getByLabel("Current password").fill("not the password")
        await page.getByLabel("New password").fill(`${password} new`)
        await press(page, findButton(page, "Change the password"))
        expect(await readContent(page)).toContain("not your current password")
        await checkPage(page, "account-refused")
        await page.getByLabel("Current password").fill(password)
        await page.getByLabel("New password").fill(`${password} new`)
        await press(page, findButton(page, "Change the password"))
        expect(await readContent(page)).toContain("Your password is changed")
        await other.reload()
        expect(await readHeading(other)).toBe("Sign in")
      }, "visitor")
      await page.goto("/nowhere")
      expect(await readHeading(page)).toBe("Page not found")
      await checkPage(page, "not-found")
    }))

  it("gets 404 for pages of operators and of another account", () =>
    withPage(async (page) => {
      const { id } = await admin<{ readonly id: string }>(setup.home(), ["accounts", "create", "--name", "Others"])
      const invite = ["people", "invite", "--account", id]
      const { link } = await admin<{ readonly link: string }>(setup.home(), invite)
      await page.goto(link)
      await page.getByLabel("E-mail").fill("eve@example.com")
      await page.getByLabel("Password").fill(password)
      await press(page, findButton(page, "Create my login"))
      expect(await page.getByRole("navigation", { name: "Main" }).innerText()).not.toMatch(/Data|Simulator/)
      // pages of operators, and of the key and the payments of the other account
      const forbidden = /^\/(data|simulator(?!\/checkout)|keys\/(?!new)|billing\/payments\/.)/
      const paths = [...setup.checkedPaths].filter((path) => forbidden.test(path))
      expect(paths.length).toBeGreaterThan(10)
      for (const path of paths) expect([path, (await page.goto(path))?.status()]).toEqual([path, 404])
      expect(await readHeading(page)).toBe("Page not found")
    }, "visitor"))

  it("has visited every page of the console", () => {
    const shown = pages.filter(({ get, path }) => get !== undefined && !path.endsWith(".csv"))
    const wasChecked = (path: string) => {
      const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)
      return [...setup.checkedPaths].some((checked) => pattern.test(checked))
    }
    expect(shown.map(({ path }) => path).filter((path) => !wasChecked(path))).toEqual([])
  })

  it("causes no request to another host, no violation of the content policy and no failed script", () => {
    expect(setup.faults).toEqual([])
  })

  it("leaves no key, no password and no token in the logs", () => {
    const token = new URL(setup.server().first_link ?? "").pathname.split("/").at(-1) ?? ""
    expect(token.length).toBeGreaterThan(20)
    const logs = setup.server().logs()
    expect([key, password, token].filter((secret) => logs.includes(secret))).toEqual([])
  })
})
