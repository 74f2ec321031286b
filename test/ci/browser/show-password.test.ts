/** The button that shows a password, which the console's script makes. Takes five seconds. */
import type { BrowserContextOptions, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { spendingConsole } from "../../support/console/spending-console.ts"
import { launch } from "./chromium.ts"

const console = spendingConsole()

const signInPage = async (look: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) => {
  const context = await (await launch()).newContext(options)
  try {
    const page = await context.newPage()
    await page.goto(`${console.url()}/sign-in`)
    await look(page)
  } finally {
    await context.close()
  }
}
const typeOf = (page: Page) => page.getByLabel("Password").getAttribute("type")
const shower = (page: Page) => page.getByRole("button", { name: "Show password" })

/** As what the field of a shown password is left. */
const leftAs = async (page: Page, leave: () => Promise<unknown>) => {
  await page.getByLabel("Password").fill("correct horse")
  await shower(page).click()
  const kept = "sessionStorage.setItem('left', document.getElementById('password').type)"
  await page.evaluate(`addEventListener("pagehide", () => ${kept})`)
  await Promise.all([page.waitForEvent("load"), leave()])
  return page.evaluate("sessionStorage.getItem('left')")
}

describe("the button that shows a password", () => {
  it("shows and hides the password by keyboard, and tells assistive technology its state and its field", () =>
    signInPage(async (page) => {
      await page.getByLabel("Password").fill("correct horse")
      await page.keyboard.press("Tab")
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Show password")
      expect(await shower(page).getAttribute("aria-pressed")).toBe("false")
      const about = "document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent"
      expect(await page.evaluate(about)).toBe("Password")
      await page.keyboard.press("Space")
      expect([await typeOf(page), await shower(page).getAttribute("aria-pressed")]).toEqual(["text", "true"])
      expect(await page.getByLabel("Password").inputValue()).toBe("correct horse")
      await page.keyboard.press("Enter")
      expect([await typeOf(page), await shower(page).getAttribute("aria-pressed")]).toEqual(["password", "false"])
      expect(new URL(page.url()).pathname).toBe("/sign-in")
    }))

  it("hides the password when the form is sent", () =>
    signInPage(async (page) => {
      await page.getByLabel("E-mail").fill("nobody@example.com")
      const sent = `document.querySelector("form").addEventListener("submit", ({ target }) =>
        sessionStorage.setItem("sent", target.elements.password.type))`
      await page.evaluate(sent)
      await leftAs(page, () => page.getByRole("button", { name: "Sign in" }).click())
      expect(await page.evaluate("sessionStorage.getItem('sent')")).toBe("password")
    }))

  it.each<readonly [string, (page: Page) => Promise<unknown>]>([
    ["is loaded again", (page) => page.reload()],
    ["is left for another one", (page) => page.goto(`${console.url()}/sign-in?next=/billing`)],
    ["is left by the way back", (page) => page.goBack()]
  ])("hides the password when the page %s", (_, leave) =>
    signInPage(async (page) => {
      await page.goto(`${console.url()}/sign-in?next=/keys`)
      expect(await leftAs(page, () => leave(page))).toBe("password")
    })
  )

  it("is missing when no scripts run", () =>
    signInPage(async (page) => expect(await shower(page).count()).toBe(0), { javaScriptEnabled: false }))
})
