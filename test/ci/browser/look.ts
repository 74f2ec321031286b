/** How pages are looked at: light and dark, at a desk and on a phone, by axe and in pictures. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { AxeResults } from "axe-core"
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

/** Each size and each scheme once: the first look is whole, the other one for what may differ. Neither depends on the other. */
const dresses = [
  ["phone", "dark"],
  ["desktop", "light"]
] as const

const source = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8")

/** The first look brings axe into the page; the others find it there. What it found stays in the page, but for violations. */
const violationsIn = async (page: Page, isFirst: boolean, without: ReadonlyArray<string>) => {
  if (isFirst) await page.evaluate(source)
  const runOnly = isFirst ? standards : { type: "rule", values: ofTheLook }
  const options = { resultTypes: ["violations"], preload: false, runOnly }
  const about = JSON.stringify([{ exclude: without.map((part) => [part]) }, options])
  return page.evaluate<AxeResults["violations"]>(`axe.run(...${about}).then(({ violations }) => violations)`)
}

const obstaclesNow = async (page: Page, isFirst: boolean, without: ReadonlyArray<string>) => {
  const told = (await violationsIn(page, isFirst, without)).flatMap(({ help, id, nodes }) =>
    nodes.map(({ failureSummary, target }) => `${id}: ${help}: ${target.join(" ")}: ${failureSummary ?? ""}`)
  )
  const isTooWide = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
  return isTooWide ? [...told, "the page scrolls sideways"] : told
}

/**
 * What keeps people from using the page, in light and dark, on a phone and at a desk, one line each. Parts that are not
 * ours are left out. The page is at a desk in light afterwards.
 */
export const obstacles = async (page: Page, without: ReadonlyArray<string> = []): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const [index, [size, scheme]] of dresses.entries()) {
    await dress(page, size, scheme)
    const seen = await obstaclesNow(page, index === 0, without)
    found.push(...seen.map((one) => `${size}, ${scheme}: ${one}`))
  }
  return found
}
