/** Pages on a phone, magnified to 200 % and 400 %, on paper, and in forced colours. */
import { Administration } from "@larder/serve/ledger"
import { RequestLog } from "@larder/serve/persistence"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { makeCardPayments } from "../../console/card-payments.ts"
import { findLink } from "../../support/console/pages.ts"
import { aRefusedCall, makeCall, type SignedIn, startSpendingConsole } from "../../support/console/spending-console.ts"
import { findAccessibilityProblems, sizes } from "./accessibility.ts"
import { findButton, press } from "./page-steps.ts"
import { makeSignedInPages } from "./signed-in.ts"

const console = startSpendingConsole()
const runSignedIn = makeSignedInPages(console)
const { openCardPage, payByCard } = makeCardPayments(console)
const longest = "W".repeat(200)
let customer: SignedIn
let receipt = ""

/** A key with a spent budget and one without, a completed payment and an open one. */
beforeAll(async () => {
  customer = await console.signIn(longest)
  receipt = findLink((await payByCard(customer, "20", "4242424242424242")).text, "Receipt") ?? ""
  await openCardPage(customer, "50")
  const spent = await console.run(
    Administration.use((ledger) =>
      ledger.createKey({ account_id: customer.account.id, name: "Spent", scopes: ["get-store"], budget_credits: 100 })
    )
  )
  await console.run(makeCall(customer.key, customer.key.key, "req_2"))
  await console.run(makeCall(spent, spent.key, "req_1"))
  await console.run(RequestLog.use((log) => Effect.sync(() => log.record(aRefusedCall(customer)))))
})

const openPage = (path: string, run: (page: Page) => Promise<void>) =>
  runSignedIn(
    customer,
    async (page) => {
      await page.goto(`${console.url()}${path}`)
      await run(page)
    },
    { viewport: sizes.desktop }
  )

/** Elements that reach into the padding of their container or beyond it, and the page if it scrolls horizontally. */
const findOverflow = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(`[
    ...[...document.querySelectorAll("table, th *, td *, .badge")].filter((element) => {
      const container = element.closest("section, .card, .stats > div, .notice")
      const end = container.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(container).paddingRight)
      return element.checkVisibility() && !element.closest(".hidden, thead") && element.getBoundingClientRect().right > end + 0.5
    }).map((element) => element.outerHTML.slice(0, 100)),
    ...(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ["the page"] : [])
  ]`)

describe("a page that is 640 or 320 pixels wide", () => {
  it.each(["/keys", "/requests", "/billing", "/billing/payments", "/billing/ledger", "/usage"])(
    "keeps the tables of %s within its edges",
    (path) =>
      openPage(path, async (page) => {
        expect(await page.locator("tbody tr").count()).toBeGreaterThan(0)
        expect(await page.content()).toContain(path.startsWith("/billing") ? "Top-up" : longest)
        if (path === "/billing") expect(await page.locator("td .badge").allInnerTexts()).toContain("Not confirmed yet")
        for (const width of [640, 320]) {
          await page.setViewportSize({ width, height: 900 })
          expect({ width, overflow: await findOverflow(page) }).toEqual({ width, overflow: [] })
        }
      })
  )
})

describe("the page of the low-balance mail", () => {
  it("is accessible, also with a problem, and fits a phone", () =>
    openPage("/billing/low-balance", async (page) => {
      expect(await findAccessibilityProblems(page)).toEqual([])
      await page.getByLabel("Send a mail when the balance falls below").fill("much")
      await press(page, findButton(page, "Save"))
      expect(await page.getByRole("alert").innerText()).toContain("Enter an amount")
      expect(await findAccessibilityProblems(page)).toEqual([])
    }))
})

/** The colours of everything that is printed. */
const readColours = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(`[...document.querySelectorAll("html, body, main *")].map((element) => {
    const { backgroundColor, borderColor, color, colorScheme } = getComputedStyle(element)
    return [element.tagName, element.className, color, backgroundColor, borderColor, colorScheme].join(" ")
  })`)

describe("a printed page", () => {
  it("has light colours even if the screen is dark", async () => {
    for (const path of [receipt, "/keys", "/usage"]) {
      await openPage(path, async (page) => {
        await page.emulateMedia({ media: "print", colorScheme: "light" })
        const light = await readColours(page)
        await page.emulateMedia({ media: "print", colorScheme: "dark" })
        expect(await readColours(page)).toEqual(light)
      })
    }
  })
})

/** The colour in the middle of an element. */
const readMiddleColour = async (element: Locator) => {
  const picture = `data:image/png;base64,${(await element.screenshot()).toString("base64")}`
  const blank = await element.page().context().newPage() // the console's content policy forbids such a picture
  return blank.evaluate<string>(`(async () => {
    const image = new Image()
    image.src = "${picture}"
    await image.decode()
    const drawn = new OffscreenCanvas(image.width, image.height).getContext("2d")
    drawn.drawImage(image, 0, 0)
    return drawn.getImageData(image.width / 2, image.height / 2, 1, 1).data.join()
  })()`)
}

describe("a page in forced colours", () => {
  it("shows a spent budget as a full bar", () =>
    openPage("/keys", async (page) => {
      await page.emulateMedia({ forcedColors: "active" })
      const full = page.getByRole("progressbar", { name: "of Spent" })
      const empty = page.getByRole("progressbar", { name: longest })
      expect(await readMiddleColour(full)).not.toBe(await readMiddleColour(empty))
    }))

  it("marks the current page and the current period with a distinct background", () =>
    openPage("/usage", async (page) => {
      await page.emulateMedia({ forcedColors: "active" })
      const readBackgrounds = (links: string) =>
        page.evaluate<ReadonlyArray<string>>(
          `[...new Set([...document.querySelectorAll("${links}")].map((link) => getComputedStyle(link).backgroundColor))]`
        )
      for (const area of ["header li a", "main nav a"]) {
        const [chosen, ...others] = await readBackgrounds(`${area}[aria-current]`)
        expect(chosen).toBeDefined()
        expect(others).toEqual([])
        expect(await readBackgrounds(`${area}:not([aria-current])`)).not.toContain(chosen)
      }
    }))
})
