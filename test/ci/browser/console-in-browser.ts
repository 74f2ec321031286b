/**
 * A server over the bundled samples and a browser, for one test file. Pages may send requests only to the console. Any
 * violation of the content policy and any failed script is a fault.
 */
import { mkdirSync, rmSync } from "node:fs"
import path from "node:path"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { afterAll, beforeAll, expect, inject } from "vitest"
import { type Server, startServer } from "../../support/programs.ts"
import { copyHome } from "../../support/sample-home.ts"
import { findAccessibilityProblems, pictureFolder, schemes, setAppearance, sizes } from "./accessibility.ts"
import { launch } from "./chromium.ts"

const takePictures = async (page: Page, folder: string, name: string) => {
  mkdirSync(folder, { recursive: true })
  for (const size of ["desktop", "phone"] as const) {
    for (const scheme of schemes) {
      await setAppearance(page, size, scheme)
      await page.screenshot({ path: path.join(folder, `${name}-${size}-${scheme}.png`), fullPage: true })
    }
  }
}

/** Starts the server before the tests of a file, and stops it after them. */
export const useConsoleInBrowser = () => {
  let running: { readonly home: string; readonly server: Server; readonly browser: Browser } | undefined
  const requireRunning = () => {
    if (running === undefined) throw new Error("server and browser are started by beforeAll")
    return running
  }
  /** Paths of the checked pages. */
  const checkedPaths = new Set<string>()
  const faults: Array<string> = []
  let operatorState: Awaited<ReturnType<BrowserContext["storageState"]>> | undefined

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
    if (running === undefined) return // beforeAll has reported the reason
    const { home, server } = running
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  })

  const watch = (page: Page) => {
    const allowed = new URL(requireRunning().server.console).host
    page.on("request", (request) => {
      const { host, protocol } = new URL(request.url())
      if (protocol !== "data:" && host !== allowed) faults.push(`${page.url()} requests ${request.url()}`)
    })
    page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`))
    page.on("console", (message) => {
      // the browser also reports pages with status 402 or 404 as errors
      const isErrorStatus = message.text().startsWith("Failed to load resource")
      if (message.type() === "error" && !isErrorStatus) faults.push(`${page.url()}: ${message.text()}`)
    })
  }

  return {
    home: () => requireRunning().home,
    server: () => requireRunning().server,
    checkedPaths,
    faults,
    /** Runs a part of a test in a new browser context: signed out, or signed in as the saved operator. */
    withPage: async (
      run: (page: Page, context: BrowserContext) => Promise<void>,
      as: "visitor" | "operator" = "operator"
    ) => {
      const state = as === "operator" && operatorState !== undefined ? { storageState: operatorState } : {}
      const context = await requireRunning().browser.newContext({
        ...state,
        baseURL: requireRunning().server.console,
        viewport: sizes.desktop
      })
      try {
        context.setDefaultTimeout(60_000) // slow machines must not fail
        const page = await context.newPage()
        watch(page)
        await run(page, context)
      } finally {
        await context.close()
      }
    },
    saveSignedIn: async (context: BrowserContext) => {
      operatorState = await context.storageState()
    },
    /** Checks the accessibility of the page in light and dark colours, on a desktop and on a phone. */
    checkPage: async (page: Page, name: string) => {
      checkedPaths.add(new URL(page.url()).pathname)
      const found = await findAccessibilityProblems(page)
      if (pictureFolder) await takePictures(page, pictureFolder, name)
      await setAppearance(page, "desktop", "light")
      expect({ name, found }).toEqual({ name, found: [] })
    }
  }
}
