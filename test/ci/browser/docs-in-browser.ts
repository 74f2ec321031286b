/**
 * A server over the bundled samples and a browser, for the docs. Whatever a page does, it may ask nobody but the API, and
 * nothing may be refused by its policy or fail in its scripts.
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
import { launch } from "./chromium.ts"
import { dress, obstacles, pictures, schemes, sizes } from "./look.ts"

/** A header of answers that a test has made up: they are not the API's. */
export const madeUp = { "x-made-up": "yes" }

interface Running {
  readonly home: string
  readonly server: Server
  readonly page: Page
  readonly key: string
}

interface Look {
  readonly part?: Locator
  /** What is not ours. */
  readonly without?: ReadonlyArray<string>
}

/** Registers start and end of the server and the visit with the file's hooks. One page makes the whole visit. */
export const docsInBrowser = () => {
  let running: Running | undefined
  const now = () => {
    if (running === undefined) throw new Error("server and browser are started by beforeAll")
    return running
  }
  const faults: Array<string> = []
  /** Addresses that the page has asked for. */
  const asked: Array<string> = []

  const { check } = makeResponseCheck(openApi())
  const judged: Array<Promise<boolean>> = []
  /** Whether it is the API's own, and what it should be. */
  const judgeTried = async (response: Response) => {
    const [headers, text] = await Promise.all([response.allHeaders(), response.text()])
    if ("x-made-up" in headers) return false
    const { pathname } = new URL(response.url())
    check(response.request().method(), pathname, { status: response.status(), headers, text, json: JSON.parse(text) })
    return true
  }

  const isFault = (response: Response, error: unknown) => faults.push(`${response.url()}: ${error}`) > 0

  const watch = (page: Page, { host }: URL) => {
    page.on("request", (request) => {
      asked.push(request.url())
      const url = new URL(request.url())
      if (url.protocol !== "data:" && url.host !== host) faults.push(`${page.url()} asks ${request.url()}`)
    })
    page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`))
    // a call that was tried may be refused or fail: what the page needs itself may not
    const isTried = (url: string) => new URL(url).pathname.startsWith("/v1/")
    page.on("response", (response) => {
      if (isTried(response.url())) judged.push(judgeTried(response).catch((error) => isFault(response, error)))
      else if (response.status() >= 400) faults.push(`${response.url()}: ${response.status()}`)
    })
    page.on("requestfailed", (request) => {
      if (!isTried(request.url())) faults.push(`${request.url()}: ${request.failure()?.errorText}`)
    })
    page.on("console", (message) => {
      // the browser and Scalar repeat what was told above
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
      context.setDefaultTimeout(60_000) // a slow machine is no failure
      const page = await context.newPage()
      watch(page, new URL(server.api))
      running = { home, server, page, key }
    } catch (error) {
      rmSync(home, { recursive: true, force: true })
      throw error
    }
  })
  afterAll(async () => {
    if (running === undefined) return // beforeAll has said why
    const { home, page, server } = running
    await page.context().close()
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  })

  const takePictures = async (name: string, part?: Locator) => {
    const { page } = now()
    if (pictures !== undefined) {
      mkdirSync(pictures, { recursive: true })
      for (const size of ["phone", "desktop"] as const) {
        for (const scheme of schemes) {
          await dress(page, size, scheme)
          await part?.scrollIntoViewIfNeeded() // another size puts it elsewhere
          const isWhole = !name.startsWith("docs-reference") // the reference is 30 screens long
          await page.screenshot({ path: path.join(pictures, `${name}-${size}-${scheme}.png`), fullPage: isWhole })
        }
      }
    }
    await dress(page, "desktop", "light")
  }

  return {
    home: () => now().home,
    page: () => now().page,
    key: () => now().key,
    faults,
    asked,
    /** How many calls the API has answered, judged all. An answer that is not as the document says is a fault. */
    judged: async () => (await Promise.all(judged)).filter((isOfApi) => isOfApi).length,
    pictures: takePictures,
    /** Looks at the page in light and dark, at a desk and on a phone; nobody may be kept from using it. Pictures show `part`. */
    look: async (name: string, { part, without = [] }: Look = {}) => {
      const found = await obstacles(now().page, without)
      await takePictures(name, part)
      expect({ name, found }).toEqual({ name, found: [] })
    }
  }
}
