/** Fills in and sends the form of a key. */
import type { Browser, Fields } from "../support/console/browser.ts"
import { readHiddenFields } from "../support/console/pages.ts"

export const newKey = { name: "Dashboard", access: "all", budget: "25" }

/** Opens the form of a key and sends it. */
export const edit = async (browser: Browser, path: string, fields: Fields) =>
  browser.post(path, { ...readHiddenFields((await browser.get(path)).text), ...fields })
