/** The chart of prices: what the pointer says, the zoom, other widths and colours, paper, and a browser without scripts. */
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { consoleInBrowser } from "./console-in-browser.ts"
import { sizes } from "./look.ts"

const stage = consoleInBrowser()
const { look, scene } = stage

beforeAll(() =>
  scene(async (page, context) => {
    await page.goto(stage.server().first_link ?? "")
    await page.getByLabel("E-mail").fill("ada@example.com")
    await page.getByLabel("Password").fill("lantern oyster gravel tractor")
    await page.getByRole("button", { name: "Create my sign-in" }).click()
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    await stage.keepSignedIn(context)
  }, "nobody")
)

const butter = "/data/prices?series=butter-sales-price-weekly"
const two = `${butter}&beside=cheese-block-sales-price-weekly`
const onPrices = (path: string, play: (page: Page) => Promise<void>) =>
  scene(async (page) => {
    await page.goto(path)
    await page.locator(".plot canvas").waitFor()
    await play(page)
  })

/** Where the lines are. */
const lines = async (page: Page) => {
  const box = await page.locator(".plot .u-over").boundingBox()
  if (box === null) throw new Error("nothing is drawn")
  return { ...box, at: (part: number) => [box.x + box.width * part, box.y + box.height / 2] as const }
}
const pointAt = async (page: Page, part: number) => page.mouse.move(...(await lines(page)).at(part))
/** From one part of the width to another. */
const drag = async (page: Page, from: number, to: number) => {
  const { at } = await lines(page)
  await page.mouse.move(...at(from))
  await page.mouse.down()
  await page.mouse.move(...at(to), { steps: 4 })
  await page.mouse.up()
}
const said = (page: Page) => page.locator(".tip").innerText()
const reset = (page: Page) => page.getByRole("button", { name: "Reset zoom" })

/** The rows of the table, as the tooltip has them. */
const readings = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(
    `[...document.querySelectorAll("[data-price-chart] tbody tr")].map(({ cells }) =>
      [cells[0].textContent, ...[...cells].slice(1).map((cell) => cell.textContent + " USD per lb")].join("\\n"))`
  )

/** How many of the canvas's points have this colour, such as `rgb(23, 99, 79)`. */
const painted = (page: Page, colour: string) =>
  page.evaluate<number>(`(() => {
    const canvas = document.querySelector(".plot canvas")
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
    const [red, green, blue] = "${colour}".match(/\\d+/g).map(Number)
    let found = 0
    for (let at = 0; at < data.length; at += 4)
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255) found++
    return found
  })()`)
const inLight = "rgb(23, 99, 79)"
const inDark = "rgb(116, 205, 178)"

describe("the tooltip of the price chart", () => {
  it("shows the day under the pointer with its price, with the digits as published", () =>
    onPrices(butter, async (page) => {
      const all = await readings(page)
      expect(all.length).toBeGreaterThan(50)
      await pointAt(page, 0.001)
      expect(await said(page)).toBe(all[0])
      await pointAt(page, 0.999)
      expect(await said(page)).toBe(all.at(-1))
      await pointAt(page, 0.4)
      expect(all).toContain(await said(page))
      await page.mouse.move(0, 0)
      expect(await page.locator(".tip").isVisible()).toBe(false)
    }))

  it("shows both series by name when two are compared", () =>
    onPrices(two, async (page) => {
      await pointAt(page, 0.5)
      expect(await said(page)).toMatch(
        /^\d+ \w+ \d{4}\nButter, .+\n\d\.\d+ USD per lb\nCheese, .+\n\d\.\d+ USD per lb$/
      )
      await look(page, "price-chart-pointer")
    }))
})

describe("the zoom of the price chart", () => {
  it("shows the days that were dragged over; the button and a double click bring all days back", () =>
    onPrices(butter, async (page) => {
      const all = await readings(page)
      expect(await reset(page).isVisible()).toBe(false)
      for (const back of [() => reset(page).click(), async () => page.mouse.dblclick(...(await lines(page)).at(0.5))]) {
        await drag(page, 0.5, 0.75)
        expect(await reset(page).isVisible()).toBe(true)
        await pointAt(page, 0.001)
        const first = all.indexOf(await said(page))
        expect(Math.abs(first - all.length / 2)).toBeLessThan(3)
        await back()
        expect(await reset(page).isVisible()).toBe(false)
        await pointAt(page, 0.001)
        expect(await said(page)).toBe(all[0])
      }
      await drag(page, 0.5, 0.75)
      await look(page, "price-chart-zoomed")
    }))

  it("still shows a day of the table after six drags over the same part", () =>
    onPrices(butter, async (page) => {
      for (let times = 0; times < 6; times++) await drag(page, 0.45, 0.55)
      await pointAt(page, 0.5)
      expect(await readings(page)).toContain(await said(page))
    }))
})

it("fits the price chart into windows of 1280, 320 and 640 pixels", () =>
  onPrices(two, async (page) => {
    for (const width of [1280, 320, 640]) {
      await page.setViewportSize({ width, height: 900 })
      const widthOf = (part: string) => page.locator(part).evaluate((one) => one.getBoundingClientRect().width)
      // the chart is drawn again some moments after its window has another size
      await expect.poll(async () => (await widthOf(".plot canvas")) - (await widthOf(".plot"))).toBe(0)
      expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0)
    }
  }))

it("shows the price where a finger taps, until the finger touches something else", () =>
  scene(async (outer, context) => {
    const touching = await outer
      .context()
      .browser()
      ?.newContext({
        baseURL: stage.server().console,
        storageState: await context.storageState(),
        viewport: sizes.phone,
        hasTouch: true
      })
    if (touching === undefined) throw new Error("no browser")
    const page = await touching.newPage()
    await page.goto(butter)
    await page.locator(".plot canvas").waitFor()
    await page.locator(".plot").scrollIntoViewIfNeeded()
    await page.touchscreen.tap(...(await lines(page)).at(0.3))
    await page.waitForTimeout(200) // the browser lets its mouse leave right after the tap
    expect(await readings(page)).toContain(await said(page))
    await page.touchscreen.tap(100, 100)
    await expect.poll(() => page.locator(".tip").isVisible()).toBe(false)
    await touching.close()
  }))

describe("the colours of the price chart", () => {
  it("change from light to dark with the colour scheme", () =>
    onPrices(butter, async (page) => {
      expect(await painted(page, inLight)).toBeGreaterThan(100)
      await page.emulateMedia({ colorScheme: "dark" })
      await expect.poll(() => painted(page, inDark)).toBeGreaterThan(100)
      expect(await painted(page, inLight)).toBe(0)
    }))

  it("become light in print, even when the screen is dark", () =>
    onPrices(butter, async (page) => {
      await page.emulateMedia({ colorScheme: "dark" })
      await expect.poll(() => painted(page, inDark)).toBeGreaterThan(100)
      await page.emulateMedia({ colorScheme: "dark", media: "print" })
      await expect.poll(() => painted(page, inLight)).toBeGreaterThan(100)
    }))

  it("give way to the forced colours of the system", () =>
    onPrices(butter, async (page) => {
      await page.emulateMedia({ forcedColors: "active" })
      await expect.poll(() => painted(page, "rgb(0, 0, 0)")).toBeGreaterThan(100)
      expect(await painted(page, inLight)).toBe(0)
    }))
})

it("shows an open table instead of the price chart when no scripts run", () =>
  scene(async (outer, context) => {
    const plain = await outer
      .context()
      .browser()
      ?.newContext({
        baseURL: stage.server().console,
        storageState: await context.storageState(),
        javaScriptEnabled: false
      })
    if (plain === undefined) throw new Error("no browser")
    const page = await plain.newPage()
    await page.goto(butter)
    expect(await page.locator(".plot").isVisible()).toBe(false)
    expect(await page.locator("[data-price-chart] tbody tr").first().isVisible()).toBe(true)
    await plain.close()
  }))

it("shows the price chart without a breach of the content policy and without a failed script", () => {
  expect(stage.faults).toEqual([])
})
