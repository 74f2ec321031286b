/**
 * A visit to the docs in a real browser: through all guides, and then in the reference a call with a key, one without, and
 * one that is refused. Takes about twenty seconds.
 */
import { guides } from "@larder/serve/docs"
import type { Route } from "playwright-core"
import { describe, expect, it } from "vitest"
import { listAccountIds, listEntriesOf } from "../../support/api/operator.ts"
import { docsInBrowser, madeUp } from "./docs-in-browser.ts"

const visit = docsInBrowser()

const cost = () => visit.page().locator("#cost")
/** The window in which a call is tried. */
const tryOut = () => visit.page().getByRole("dialog")
const open = async (path: string) => {
  const { origin } = new URL(visit.page().url())
  await visit.page().goto(`${origin}/docs/reference#${path}`)
  await visit
    .page()
    .getByRole("button", { name: new RegExp(`Test Request.*get ${path.split("/GET")[1]}\\)`) })
    .click()
  await tryOut().waitFor()
}
const close = async () => {
  await visit.page().keyboard.press("Escape")
  await tryOut().waitFor({ state: "hidden" })
}

const sendTried = () => tryOut().getByRole("button", { name: /^Send/ }).first().click()

/** Sends what stands in the window; the id of the answered request, as the page tells it. */
const send = async (status: number, says: RegExp) => {
  await sendTried()
  await tryOut()
    .getByText(new RegExp(`^${status} `))
    .waitFor()
  await cost().getByText(says).waitFor()
  const [id = ""] = /req_\w+/.exec(await cost().innerText()) ?? []
  return id
}

describe("the guides", () => {
  it("start at the root and link each one to the next, and every page is accessible", async () => {
    const page = visit.page()
    await page.goto("/")
    for (const [at, guide] of guides().entries()) {
      expect(new URL(page.url()).pathname).toBe(guide.path)
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(guide.title)
      await visit.look(`docs-${guide.path.split("/")[2] ?? "overview"}`)
      if (at === guides().length - 1) break
      await Promise.all([page.waitForEvent("load"), page.getByRole("link", { name: /^Next/ }).click()])
    }
  })

  it("let the keyboard skip the navigation and jump to the content", async () => {
    const page = visit.page()
    await page.goto("/docs/paging")
    const focused = () => page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")
    await page.keyboard.press("Tab")
    expect(await focused()).toBe("Skip to the content")
    await page.keyboard.press("Enter")
    expect(await focused()).toBe("content")
  })
})

describe("the reference", () => {
  const charged: Array<string> = []

  it("shows the price and the scope of an operation next to its title", async () => {
    const page = visit.page()
    await Promise.all([page.waitForEvent("load"), page.getByRole("link", { name: "Reference", exact: true }).click()])
    await page.goto("/docs/reference#tag/storefronts/GET/v1/products/{id}")
    const operation = page.locator("[id$='GET/v1/products/{id}']").first()
    const price = operation.getByText("100 credits · 0.10 USD")
    await price.waitFor()
    await operation.getByText("scope get-product", { exact: true }).waitFor()
    // what Scalar draws is Scalar's: what is around it is looked at
    await visit.look("docs-reference-operation", { part: price, without: ["#reference"] })
  })

  it("sends a call without a key, which answers 401, and says that nothing was charged", async () => {
    await open("tag/commodities/GET/v1/commodities")
    await send(401, /Status 401\. No valid key was sent; nothing was charged\./)
    await close()
  })

  it("shows the answer of a call with a key, what it cost and how many credits are left", async () => {
    const page = visit.page()
    await page.getByPlaceholder("Token").first().fill(visit.key())
    await open("tag/commodities/GET/v1/commodities/prices")
    charged.push(await send(200, /This call cost 10 credits \(0\.01 USD\)\. 4,990 credits \(4\.99 USD\) left\./))
    expect(await cost().innerText()).toContain("Sample data, mostly generated.")
    await tryOut().getByText('"butter-sales-price-weekly"').first().waitFor()
    await visit.pictures("docs-reference-tried")
    await cost().getByRole("button", { name: "Close the cost of the call" }).click()
    expect(await cost().innerText()).toBe("")
    expect(await tryOut().isVisible()).toBe(true)
    await close()
  })

  it("sends no optional parameter on its own, because some of them exclude each other", async () => {
    await open("tag/commodities/GET/v1/commodities")
    charged.push(await send(200, /This call cost 10 credits \(0\.01 USD\)\. 4,980 credits/))
    expect(new URL(visit.asked.at(-1) ?? "").search).toBe("")
    await close()
  })

  it("says that a call without an answer may have been charged, and clears the cost of the call before", async () => {
    const page = visit.page()
    const headers = { ...madeUp, "content-type": "application/json", "x-request-id": "req_away" }
    const body = '{"error":{"type":"internal","message":"away"}}'
    const path = "**/v1/commodities"
    await open("tag/commodities/GET/v1/commodities")
    await page.route(path, (route) => route.fulfill({ status: 503, headers, body }))
    await send(503, /^Status 503\. The server could not respond; nothing was charged\.$/)
    await page.route(path, (route) => route.fulfill({ status: 504, headers: madeUp, body: "a proxy's" }))
    await send(504, /^Status 504\. The call may have been charged/)
    await page.unroute(path)
    charged.push(await send(200, /^This call cost/))
    const { promise, resolve } = Promise.withResolvers<Route>()
    await page.route(path, resolve)
    await sendTried()
    const route = await promise
    expect(await cost().innerText()).toBe("")
    await route.abort()
    await cost()
      .getByText(/^No response arrived\. The call may have been charged/)
      .waitFor()
    await page.unroute(path)
    await close()
  })

  it("keeps the key only in the memory of the page: a reload forgets it", async () => {
    const kept = await visit
      .page()
      .evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])")
    expect(String(kept)).not.toContain(visit.key().slice(9))
    await visit.page().reload()
    await visit.page().getByPlaceholder("Token").first().waitFor()
    expect(await visit.page().getByPlaceholder("Token").first().inputValue()).toBe("")
  })

  it("shows for each call the cost that the ledger has charged", async () => {
    const entries = await listEntriesOf(visit.home(), await listAccountIds(visit.home()))
    const charges = entries.filter(({ type }) => type === "charge")
    expect(charges.map(({ credits, request_id }) => [request_id, credits])).toEqual(charged.map((id) => [id, -10]))
  })
})

describe("the reference when its document or its script cannot be loaded", () => {
  it("shows an error instead of loading forever, and a link to reload", async () => {
    // a page of its own: what fails here on purpose is no fault of the visit
    const page = await visit.page().context().newPage()
    const alert = page.getByRole("alert").getByText("The reference could not be loaded.")
    try {
      await page.route("**/openapi.json", (route) => route.fulfill({ status: 503, body: "{}" }))
      await page.goto(`${new URL(visit.page().url()).origin}/docs/reference#tag/commodities`)
      await alert.waitFor()
      await page.unroute("**/openapi.json")
      await page.route("**/docs/assets/scalar.*", (route) => route.abort())
      await Promise.all([page.waitForEvent("load"), page.getByRole("link", { name: "Reload" }).click()])
      await alert.waitFor()
    } finally {
      await page.close()
    }
  })
})

describe("the whole visit", () => {
  it("gets four answers from the API, and all of them fit the OpenAPI document", async () => {
    expect(await visit.judged()).toBe(4)
  })
  it("asks no other host, breaks no content policy and has no failed script", () => {
    expect(visit.asked.length).toBeGreaterThan(10)
    expect(visit.faults).toEqual([])
  })
})
