/** Pages in little room, as on a phone or magnified to 200 % and 400 %, on paper, and in the system's colours. */
import { Administration } from "@larder/serve/ledger"
import { RequestLog } from "@larder/serve/persistence"
import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { payingByCard } from "../../console/billing-forms.ts"
import {
  call,
  linkCalled,
  refusedCall,
  type SignedIn,
  spendingConsole
} from "../../support/console/spending-console.ts"
import { sizes } from "./look.ts"
import { signedInPages } from "./signed-in.ts"

const console = spendingConsole()
const signedIn = signedInPages(console)
const { beginByCard, payByCard } = payingByCard(console)
const longest = "W".repeat(200)
let mine: SignedIn
let receipt = ""

/** A key that has spent its budget, another one that may not, a payment that was made, and one that is open. */
beforeAll(async () => {
  mine = await console.signedIn(longest)
  receipt = linkCalled((await payByCard(mine, "20", "4242424242424242")).text, "Receipt") ?? ""
  await beginByCard(mine, "50")
  const spent = await console.run(
    Administration.use((ledger) =>
      ledger.createKey({ account_id: mine.account.id, name: "Spent", scopes: ["get-store"], budget_credits: 100 })
    )
  )
  await console.run(call(mine.key, mine.key.key, "req_2"))
  await console.run(call(spent, spent.key, "req_1"))
  await console.run(RequestLog.use((log) => Effect.sync(() => log.record(refusedCall(mine)))))
})

const at = (path: string, play: (page: Page) => Promise<void>) =>
  signedIn(
    mine,
    async (page) => {
      await page.goto(`${console.url()}${path}`)
      await play(page)
    },
    { viewport: sizes.desktop }
  )

/** What reaches beyond the part of the page in which it stands, the room at its edge left out, and the page if it scrolls. */
const beyond = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(`[
    ...[...document.querySelectorAll("table, th *, td *, .badge")].filter((one) => {
      const place = one.closest("section, .card, .stats > div, .notice")
      const end = place.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(place).paddingRight)
      return one.checkVisibility() && !one.closest(".hidden, thead") && one.getBoundingClientRect().right > end + 0.5
    }).map((one) => one.outerHTML.slice(0, 100)),
    ...(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ["the page"] : [])
  ]`)

describe("a page that is 640 or 320 pixels wide", () => {
  it.each(["/keys", "/requests", "/billing", "/billing/payments", "/billing/ledger", "/usage"])(
    "keeps the tables of %s within its edges",
    (path) =>
      at(path, async (page) => {
        expect(await page.locator("tbody tr").count()).toBeGreaterThan(0)
        expect(await page.content()).toContain(path.startsWith("/billing") ? "Top-up" : longest)
        if (path === "/billing") expect(await page.locator("td .badge").allInnerTexts()).toContain("Not confirmed yet")
        for (const width of [640, 320]) {
          await page.setViewportSize({ width, height: 900 })
          expect({ width, beyond: await beyond(page) }).toEqual({ width, beyond: [] })
        }
      })
  )
})

/** Of all that is printed. */
const colours = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(`[...document.querySelectorAll("html, body, main *")].map((one) => {
    const { backgroundColor, borderColor, color, colorScheme } = getComputedStyle(one)
    return [one.tagName, one.className, color, backgroundColor, borderColor, colorScheme].join(" ")
  })`)

describe("a printed page", () => {
  it("has light colours even when the screen is dark", async () => {
    for (const path of [receipt, "/keys", "/usage"]) {
      await at(path, async (page) => {
        await page.emulateMedia({ media: "print", colorScheme: "light" })
        const light = await colours(page)
        await page.emulateMedia({ media: "print", colorScheme: "dark" })
        expect(await colours(page)).toEqual(light)
      })
    }
  })
})

/** The colour in the middle of what is seen. */
const middle = async (of: Locator) => {
  const picture = `data:image/png;base64,${(await of.screenshot()).toString("base64")}`
  const blank = await of.page().context().newPage() // the policy of the console lets no such picture in
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
    at("/keys", async (page) => {
      await page.emulateMedia({ forcedColors: "active" })
      const full = page.getByRole("progressbar", { name: "of Spent" })
      const empty = page.getByRole("progressbar", { name: longest })
      expect(await middle(full)).not.toBe(await middle(empty))
    }))

  it("marks the current page and the current period with a background that the others do not have", () =>
    at("/usage", async (page) => {
      await page.emulateMedia({ forcedColors: "active" })
      const backgrounds = (links: string) =>
        page.evaluate<ReadonlyArray<string>>(
          `[...new Set([...document.querySelectorAll("${links}")].map((link) => getComputedStyle(link).backgroundColor))]`
        )
      for (const place of ["header li a", "main nav a"]) {
        const [chosen, ...others] = await backgrounds(`${place}[aria-current]`)
        expect(chosen).toBeDefined()
        expect(others).toEqual([])
        expect(await backgrounds(`${place}:not([aria-current])`)).not.toContain(chosen)
      }
    }))
})
