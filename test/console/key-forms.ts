/** The forms of keys, filled in as a person does. */
import type { Browser, Fields } from "../support/console/browser.ts"

export const newKey = { name: "Dashboard", access: "all", budget: "25" }

/** What a form carries unseen. */
export const carriedIn = (page: string): Fields =>
  Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(([, name = "", value = ""]) => [
      name,
      value
    ])
  )

/** What a browser sends of the inputs on a page that nobody has touched. */
export const untouchedIn = (page: string): Fields => {
  const fields: Record<string, Array<string>> = {}
  for (const [tag] of page.matchAll(/<input\b[^>]*>/g)) {
    const [, name = ""] = /\bname="([^"]*)"/.exec(tag) ?? []
    const [, value = ""] = /\bvalue="([^"]*)"/.exec(tag) ?? []
    const isSent = / checked\b/.test(tag) || !/\btype="(radio|checkbox)"/.test(tag)
    if (isSent) fields[name] = [...(fields[name] ?? []), value]
  }
  return fields
}

/** Opens the form of a key and sends it. */
export const edit = async (browser: Browser, path: string, fields: Fields) =>
  browser.post(path, { ...carriedIn((await browser.get(path)).text), ...fields })
