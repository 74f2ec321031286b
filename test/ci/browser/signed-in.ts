/** A browser over a small console, for one file of tests. */
import type { BrowserContextOptions, Page } from "playwright-core"
import type { SignedIn, SpendingConsole } from "../../support/console/spending-console.ts"
import { launch } from "./chromium.ts"

/** Each play has a context of its own, in which `who` is signed in. */
export const signedInPages = (console: SpendingConsole) => {
  return async ({ token }: SignedIn, play: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) => {
    const context = await (await launch()).newContext(options)
    try {
      await context.addCookies([{ name: "larder_session", value: token, url: console.url() }])
      await play(await context.newPage())
    } finally {
      await context.close()
    }
  }
}
