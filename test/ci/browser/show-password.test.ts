/** The button that shows a password, added by the console's script. Takes five seconds. */
import type { BrowserContextOptions, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { startSpendingConsole } from "../../support/console/spending-console.ts"
import { launch } from "./chromium.ts"

const console = startSpendingConsole()

const openSignIn = async (run: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) => {
  const context = await (await launch()).newContext(options)
  try {
    const page = await context.newPage()
    await page.goto(`${console.url()}/sign-in`)
    await run(page)
  } finally {
    await context.close()
  }
}
const readType = (page: Page) => page.getByLabel("Password").getAttribute("type")
const showButton = (page: Page) => page.getByRole("button", { name: "Show password" })

/** The type of a shown password's field when the page is left. */
const readTypeOnLeave = async (page: Page, leave: () => Promise<unknown>) => {
  await page.getByLabel("Password").fill("correct horse")
  await showButton(page).click()
  const saveType = "sessionStorage.setItem('left', document.getElementById('password').type)"
  await page.evaluate(`addEventListener("pagehide", () => ${saveType})`)
  await Promise.all([page.waitForEvent("load"), leave()])
  return page.evaluate("sessionStorage.getItem('left')")
}

describe("the button that shows a password", () => {
  it("shows and hides the password by keyboard, and exposes its state and its field to assistive technology", () =>
    openSignIn(async (page) => {
      await page.getByLabel("Password").fill("correct horse")
      await page.keyboard.press("Tab")
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Show password")
      expect(await showButton(page).getAttribute("aria-pressed")).toBe("false")
      const about = "document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent"
      expect(await page.evaluate(about)).toBe("Password")
      await page.keyboard.press("Space")
      expect([await readType(page), await showButton(page).getAttribute("aria-pressed")]).toEqual(["text", "true"])
      expect(await page.getByLabel("Password").inputValue()).toBe("correct horse")
      await page.keyboard.press("Enter")
      expect([await readType(page), await showButton(page).getAttribute("aria-pressed")]).toEqual(["password", "false"])
      expect(new URL(page.url()).pathname).toBe("/sign-in")
    }))

  it("hides the password before the form is sent", () =>
    openSignIn(async (page) => {
      await page.getByLabel("E-mail").fill("nobody@example.com")
      const sent = `document.querySelector("form").addEventListener("submit", ({ target }) =>
        sessionStorage.setItem("sent", target.elements.password.type))`
      await page.evaluate(sent)
      await readTypeOnLeave(page, () => page.getByRole("button", { name: "Sign in" }).click())
      expect(await page.evaluate("sessionStorage.getItem('sent')")).toBe("password")
    }))

  it.each<readonly [string, (page: Page) => Promise<unknown>]>([
    ["is reloaded", (page) => page.reload()],
    ["is left for another page", (page) => page.goto(`${console.url()}/sign-in?next=/billing`)],
    ["is left with the back button", (page) => page.goBack()]
  ])("hides the password when the page %s", (_, leave) =>
    openSignIn(async (page) => {
      await page.goto(`${console.url()}/sign-in?next=/keys`)
      expect(await readTypeOnLeave(page, () => leave(page))).toBe("password")
    })
  )

  it("is missing without scripts", () =>
    openSignIn(async (page) => expect(await showButton(page).count()).toBe(0), { javaScriptEnabled: false }))
})
