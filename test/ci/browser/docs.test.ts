/**
 * The docs in a real browser: all guides, and calls in the reference with a key, without one, and refused. Takes about
 * twenty seconds.
 */
import { guides } from "@larder/serve/docs/guides.ts"
import type { Route } from "playwright-core"
import { describe, expect, it } from "vitest"
import { listAccountIds, listEntriesOf } from "../../support/api/operator.ts"
import { inventedHeader, useDocsInBrowser } from "./docs-in-browser.ts"
import { press } from "./page-steps.ts"

const setup = useDocsInBrowser()

const costPanel = () => setup.page().locator("#cost")
/** The dialog for trying a call. */
const tryDialog = () => setup.page().getByRole("dialog")
const openTry = async (path: string) => {
  const { origin } = new URL(setup.page().url())
  await setup.page().goto(`${origin}/docs/reference#${path}`)
  await setup
    .page()
    .getByRole("button", { name: new RegExp(`Test Request.*get ${path.split("/GET")[1]}\\)`) })
    .click()
  await tryDialog().waitFor()
}
const closeTry = async () => {
  await setup.page().keyboard.press("Escape")
  await tryDialog().waitFor({ state: "hidden" })
}

const pressSend = () => tryDialog().getByRole("button", { name: /^Send/ }).first().click()

/** Sends the call in the dialog, waits for the status and the text about its cost, and returns its request id. */
const send = async (status: number, costText: RegExp) => {
  await pressSend()
  await tryDialog()
    .getByText(new RegExp(`^${status} `))
    .waitFor()
  await costPanel().getByText(costText).waitFor()
  const [id = ""] = /req_\w+/.exec(await costPanel().innerText()) ?? []
  return id
}

describe("the guides", () => {
  it("begin at the root, link to the next one, and are accessible", async () => {
    const page = setup.page()
    await page.goto("/")
    for (const [index, guide] of guides().entries()) {
      expect(new URL(page.url()).pathname).toBe(guide.path)
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(guide.title)
      await setup.checkPage(`docs-${guide.path.split("/")[2] ?? "overview"}`)
      if (index === guides().length - 1) break
      await press(page, page.getByRole("link", { name: /^Next/ }))
    }
  })

  it("allow skipping the navigation by keyboard", async () => {
    const page = setup.page()
    await page.goto("/docs/paging")
    const readFocus = () => page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")
    await page.keyboard.press("Tab")
    expect(await readFocus()).toBe("Skip to the content")
    await page.keyboard.press("Enter")
    expect(await readFocus()).toBe("content")
  })
})

describe("the reference", () => {
  const charged: Array<string> = []

  it("shows the price and the scope of an operation next to its title", async () => {
    const page = setup.page()
    await press(page, page.getByRole("link", { name: "Reference", exact: true }))
    await page.goto("/docs/reference#tag/storefronts/GET/v1/products/{id}")
    const operation = page.locator("[id$='GET/v1/products/{id}']").first()
    const price = operation.getByText("100 credits · 0.10 USD")
    await price.waitFor()
    await operation.getByText("scope get-product", { exact: true }).waitFor()
    // checks only what surrounds the parts that Scalar draws
    await setup.checkPage("docs-reference-operation", { part: price, excluded: ["#reference"] })
  })

  it("sends a call without a key, which returns 401, and states that nothing was charged", async () => {
    await openTry("tag/commodities/GET/v1/commodities")
    await send(401, /Status 401\. No valid key was sent; nothing was charged\./)
    await closeTry()
  })

  it("shows the response to a call with a key, its cost and the remaining credits", async () => {
    const page = setup.page()
    await page.getByPlaceholder("Token").first().fill(setup.key())
    await openTry("tag/commodities/GET/v1/commodities/prices")
    charged.push(await send(200, /This call cost 10 credits \(0\.01 USD\)\. 4,990 credits \(4\.99 USD\) left\./))
    expect(await costPanel().innerText()).toContain("Sample data, mostly generated.")
    await tryDialog().getByText('"butter-sales-price-weekly"').first().waitFor()
    await setup.takePictures("docs-reference-tried")
    await costPanel().getByRole("button", { name: "Close the cost of the call" }).click()
    expect(await costPanel().innerText()).toBe("")
    expect(await tryDialog().isVisible()).toBe(true)
    await closeTry()
  })

  it("sends no optional parameters by default, because some exclude each other", async () => {
    await openTry("tag/commodities/GET/v1/commodities")
    charged.push(await send(200, /This call cost 10 credits \(0\.01 USD\)\. 4,980 credits/))
    expect(new URL(setup.requests.at(-1) ?? "").search).toBe("")
    await closeTry()
  })

  it("states that a call without a response may have been charged, and clears the cost of the previous call", async () => {
    const page = setup.page()
    const headers = { ...inventedHeader, "content-type": "application/json", "x-request-id": "req_unavailable" }
    const body = '{"error":{"type":"internal","message":"unavailable"}}'
    const path = "**/v1/commodities"
    await openTry("tag/commodities/GET/v1/commodities")
    await page.route(path, (route) => route.fulfill({ status: 503, headers, body }))
    await send(503, /^Status 503\. The server could not respond; nothing was charged\.$/)
    await page.route(path, (route) => route.fulfill({ status: 504, headers: inventedHeader, body: "a proxy's" }))
    await send(504, /^Status 504\. The call may have been charged/)
    await page.unroute(path)
    charged.push(await send(200, /^This call cost/))
    const { promise, resolve } = Promise.withResolvers<Route>()
    await page.route(path, resolve)
    await pressSend()
    const route = await promise
    expect(await costPanel().innerText()).toBe("")
    await route.abort()
    await costPanel()
      .getByText(/^No response arrived\. The call may have been charged/)
      .waitFor()
    await page.unroute(path)
    await closeTry()
  })

  it("keeps the key only in the memory of the page, so that a reload removes it", async () => {
    const stored = await setup
      .page()
      .evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])")
    expect(String(stored)).not.toContain(setup.key().slice(9))
    await setup.page().reload()
    await setup.page().getByPlaceholder("Token").first().waitFor()
    expect(await setup.page().getByPlaceholder("Token").first().inputValue()).toBe("")
  })

  it("shows the cost of each call as charged in the ledger", async () => {
    const entries = await listEntriesOf(setup.home(), await listAccountIds(setup.home()))
    const charges = entries.filter(({ type }) => type === "charge")
    expect(charges.map(({ credits, request_id }) => [request_id, credits])).toEqual(charged.map((id) => [id, -10]))
  })
})

describe("the reference if its document or its script cannot be loaded", () => {
  it("shows an error instead of loading forever, and a link to reload", async () => {
    // a separate page, so that the intended failures do not count as faults
    const page = await setup.page().context().newPage()
    const alert = page.getByRole("alert").getByText("The reference could not be loaded.")
    try {
      await page.route("**/openapi.json", (route) => route.fulfill({ status: 503, body: "{}" }))
      await page.goto(`${new URL(setup.page().url()).origin}/docs/reference#tag/commodities`)
      await alert.waitFor()
      await page.unroute("**/openapi.json")
      await page.route("**/docs/assets/scalar.*", (route) => route.abort())
      await press(page, page.getByRole("link", { name: "Reload" }))
      await alert.waitFor()
    } finally {
      await page.close()
    }
  })
})

describe("all pages of the docs", () => {
  it("get four responses from the API, which all match the OpenAPI document", async () => {
    expect(await setup.countResponses()).toBe(4)
  })
  it("request no other host, violate no content policy and have no failed script", () => {
    expect(setup.requests.length).toBeGreaterThan(10)
    expect(setup.faults).toEqual([])
  })
})
