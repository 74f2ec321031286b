/** How pages are looked at: light and dark, at a desk and on a phone, by axe and in pictures. */
import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"

export const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } } as const
export const schemes = ["light", "dark"] as const
export type Size = keyof typeof sizes
type Scheme = (typeof schemes)[number]

/** A folder for pictures of all pages, for people to look at; none are taken without it. */
export const pictures = process.env.LARDER_SCREENSHOTS

const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
/** What may differ when the same page is dressed otherwise. */
const ofTheLook = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"]

export const dress = async (page: Page, size: Size, scheme: Scheme) => {
  await page.emulateMedia({ colorScheme: scheme })
  await page.setViewportSize(sizes[size])
}

/** What keeps people from using the page as it is dressed, one line each. Parts that are not ours are left out. */
export const obstacles = async (
  page: Page,
  looked: "at all" | "at its look",
  without: ReadonlyArray<string> = []
): Promise<ReadonlyArray<string>> => {
  const axe = new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).setLegacyMode()
  for (const part of without) axe.exclude(part)
  const { violations } = await (looked === "at all" ? axe.withTags(standards) : axe.withRules(ofTheLook)).analyze()
  const told = violations.flatMap(({ help, id, nodes }) =>
    nodes.map(({ failureSummary, target }) => `${id}: ${help}: ${target.join(" ")}: ${failureSummary ?? ""}`)
  )
  const isTooWide = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
  return isTooWide ? [...told, "the page scrolls sideways"] : told
}
