/** Pages of a small console in a browser, for one test file. */
import type { BrowserContextOptions, Page } from "playwright-core"
import { nameSessionCookie } from "../../support/console/browser.ts"
import type { SignedIn, SpendingConsole } from "../../support/console/spending-console.ts"
import { launch } from "./chromium.ts"

/** Runs a part of a test in a new browser context, in which the customer is signed in. */
export const makeSignedInPages =
  (console: SpendingConsole) =>
  async ({ token }: SignedIn, run: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) => {
    const context = await (await launch()).newContext(options)
    try {
      await context.addCookies([{ name: nameSessionCookie(console.url()), value: token, url: console.url() }])
      await run(await context.newPage())
    } finally {
      await context.close()
    }
  }
