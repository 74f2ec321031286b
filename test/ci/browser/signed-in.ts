/** A browser over a small console, for one file of tests. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import type { SignedIn, SpendingConsole } from "../../support/console/spending-console.ts"
import { launch } from "./chromium.ts"

/** Registers start and end of the browser with the file's hooks. Each play has a context of its own, in which `who` is signed in. */
export const signedInPages = (console: SpendingConsole) => {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())
  return async ({ token }: SignedIn, play: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) => {
    if (browser === undefined) throw new Error("the browser is started by beforeAll")
    const context = await browser.newContext(options)
    try {
      await context.addCookies([{ name: "larder_session", value: token, url: console.url() }])
      await play(await context.newPage())
    } finally {
      await context.close()
    }
  }
}
