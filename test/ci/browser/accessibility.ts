/** Checks pages with axe, and takes pictures: in light and dark colours, on a desktop and on a phone. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { AxeResults } from "axe-core"
import type { Page } from "playwright-core"

export const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } } as const
export const schemes = ["light", "dark"] as const
export type Size = keyof typeof sizes
type Scheme = (typeof schemes)[number]

/** Folder for pictures of all pages; if it is not set, none are taken. */
export const pictureFolder = process.env.LARDER_SCREENSHOTS

const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
/** Rules whose result depends on size or colours. */
const appearanceRules = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"]

export const setAppearance = async (page: Page, size: Size, scheme: Scheme) => {
  await page.emulateMedia({ colorScheme: scheme })
  await page.setViewportSize(sizes[size])
}

/** Each size and each scheme once, because they do not depend on each other. The first check runs all rules. */
const appearances = [
  ["phone", "dark"],
  ["desktop", "light"]
] as const

const axeSource = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8")

/** The first check loads axe into the page. Only violations are returned from the page. */
const findViolations = async (page: Page, isFirst: boolean, excluded: ReadonlyArray<string>) => {
  if (isFirst) await page.evaluate(axeSource)
  const runOnly = isFirst ? standards : { type: "rule", values: appearanceRules }
  const options = { resultTypes: ["violations"], preload: false, runOnly }
  const args = JSON.stringify([{ exclude: excluded.map((part) => [part]) }, options])
  return page.evaluate<AxeResults["violations"]>(`axe.run(...${args}).then(({ violations }) => violations)`)
}

const checkAppearance = async (page: Page, isFirst: boolean, excluded: ReadonlyArray<string>) => {
  const violations = (await findViolations(page, isFirst, excluded)).flatMap(({ help, id, nodes }) =>
    nodes.map(({ failureSummary, target }) => `${id}: ${help}: ${target.join(" ")}: ${failureSummary ?? ""}`)
  )
  const isTooWide = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
  return isTooWide ? [...violations, "the page scrolls horizontally"] : violations
}

/**
 * Accessibility violations of the page in light and dark colours, on a phone and on a desktop, one line each. Ignores the
 * parts in `excluded`. Leaves the page in light colours on a desktop.
 */
export const findAccessibilityProblems = async (
  page: Page,
  excluded: ReadonlyArray<string> = []
): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const [index, [size, scheme]] of appearances.entries()) {
    await setAppearance(page, size, scheme)
    const problems = await checkAppearance(page, index === 0, excluded)
    found.push(...problems.map((problem) => `${size}, ${scheme}: ${problem}`))
  }
  return found
}
