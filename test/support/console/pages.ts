/** Reads the HTML of the console's pages: links, buttons, tables and forms. */
import type { Browser, Fields } from "./browser.ts"

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'"
}
export const unescapeHtml = (html: string): string =>
  html.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity)

/** The key that a page shows, if any. */
export const findKey = (html: string): string | undefined => /svc_data_[A-Za-z0-9]{64}/.exec(html)?.[0]

/** The target of the link with this text. */
export const findLink = (html: string, text: string): string | undefined => {
  const href = new RegExp(`<a [^>]*href="([^"]*)"[^>]*>${text}</a>`).exec(html)?.[1]
  return href === undefined ? undefined : unescapeHtml(href)
}

/** The texts of all buttons of a page, except those in its header. */
export const listButtons = (html: string) =>
  [...html.replace(/<header.*<\/header>/s, "").matchAll(/<button[^>]*>([^<]*)<\/button>/g)].map(([, text]) => text)

export const listPrimaryButtons = (html: string) =>
  [...html.matchAll(/<button class="button primary"[^>]*>([^<]*)<\/button>/g)].map(([, text]) => text)

/** The cells in a column of a page's only table; the first column has index 0. */
export const readColumn = (html: string, index: number): ReadonlyArray<string> =>
  [...html.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].flatMap(([, row = ""]) => {
    const cells = [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) => cell)
    const cell = row.includes('scope="col"') ? undefined : cells[index]
    return cell === undefined ? [] : [unescapeHtml(cell.replace(/<[^>]*>/g, "")).trim()]
  })

/** All pages of a list, beginning with the newest, by their links to older ones. */
export const readAllPages = async (browser: Browser, first: string): Promise<ReadonlyArray<string>> => {
  const pages: Array<string> = []
  for (let next: string | undefined = first; next !== undefined; ) {
    const { text } = await browser.get(next)
    pages.push(text)
    next = findLink(text, "Older")
  }
  return pages
}

/** The error message of a field. */
export const readError = (html: string, name: string) =>
  unescapeHtml(new RegExp(`<p class="error" id="${name}-error">([^<]*)</p>`).exec(html)?.[1] ?? "")

export const readValue = (html: string, name: string) =>
  unescapeHtml(new RegExp(`<input id="${name}"[^>]*?value="([^"]*)"`, "s").exec(html)?.[1] ?? "")

export const readHiddenFields = (html: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      unescapeHtml(value)
    ])
  )

/** A form that changes something, with the fields that a browser sends when its first button is pressed. */
export interface OpenedForm {
  readonly target: string
  readonly fields: Fields
}
/** The forms of a page that change something. `address` is the page's own. */
export const listForms = (html: string, address: string): ReadonlyArray<OpenedForm> =>
  [...html.matchAll(/<form method="post"([^>]*)>(.*?)<\/form>/gs)].map(([, attributes = "", body = ""]) => {
    const [, name, value = ""] = /<button[^>]* name="([^"]*)" value="([^"]*)"/.exec(body) ?? []
    const target = /action="([^"]*)"/.exec(attributes)?.[1] ?? address
    return { target, fields: { ...readFormFields(body), ...(name !== undefined && { [name]: value }) } }
  })

/** The fields that a browser sends for the unchanged inputs of a page. */
export const readFormFields = (html: string): Fields => {
  const fields: Record<string, Array<string>> = {}
  for (const [tag] of html.matchAll(/<input\b[^>]*>/g)) {
    const [, name = ""] = /\bname="([^"]*)"/.exec(tag) ?? []
    const [, value = ""] = /\bvalue="([^"]*)"/.exec(tag) ?? []
    const isSent = / checked\b/.test(tag) || !/\btype="(radio|checkbox)"/.test(tag)
    if (isSent) fields[name] = [...(fields[name] ?? []), value]
  }
  return fields
}
