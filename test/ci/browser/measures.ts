/** Measures the layout of a page, and what screen readers find in a table. */
import type { Locator, Page } from "playwright-core"

/** Labels of the visible cells in a row, except its heading. */
export const findVisibleLabels = (row: Locator) =>
  row
    .locator("td")
    .evaluateAll((cells) =>
      cells.flatMap((cell) => (cell.getBoundingClientRect().width > 1 ? [cell.dataset.label] : []))
    )

/** Number of cells in a row that a screen reader does not find; it would assign the others to wrong columns. */
export const countInaccessibleCells = async (row: Locator) => {
  const heads = row.locator("xpath=ancestor::table").getByRole("columnheader")
  const cells = row.getByRole("cell").or(row.getByRole("rowheader"))
  return (await heads.count()) - (await cells.count())
}

/** Vertical distances between the items of a cell, in pixels. */
export const measureItemGaps = (page: Page, label: string) =>
  page.evaluate<ReadonlyArray<number>>(
    `[...document.querySelectorAll("[data-label=${label}] .item + .item")].map((item) =>
      item.getBoundingClientRect().top - item.previousElementSibling.getBoundingClientRect().bottom)`
  )

/** Numbers of lines of the payment ids on a phone of 360 pixels; `[1]` if each fits on one line. */
export const countPaymentIdLines = async (page: Page) => {
  const before = page.viewportSize()
  await page.setViewportSize({ width: 360, height: 740 })
  const lines = await page.evaluate<ReadonlyArray<number>>(
    `[...new Set([...document.querySelectorAll(".payment-id")].map((id) => id.getClientRects().length))]`
  )
  if (before !== null) await page.setViewportSize(before)
  return lines
}
