/** What is measured of a page as it is laid out, and of a table as it is read aloud. */
import type { Locator, Page } from "playwright-core"

/** Labels of the cells of a row that are in sight; its heading has none. */
export const labelsInSight = (row: Locator) =>
  row
    .locator("td")
    .evaluateAll((cells) =>
      cells.flatMap((cell) => (cell.getBoundingClientRect().width > 1 ? [cell.dataset.label] : []))
    )

/** How many cells of a row a screen reader does not find, so that it counts the others to wrong columns. */
export const unheardCells = async (row: Locator) => {
  const heads = row.locator("xpath=ancestor::table").getByRole("columnheader")
  const cells = row.getByRole("cell").or(row.getByRole("rowheader"))
  return (await heads.count()) - (await cells.count())
}

/** Pixels between items of a cell, one below the other. */
export const gapsOfItems = (page: Page, label: string) =>
  page.evaluate<ReadonlyArray<number>>(
    `[...document.querySelectorAll("[data-label=${label}] .item + .item")].map((item) =>
      item.getBoundingClientRect().top - item.previousElementSibling.getBoundingClientRect().bottom)`
  )

/** In how many lines ids of payments stand on a phone of 360 pixels; `[1]` where each is in one. */
export const linesOfPaymentIds = async (page: Page) => {
  const before = page.viewportSize()
  await page.setViewportSize({ width: 360, height: 740 })
  const lines = await page.evaluate<ReadonlyArray<number>>(
    `[...new Set([...document.querySelectorAll(".payment-id")].map((id) => id.getClientRects().length))]`
  )
  if (before !== null) await page.setViewportSize(before)
  return lines
}
