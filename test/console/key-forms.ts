/** The forms of keys, filled in as a person does. */
import type { Browser, Fields } from "./browser.ts"

export const newKey = { name: "Dashboard", access: "all", budget: "25" }

/** What a form carries unseen. */
export const carriedIn = (page: string): Fields =>
  Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(([, name = "", value = ""]) => [
      name,
      value
    ])
  )

/** Opens the form of a key and sends it. */
export const edit = async (browser: Browser, path: string, fields: Fields) =>
  browser.post(path, { ...carriedIn((await browser.get(path)).text), ...fields })
