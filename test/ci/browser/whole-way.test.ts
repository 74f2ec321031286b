/**
 * What a customer does in the console, in a real browser, from the first sign-in to a revoked key: one way, scene after
 * scene. Every page on it can be used by everybody. Takes about a minute.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { pages } from "@larder/serve/console"
import type { Locator, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { sendOnce } from "../../support/api/client.ts"
import { admin } from "../../support/programs.ts"
import { consoleInBrowser } from "./console-in-browser.ts"
import { sizes } from "./look.ts"
import { gapsOfItems, labelsInSight, linesOfPaymentIds, unheardCells } from "./measures.ts"

const stage = consoleInBrowser()
const { look, scene } = stage

const email = "ada@example.com"
const password = "lantern oyster gravel tractor"
const goodCard = "4242 4242 4242 4242"
const declinedCard = "4000 0000 0000 0002"
/** Pays once at the payment page; every later charge is declined. */
const cardDeclinedLater = "4000 0000 0000 0341"

const heading = (page: Page) => page.getByRole("heading", { level: 1 }).textContent()
const content = (page: Page) => page.locator("#content").innerText()

/** Asks a page again until it says something: what it tells comes from work that goes on beside it. */
const until = async (page: Page, says: string | RegExp) => {
  for (let looks = 0; looks < 300; looks++) {
    const text = await content(page)
    if (typeof says === "string" ? text.includes(says) : says.test(text)) return
    await sleep(300)
    await page.reload()
  }
  throw new Error(`${page.url()} never said ${says}; it says:\n${await content(page)}`)
}

/** Presses what leads to another page, and waits until that is there. */
const press = async (page: Page, what: Locator) => {
  await Promise.all([page.waitForEvent("load"), what.click()])
}
/** The same, and says which buttons showed that they were pressed when the page was left. */
const pressAndSeeBusy = async (page: Page, what: Locator) => {
  const busy = "[...document.querySelectorAll('form[data-sent] [aria-busy=true]')].map((one) => one.textContent)"
  await page.evaluate(`addEventListener("pagehide", () => sessionStorage.setItem("busy", ${busy}.join()))`)
  await press(page, what)
  return page.evaluate("sessionStorage.getItem('busy')")
}
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name })

const fillSignIn = async (page: Page, secret: string) => {
  await page.getByLabel("E-mail").fill(email)
  await page.getByLabel("Password").fill(secret)
  await press(page, button(page, "Sign in"))
}

let key = ""
const call = (path = "/v1/commodities?commodity=butter") => sendOnce(stage.server().api, path, { key })
const callTimes = async (times: number) => {
  for (let calls = 0; calls < times; calls++) expect((await call()).status).toBe(200)
}

/** Credits that are left, as the overview says. */
const balance = async (page: Page): Promise<number> => {
  await page.goto("/")
  const [, credits = ""] = /(−?[\d,]+) credits/.exec(await content(page)) ?? []
  return Number(credits.replaceAll(",", "").replace("−", "-"))
}

/** From the page that says what is charged, over the processor's page. */
const payByCard = async (page: Page, number: string) => {
  await page.getByRole("textbox", { name: "Card number" }).fill(number)
  await page.getByLabel("Expires").fill("12/40")
  await page.getByLabel("Security code").fill("123")
  await press(page, button(page, /^Pay \$/))
}

describe("a customer in the console", () => {
  it("signs up with the printed link, which works once", () =>
    scene(async (page, context) => {
      const link = stage.server().first_link ?? ""
      await page.goto(link)
      await look(page, "invitation")
      await page.getByLabel("E-mail").fill(email)
      await page.getByLabel("Password").fill("short")
      await press(page, button(page, "Create my sign-in"))
      expect(await page.getByRole("alert").innerText()).toContain("12 characters")
      await look(page, "invitation-refused")
      await page.getByLabel("E-mail").fill(email)
      await page.getByLabel("Password").fill(password)
      await press(page, button(page, "Create my sign-in"))
      expect(await heading(page)).toBe("Overview")
      await look(page, "overview-at-first")
      await press(page, button(page, "Sign out"))
      await page.goto(link)
      expect(await content(page)).toContain("was used already")
      await look(page, "invitation-used")
      await context.clearCookies()
    }, "nobody"))

  it("signs in with e-mail and password, and arrives at the requested page", () =>
    scene(async (page, context) => {
      await page.goto("/keys")
      expect(await heading(page)).toBe("Sign in")
      await look(page, "sign-in")
      await fillSignIn(page, "not the password")
      expect(await page.getByRole("alert").innerText()).toContain("wrong")
      await look(page, "sign-in-refused")
      await fillSignIn(page, password)
      expect(await heading(page)).toBe("Keys")
      await look(page, "keys-at-first")
      await stage.keepSignedIn(context)
    }, "nobody"))

  it("creates a key that is shown once and works", () =>
    scene(async (page, context) => {
      await context.grantPermissions(["clipboard-read", "clipboard-write"])
      await page.goto("/keys/new")
      await look(page, "key-new")
      await page.getByLabel("Name").fill("price dashboard")
      await page.getByLabel("Choose scopes one by one").check()
      await look(page, "key-new-scopes")
      await page.getByLabel("Everything").check()
      await press(page, button(page, "Create the key"))
      key = (await page.locator("#new-key").innerText()).trim()
      expect(key).toMatch(/^svc_data_[A-Za-z0-9]{64}$/)
      await look(page, "key-created")
      await button(page, "Copy the key").click()
      await page.getByText("Copied", { exact: true }).waitFor()
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(key)
      expect(await page.locator("#curl").innerText()).toContain(`Bearer ${key}`)
      await page.reload()
      expect(await heading(page)).toBe("Keys")
      expect(await page.content()).not.toContain(key)
      expect(await content(page)).toContain(`svc_data_…${key.slice(-4)}`)
      await callTimes(3)
      expect((await call("/v1/commodities/prices?series=gold")).status).toBe(400)
    }))

  it("sees the calls, what they cost and which of them were rejected", () =>
    scene(async (page) => {
      await page.goto("/requests")
      await until(page, "400")
      await look(page, "requests")
      await page.getByLabel("Status").selectOption("400")
      await press(page, button(page, "Show"))
      expect(await page.getByRole("row").count()).toBe(2)
      await page.goto("/usage")
      await until(page, /200\tAnswered\t3\t75\.0%\n400\tInvalid request\t1/)
      await look(page, "usage")
      const csv = await page.request.get(`${stage.server().console}/usage.csv`)
      expect(await csv.text()).toMatch(/price dashboard[^\n]*,3,30,0\.03/)
      expect(await balance(page)).toBe(4970)
      await look(page, "overview")
    }))

  it("gets nothing for a declined card, and 50,000 credits for $50 paid with a good card", () =>
    scene(async (page) => {
      await page.goto("/billing")
      await look(page, "billing-at-first")
      await page.getByLabel("Or any amount").fill("9.99")
      await press(page, button(page, "Continue"))
      expect(await content(page)).toContain("at least $10 and at most $50,000")
      await look(page, "top-up-refused")
      await page.goto("/billing")
      await press(page, page.getByRole("link", { name: "$50", exact: true }))
      await look(page, "top-up")
      await press(page, button(page, "Continue to the card page"))
      await look(page, "checkout")
      const checkout = page.url()
      await payByCard(page, declinedCard)
      expect(await page.getByRole("alert").innerText()).toContain("declined")
      await look(page, "checkout-declined")
      expect(await balance(page)).toBe(4970)
      await page.goto(checkout)
      await payByCard(page, goodCard)
      await until(page, "Paid. 50,000 credits were added")
      await look(page, "payment")
      await press(page, page.getByRole("link", { name: "Receipt" }))
      await look(page, "receipt")
      expect(await balance(page)).toBe(54_970)
    }))

  it("is recharged automatically when calls bring the balance below the trigger", () =>
    scene(async (page) => {
      await page.goto("/billing/auto-recharge")
      await page.getByLabel("Amount", { exact: true }).fill("10")
      await page.getByLabel("When the balance falls below").fill("54.96")
      await look(page, "auto-recharge")
      await page.getByLabel("When the balance falls below").fill("100")
      await press(page, button(page, "Switch on"))
      expect(await content(page)).toMatch(/charged \$10\.00\s+now, and again as calls are made/)
      await look(page, "auto-recharge-asks")
      await press(page, button(page, "Back"))
      expect(await page.getByLabel("When the balance falls below").inputValue()).toBe("100")
      await page.getByLabel("When the balance falls below").fill("54.96")
      expect(await pressAndSeeBusy(page, button(page, "Switch on"))).toBe("Switch on")
      expect(await content(page)).toContain("Auto-recharge is on")
      await callTimes(1) // 54.96 is not below 54.96
      await callTimes(1)
      await page.goto("/billing/payments")
      await until(page, /Auto-recharge[\s\S]*Paid[\s\S]*\$10\.00/)
      await look(page, "payments")
      expect(await balance(page)).toBe(54_950 + 10_000)
    }))

  it("reads that auto-recharge was switched off after the card was declined", () =>
    scene(async (page) => {
      await page.goto("/billing/top-up?amount=10")
      await press(page, button(page, "Use another card"))
      await payByCard(page, cardDeclinedLater)
      await until(page, "Paid. 10,000 credits were added")
      expect(await balance(page)).toBe(74_950)
      await page.goto("/billing/auto-recharge")
      expect(await content(page)).toContain("ending in 0341")
      await page.getByLabel("When the balance falls below").fill("74.95")
      await press(page, button(page, "Save"))
      await callTimes(1)
      await page.goto("/billing")
      await until(page, "Auto-recharge was switched off")
      await look(page, "billing-recharge-off")
      expect(await balance(page)).toBe(74_940)
      await look(page, "overview-recharge-off")
    }))

  it("loses the credits of a refund once", () =>
    scene(async (page) => {
      await page.goto("/simulator")
      await look(page, "simulator")
      expect(await linesOfPaymentIds(page)).toEqual([1])
      await page.getByLabel("Lose the next answer").check()
      await press(page, button(page, "Apply"))
      await look(page, "simulator-played")
      await press(page, button(page, "Back to normal"))
      expect(await content(page)).toContain("No faults are simulated now.")
      await press(page, page.locator("tbody a").last())
      await look(page, "simulator-payment")
      expect(await linesOfPaymentIds(page)).toEqual([1])
      await page.getByLabel("Amount").fill("20")
      await press(page, page.getByRole("button", { name: "Refund", exact: true }))
      await page.goto("/billing/ledger")
      await until(page, "−20,000")
      await look(page, "ledger")
      await page.setViewportSize(sizes.phone)
      const afterTime = "getComputedStyle(document.querySelector('tbody th time'), '::after').content"
      expect(await page.evaluate(afterTime)).toBe('" UTC"')
      const entry = page.getByRole("row").nth(1)
      const topOf = async (label: string) => (await entry.locator(`[data-label=${label}]`).boundingBox())?.y
      expect(await topOf("Credits")).toBe(await topOf("What"))
      expect((await entry.boundingBox())?.height).toBeLessThan(160)
      const grant = page.getByRole("row").last() // is about nothing, and has no reference
      expect(await labelsInSight(grant)).toEqual(["What", "Credits", "Balance"])
      expect(await unheardCells(grant)).toBe(0)
      const [show, download] = [button(page, "Show"), page.getByRole("link", { name: /as CSV/ })]
      expect((await show.boundingBox())?.y).toBe((await download.boundingBox())?.y)
      await page.setViewportSize(sizes.desktop)
      expect(await balance(page)).toBe(54_940)
    }))

  it("edits a key without changing its secret, replaces it, and revokes it permanently", () =>
    scene(async (page) => {
      await page.goto("/keys")
      await press(page, page.getByRole("link", { name: "price dashboard", exact: true }))
      await look(page, "key")
      await page.getByLabel("Budget per month").fill("0.07")
      await press(page, button(page, "Save"))
      expect(await content(page)).toContain("$0.07 a month")
      await look(page, "keys")
      await callTimes(1)
      expect((await call()).status).toBe(402)
      await press(page, page.getByRole("link", { name: "price dashboard", exact: true }))
      await press(page, page.getByRole("link", { name: "Replace this key…" }))
      await look(page, "key-rotate")
      await press(page, button(page, "Replace the key"))
      expect(await content(page)).toContain("Both spend the same budgets.")
      await look(page, "key-rotated")
      expect((await call()).status).toBe(402)
      await page.goto("/keys")
      await press(page, page.getByRole("link", { name: "Revoke price dashboard" }))
      await look(page, "key-revoke")
      await press(page, button(page, "Revoke permanently"))
      expect(await content(page)).toContain("is revoked")
      expect((await call()).status).toBe(401)
      await press(page, page.getByRole("link", { name: "Revoked keys (1)" }))
      await look(page, "keys-revoked")
    }))

  it("opens the pages about runs, feeds, checks, rejects and prices", () =>
    scene(async (page) => {
      await page.goto("/data")
      await look(page, "data")
      for (const name of ["Runs", "Feeds", "Checks", "Rejects", "Prices"]) {
        await press(page, page.getByRole("navigation", { name: "Data" }).getByRole("link", { name }))
        expect(await heading(page)).toBe(name)
        await look(page, `data-${name.toLowerCase()}`)
      }
      await page.getByLabel("Compare with").selectOption("cheese-block-sales-price-weekly")
      await press(page, button(page, "Show"))
      await look(page, "data-prices-two")
      const dashOf = (line: number) =>
        page.evaluate(`getComputedStyle(document.querySelector(".legend .line-${line}")).strokeDasharray`)
      expect(await dashOf(1)).toBe("none")
      expect(await dashOf(2)).not.toBe("none")
      await page.setViewportSize(sizes.phone)
      await page.goto("/data/feeds")
      const feed = page.getByRole("row", { name: "gov-mars/1603" })
      expect(await labelsInSight(feed)).toEqual(["Read to", "Last new payload"])
      expect(await unheardCells(feed)).toBe(0)
      await page.goto("/data")
      const gaps = await gapsOfItems(page, "Newest")
      expect(gaps.length).toBeGreaterThan(0)
      expect(Math.min(...gaps)).toBeGreaterThan(4)
      await page.setViewportSize(sizes.desktop)
      await page.goto("/data/checks")
      const columns = `[...document.querySelectorAll("thead tr")].map((heads) =>
        [...heads.cells].map((head) => Math.round(head.getBoundingClientRect().left)).join(" "))`
      expect(new Set(await page.evaluate<Array<string>>(columns)).size).toBe(1)
      await page.goto("/data/runs")
      await press(page, page.locator("tbody a").first())
      await look(page, "data-run")
    }))

  it("removes the saved card", () =>
    scene(async (page) => {
      await page.goto("/billing/card")
      await look(page, "card")
      await press(page, button(page, "Remove the card"))
      expect(await content(page)).toContain("No card saved")
    }))

  it("skips the navigation and opens a form by keyboard alone", () =>
    scene(async (page) => {
      await page.goto("/keys")
      const focused = () => page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")
      await page.keyboard.press("Tab")
      expect(await focused()).toBe("Skip to the content")
      await page.keyboard.press("Enter")
      expect(await focused()).toBe("content")
      await page.keyboard.press("Tab")
      expect(await focused()).toBe("Create a key")
      await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")])
      expect(await heading(page)).toBe("Create a key")
    }))

  it("changes the password, which ends the other sessions", () =>
    scene(async (page) => {
      await scene(async (other) => {
        await other.goto("/sign-in")
        await fillSignIn(other, password)
        expect(await heading(other)).toBe("Overview")
        await page.goto("/account")
        await look(page, "account")
        await page.getByLabel("Current password").fill("not the password")
        await page.getByLabel("New password").fill(`${password} new`)
        await press(page, button(page, "Change the password"))
        expect(await content(page)).toContain("not your current password")
        await look(page, "account-refused")
        await page.getByLabel("Current password").fill(password)
        await page.getByLabel("New password").fill(`${password} new`)
        await press(page, button(page, "Change the password"))
        expect(await content(page)).toContain("Your password is changed")
        await other.reload()
        expect(await heading(other)).toBe("Sign in")
      }, "nobody")
      await page.goto("/nowhere")
      expect(await heading(page)).toBe("Page not found")
      await look(page, "not-found")
    }))

  it("gets 404 for the pages of operators and for those of another account", () =>
    scene(async (page) => {
      const { id } = await admin<{ readonly id: string }>(stage.home(), ["accounts", "create", "--name", "Others"])
      const invite = ["people", "invite", "--account", id]
      const { link } = await admin<{ readonly link: string }>(stage.home(), invite)
      await page.goto(link)
      await page.getByLabel("E-mail").fill("eve@example.com")
      await page.getByLabel("Password").fill(password)
      await press(page, button(page, "Create my sign-in"))
      expect(await page.getByRole("navigation", { name: "Main" }).innerText()).not.toMatch(/Data|Simulator/)
      // of operators, or of the key and the payments of the other account
      const closed = /^\/(data|simulator(?!\/checkout)|keys\/(?!new)|billing\/payments\/.)/
      const paths = [...stage.seen].filter((path) => closed.test(path))
      expect(paths.length).toBeGreaterThan(10)
      for (const path of paths) expect([path, (await page.goto(path))?.status()]).toEqual([path, 404])
      expect(await heading(page)).toBe("Page not found")
    }, "nobody"))

  it("has visited every page of the console", () => {
    const shown = pages.filter(({ get, path }) => get !== undefined && !path.endsWith(".csv"))
    const wasSeen = (path: string) => {
      const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)
      return [...stage.seen].some((seen) => pattern.test(seen))
    }
    expect(shown.map(({ path }) => path).filter((path) => !wasSeen(path))).toEqual([])
  })

  it("causes no request to another host, no breach of the content policy and no failed script", () => {
    expect(stage.faults).toEqual([])
  })

  it("leaves no key, no password and no token in the logs", () => {
    const token = new URL(stage.server().first_link ?? "").pathname.split("/").at(-1) ?? ""
    expect(token.length).toBeGreaterThan(20)
    const logs = stage.server().logs()
    expect([key, password, token].filter((secret) => logs.includes(secret))).toEqual([])
  })
})
