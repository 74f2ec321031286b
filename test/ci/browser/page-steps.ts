/** Steps of a person on a page: reading it, pressing buttons, waiting, paying by card. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Locator, Page } from "playwright-core"

export const readHeading = (page: Page) => page.getByRole("heading", { level: 1 }).textContent()
export const readContent = (page: Page) => page.locator("#content").innerText()

/** Reloads a page until it contains a text that comes from work in the background. */
export const waitForText = async (page: Page, expected: string | RegExp) => {
  for (let attempt = 0; attempt < 300; attempt++) {
    const text = await readContent(page)
    if (typeof expected === "string" ? text.includes(expected) : expected.test(text)) return
    await sleep(300)
    await page.reload()
  }
  throw new Error(`${page.url()} never contained ${expected}; it contains:\n${await readContent(page)}`)
}

/** Presses a button or link, and waits for the next page. */
export const press = async (page: Page, target: Locator) => {
  await Promise.all([page.waitForEvent("load"), target.click()])
}
/** Also returns the buttons that were marked as busy when the page was left. */
export const pressAndReadBusy = async (page: Page, target: Locator) => {
  const busy = "[...document.querySelectorAll('form[data-sent] [aria-busy=true]')].map((button) => button.textContent)"
  await page.evaluate(`addEventListener("pagehide", () => sessionStorage.setItem("busy", ${busy}.join()))`)
  await press(page, target)
  return page.evaluate("sessionStorage.getItem('busy')")
}
export const findButton = (page: Page, name: string | RegExp) => page.getByRole("button", { name })

/** Pays on the page of the processor. */
export const payByCard = async (page: Page, number: string) => {
  await page.getByRole("textbox", { name: "Card number" }).fill(number)
  await page.getByLabel("Expires").fill("12/40")
  await page.getByLabel("Security code").fill("123")
  await press(page, findButton(page, /^Pay \$/))
}
