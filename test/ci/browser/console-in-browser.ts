/**
 * A server over the bundled samples and a browser, for one file of tests. Whatever a page does, it may ask nobody but the
 * console, and nothing may be refused by its policy or fail in its scripts.
 */
import { mkdirSync, rmSync } from "node:fs"
import path from "node:path"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { afterAll, beforeAll, expect, inject } from "vitest"
import { type Server, startServer } from "../../support/programs.ts"
import { copyHome } from "../../support/sample-home.ts"
import { launch } from "./chromium.ts"
import { dress, obstacles, pictures, schemes, sizes } from "./look.ts"

const takePictures = async (page: Page, folder: string, name: string) => {
  mkdirSync(folder, { recursive: true })
  for (const size of ["desktop", "phone"] as const) {
    for (const scheme of schemes) {
      await dress(page, size, scheme)
      await page.screenshot({ path: path.join(folder, `${name}-${size}-${scheme}.png`), fullPage: true })
    }
  }
}

/** Registers start and end of the server with the file's hooks. */
export const consoleInBrowser = () => {
  let running: { readonly home: string; readonly server: Server; readonly browser: Browser } | undefined
  const now = () => {
    if (running === undefined) throw new Error("server and browser are started by beforeAll")
    return running
  }
  /** Paths that were looked at. */
  const seen = new Set<string>()
  const faults: Array<string> = []
  let signedIn: Awaited<ReturnType<BrowserContext["storageState"]>> | undefined

  beforeAll(async () => {
    const home = copyHome(inject("sampleHome"))
    try {
      const [server, browser] = await Promise.all([startServer(home, {}, ["--demo"]), launch()])
      running = { home, server, browser }
    } catch (error) {
      rmSync(home, { recursive: true, force: true })
      throw error
    }
  })
  afterAll(async () => {
    if (running === undefined) return // beforeAll has said why
    const { home, server } = running
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  })

  const watch = (page: Page) => {
    const allowed = new URL(now().server.console).host
    page.on("request", (request) => {
      const { host, protocol } = new URL(request.url())
      if (protocol !== "data:" && host !== allowed) faults.push(`${page.url()} asks ${request.url()}`)
    })
    page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`))
    page.on("console", (message) => {
      // a page that answers 402 or 404 is reported as an error, too
      const isAnswer = message.text().startsWith("Failed to load resource")
      if (message.type() === "error" && !isAnswer) faults.push(`${page.url()}: ${message.text()}`)
    })
  }

  return {
    home: () => now().home,
    server: () => now().server,
    seen,
    faults,
    /** A browser of its own: nobody is signed in, or the one whose state was kept. */
    scene: async (
      play: (page: Page, context: BrowserContext) => Promise<void>,
      as: "nobody" | "operator" = "operator"
    ) => {
      const state = as === "operator" && signedIn !== undefined ? { storageState: signedIn } : {}
      const context = await now().browser.newContext({
        ...state,
        baseURL: now().server.console,
        viewport: sizes.desktop
      })
      try {
        context.setDefaultTimeout(60_000) // a slow machine is no failure
        const page = await context.newPage()
        watch(page)
        await play(page, context)
      } finally {
        await context.close()
      }
    },
    keepSignedIn: async (context: BrowserContext) => {
      signedIn = await context.storageState()
    },
    /** Looks at the page in light and dark, at a desk and on a phone; nobody may be kept from using it. */
    look: async (page: Page, name: string) => {
      seen.add(new URL(page.url()).pathname)
      const found = await obstacles(page)
      if (pictures) await takePictures(page, pictures, name)
      await dress(page, "desktop", "light")
      expect({ name, found }).toEqual({ name, found: [] })
    }
  }
}
