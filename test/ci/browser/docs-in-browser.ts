/**
 * A server over the bundled samples and a browser, for the docs. Pages may send requests only to the API. Any violation of
 * the content policy and any failed script is a fault.
 */
import { mkdirSync, rmSync } from "node:fs"
import path from "node:path"
import { openApi } from "@larder/schemas"
import type { Locator, Page, Response } from "playwright-core"
import { afterAll, beforeAll, expect, inject } from "vitest"
import { makeResponseCheck } from "../../support/api/check-response.ts"
import { createKey } from "../../support/api/operator.ts"
import { type Server, startServer } from "../../support/programs.ts"
import { copyHome } from "../../support/sample-home.ts"
import { findAccessibilityProblems, pictureFolder, schemes, setAppearance, sizes } from "./accessibility.ts"
import { launch } from "./chromium.ts"

/** A header of responses that a test has invented, so that they do not count as the API's. */
export const inventedHeader = { "x-invented": "yes" }

interface Running {
  readonly home: string
  readonly server: Server
  readonly page: Page
  readonly key: string
}

interface CheckOptions {
  /** The part that pictures show. */
  readonly part?: Locator
  /** Selectors of third-party parts, which are not checked. */
  readonly excluded?: ReadonlyArray<string>
}

/** Starts the server and opens one page before the tests of a file, and stops both after them. */
export const useDocsInBrowser = () => {
  let running: Running | undefined
  const requireRunning = () => {
    if (running === undefined) throw new Error("server and browser are started by beforeAll")
    return running
  }
  const faults: Array<string> = []
  /** Addresses of all requests of the page. */
  const requests: Array<string> = []

  const { check } = makeResponseCheck(openApi())
  const validations: Array<Promise<boolean>> = []
  /** Validates a response of the API against the OpenAPI document. False for an invented response. */
  const validateResponse = async (response: Response) => {
    const [headers, text] = await Promise.all([response.allHeaders(), response.text()])
    if ("x-invented" in headers) return false
    const { pathname } = new URL(response.url())
    check(response.request().method(), pathname, { status: response.status(), headers, text, json: JSON.parse(text) })
    return true
  }

  const addFault = (response: Response, error: unknown) => faults.push(`${response.url()}: ${error}`) > 0

  const watch = (page: Page, { host }: URL) => {
    page.on("request", (request) => {
      requests.push(request.url())
      const url = new URL(request.url())
      if (url.protocol !== "data:" && url.host !== host) faults.push(`${page.url()} requests ${request.url()}`)
    })
    page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`))
    // calls that a visitor tries may be refused or fail; the page's own requests may not
    const isTriedCall = (url: string) => new URL(url).pathname.startsWith("/v1/")
    page.on("response", (response) => {
      if (isTriedCall(response.url()))
        validations.push(validateResponse(response).catch((error) => addFault(response, error)))
      else if (response.status() >= 400) faults.push(`${response.url()}: ${response.status()}`)
    })
    page.on("requestfailed", (request) => {
      if (!isTriedCall(request.url())) faults.push(`${request.url()}: ${request.failure()?.errorText}`)
    })
    page.on("console", (message) => {
      // the browser and Scalar repeat failures that are recorded above
      const isRepeated = /^(Failed to load resource|TypeError: Failed to fetch)/.test(message.text())
      if (message.type() === "error" && !isRepeated) faults.push(`${page.url()}: ${message.text()}`)
    })
  }

  beforeAll(async () => {
    const home = copyHome(inject("sampleHome"))
    try {
      const [server, browser] = await Promise.all([startServer(home), launch()])
      const { key } = await createKey(home)
      const context = await browser.newContext({ baseURL: server.api, viewport: sizes.desktop })
      context.setDefaultTimeout(60_000) // slow machines must not fail
      const page = await context.newPage()
      watch(page, new URL(server.api))
      running = { home, server, page, key }
    } catch (error) {
      rmSync(home, { recursive: true, force: true })
      throw error
    }
  })
  afterAll(async () => {
    if (running === undefined) return // beforeAll has reported the reason
    const { home, page, server } = running
    await page.context().close()
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  })

  const takePictures = async (name: string, part?: Locator) => {
    const { page } = requireRunning()
    if (pictureFolder !== undefined) {
      mkdirSync(pictureFolder, { recursive: true })
      for (const size of ["phone", "desktop"] as const) {
        for (const scheme of schemes) {
          await setAppearance(page, size, scheme)
          await part?.scrollIntoViewIfNeeded() // it moves with the size
          const isWhole = !name.startsWith("docs-reference") // the reference is 30 screens long
          await page.screenshot({ path: path.join(pictureFolder, `${name}-${size}-${scheme}.png`), fullPage: isWhole })
        }
      }
    }
    await setAppearance(page, "desktop", "light")
  }

  return {
    home: () => requireRunning().home,
    page: () => requireRunning().page,
    key: () => requireRunning().key,
    faults,
    requests,
    /** Number of responses of the API, all validated. A response that does not match the document is a fault. */
    countResponses: async () => (await Promise.all(validations)).filter((isFromApi) => isFromApi).length,
    takePictures,
    /** Checks the accessibility of the page in light and dark colours, on a desktop and on a phone. */
    checkPage: async (name: string, { excluded = [], part }: CheckOptions = {}) => {
      const found = await findAccessibilityProblems(requireRunning().page, excluded)
      await takePictures(name, part)
      expect({ name, found }).toEqual({ name, found: [] })
    }
  }
}
