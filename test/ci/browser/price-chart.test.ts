/** The price chart: tooltip, zoom, widths, colours, print, and a browser without scripts. */
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { sizes } from "./accessibility.ts"
import { useConsoleInBrowser } from "./console-in-browser.ts"

const setup = useConsoleInBrowser()
const { checkPage, withPage } = setup

beforeAll(() =>
  withPage(async (page, context) => {
    await page.goto(setup.server().first_link ?? "")
    await page.getByLabel("E-mail").fill("ada@example.com")
    await page.getByLabel("Password").fill("lantern oyster gravel tractor")
    await page.getByRole("button", { name: "Create my login" }).click()
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    await setup.saveSignedIn(context)
  }, "visitor")
)

const butter = "/data/prices?series=butter-sales-price-weekly"
const twoSeries = `${butter}&beside=cheese-block-sales-price-weekly`
const openPrices = (path: string, run: (page: Page) => Promise<void>) =>
  withPage(async (page) => {
    await page.goto(path)
    await page.locator(".plot canvas").waitFor()
    await run(page)
  })

/** The area of the lines. */
const measureLines = async (page: Page) => {
  const box = await page.locator(".plot .u-over").boundingBox()
  if (box === null) throw new Error("nothing is drawn")
  return { ...box, at: (part: number) => [box.x + box.width * part, box.y + box.height / 2] as const }
}
const movePointer = async (page: Page, part: number) => page.mouse.move(...(await measureLines(page)).at(part))
/** Drags from one part of the width to another. */
const drag = async (page: Page, from: number, to: number) => {
  const { at } = await measureLines(page)
  await page.mouse.move(...at(from))
  await page.mouse.down()
  await page.mouse.move(...at(to), { steps: 4 })
  await page.mouse.up()
}
const readTooltip = (page: Page) => page.locator(".tip").innerText()
const resetButton = (page: Page) => page.getByRole("button", { name: "Reset zoom" })

/** The rows of the table, in the format of the tooltip. */
const readRows = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(
    `[...document.querySelectorAll("[data-price-chart] tbody tr")].map(({ cells }) =>
      [cells[0].textContent, ...[...cells].slice(1).map((cell) => cell.textContent + " US dollars per pound")].join("\\n"))`
  )

/** Number of pixels of the canvas with a colour such as `rgb(23, 99, 79)`. */
const countPixels = (page: Page, colour: string) =>
  page.evaluate<number>(`(() => {
    const canvas = document.querySelector(".plot canvas")
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
    const [red, green, blue] = "${colour}".match(/\\d+/g).map(Number)
    let found = 0
    for (let index = 0; index < data.length; index += 4)
      if (data[index] === red && data[index + 1] === green && data[index + 2] === blue && data[index + 3] === 255) found++
    return found
  })()`)
const lightLine = "rgb(23, 99, 79)"
const darkLine = "rgb(116, 205, 178)"

describe("the tooltip of the price chart", () => {
  it("shows the day under the pointer with its price, with the digits as published", () =>
    openPrices(butter, async (page) => {
      const rows = await readRows(page)
      expect(rows.length).toBeGreaterThan(50)
      await movePointer(page, 0.001)
      expect(await readTooltip(page)).toBe(rows[0])
      await movePointer(page, 0.999)
      expect(await readTooltip(page)).toBe(rows.at(-1))
      await movePointer(page, 0.4)
      expect(rows).toContain(await readTooltip(page))
      await page.mouse.move(0, 0)
      expect(await page.locator(".tip").isVisible()).toBe(false)
    }))

  it("shows both series by name if two are compared", () =>
    openPrices(twoSeries, async (page) => {
      await movePointer(page, 0.5)
      expect(await readTooltip(page)).toMatch(
        /^\d+ \w+ \d{4}\nButter, .+\n\d\.\d+ US dollars per pound\nCheddar cheese .+\n\d\.\d+ US dollars per pound$/
      )
      await checkPage(page, "price-chart-pointer")
    }))
})

describe("the zoom of the price chart", () => {
  it("shows the dragged days; the button and a double click show all days again", () =>
    openPrices(butter, async (page) => {
      const rows = await readRows(page)
      expect(await resetButton(page).isVisible()).toBe(false)
      for (const zoomOut of [
        () => resetButton(page).click(),
        async () => page.mouse.dblclick(...(await measureLines(page)).at(0.5))
      ]) {
        await drag(page, 0.5, 0.75)
        expect(await resetButton(page).isVisible()).toBe(true)
        await movePointer(page, 0.001)
        const first = rows.indexOf(await readTooltip(page))
        expect(Math.abs(first - rows.length / 2)).toBeLessThan(3)
        await zoomOut()
        expect(await resetButton(page).isVisible()).toBe(false)
        await movePointer(page, 0.001)
        expect(await readTooltip(page)).toBe(rows[0])
      }
      await drag(page, 0.5, 0.75)
      await checkPage(page, "price-chart-zoomed")
    }))

  it("still shows a day of the table after six drags over the same area", () =>
    openPrices(butter, async (page) => {
      for (let times = 0; times < 6; times++) await drag(page, 0.45, 0.55)
      await movePointer(page, 0.5)
      expect(await readRows(page)).toContain(await readTooltip(page))
    }))
})

it("fits the price chart into windows of 1280, 320 and 640 pixels", () =>
  openPrices(twoSeries, async (page) => {
    for (const width of [1280, 320, 640]) {
      await page.setViewportSize({ width, height: 900 })
      const measureWidth = (part: string) =>
        page.locator(part).evaluate((element) => element.getBoundingClientRect().width)
      // the chart is drawn again a moment after its window is resized
      await expect.poll(async () => (await measureWidth(".plot canvas")) - (await measureWidth(".plot"))).toBe(0)
      expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0)
    }
  }))

it("shows the price at a tap until another part of the page is touched", () =>
  withPage(async (outerPage, context) => {
    const touchContext = await outerPage
      .context()
      .browser()
      ?.newContext({
        baseURL: setup.server().console,
        storageState: await context.storageState(),
        viewport: sizes.phone,
        hasTouch: true
      })
    if (touchContext === undefined) throw new Error("no browser")
    const page = await touchContext.newPage()
    await page.goto(butter)
    await page.locator(".plot canvas").waitFor()
    await page.locator(".plot").scrollIntoViewIfNeeded()
    await page.touchscreen.tap(...(await measureLines(page)).at(0.3))
    await page.waitForTimeout(200) // the browser sends mouseleave right after the tap
    expect(await readRows(page)).toContain(await readTooltip(page))
    await page.touchscreen.tap(100, 100)
    await expect.poll(() => page.locator(".tip").isVisible()).toBe(false)
    await touchContext.close()
  }))

describe("the colours of the price chart", () => {
  it("change from light to dark with the colour scheme", () =>
    openPrices(butter, async (page) => {
      expect(await countPixels(page, lightLine)).toBeGreaterThan(100)
      await page.emulateMedia({ colorScheme: "dark" })
      await expect.poll(() => countPixels(page, darkLine)).toBeGreaterThan(100)
      expect(await countPixels(page, lightLine)).toBe(0)
    }))

  it("are light in print, even if the screen is dark", () =>
    openPrices(butter, async (page) => {
      await page.emulateMedia({ colorScheme: "dark" })
      await expect.poll(() => countPixels(page, darkLine)).toBeGreaterThan(100)
      await page.emulateMedia({ colorScheme: "dark", media: "print" })
      await expect.poll(() => countPixels(page, lightLine)).toBeGreaterThan(100)
    }))

  it("follow the forced colours of the system", () =>
    openPrices(butter, async (page) => {
      await page.emulateMedia({ forcedColors: "active" })
      await expect.poll(() => countPixels(page, "rgb(0, 0, 0)")).toBeGreaterThan(100)
      expect(await countPixels(page, lightLine)).toBe(0)
    }))
})

it("shows an open table instead of the price chart without scripts", () =>
  withPage(async (outerPage, context) => {
    const contextWithoutScripts = await outerPage
      .context()
      .browser()
      ?.newContext({
        baseURL: setup.server().console,
        storageState: await context.storageState(),
        javaScriptEnabled: false
      })
    if (contextWithoutScripts === undefined) throw new Error("no browser")
    const page = await contextWithoutScripts.newPage()
    await page.goto(butter)
    expect(await page.locator(".plot").isVisible()).toBe(false)
    expect(await page.locator("[data-price-chart] tbody tr").first().isVisible()).toBe(true)
    await contextWithoutScripts.close()
  }))

it("shows the price chart without violating the content policy and without a failed script", () => {
  expect(setup.faults).toEqual([])
})
