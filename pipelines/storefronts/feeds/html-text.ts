/**
 * HTML of shops as plain text: paragraphs, lists and the rows of tables stand on lines of their own, links and pictures leave
 * their words only, and what a browser does not show is left out.
 *
 * Descriptions run to some 13 kB and 12 levels. One that is far beyond is cut, so that no shop can hold a read up: what stands
 * after 200,000 characters or 10,000 tags, or below 64 levels, is not in the text. Nothing here throws.
 */
import { compile, type FormatCallback, type FormatOptions, type HtmlToTextOptions } from "html-to-text"
import { tidied } from "./texts.ts"

const mostCharacters = 200_000
/** Opening and closing ones. The parser walks its stack for each, so that time grows with their square: 0.1 s at this number. */
const mostTags = 10_000
const mostLevels = 64

const cutAtTags = (html: string): string => {
  if (html.length < mostTags) return html
  let at = -1
  for (let tags = 0; tags <= mostTags; tags++) {
    at = html.indexOf("<", at + 1)
    if (at === -1) return html
  }
  return html.slice(0, at)
}

/** Pictures that stand in a long text as data would leave no room for its words. */
const withoutData = (html: string): string => {
  const end = /["'\s>]/g
  let kept = ""
  let at = 0
  while (kept.length < mostCharacters && at < html.length) {
    const data = html.indexOf("data:", at)
    if (data === -1) return kept + html.slice(at, at + mostCharacters)
    kept += html.slice(at, data)
    end.lastIndex = data
    at = end.exec(html)?.index ?? html.length
  }
  return kept
}

const cut = (html: string): string =>
  cutAtTags(html.length > mostCharacters ? withoutData(html).slice(0, mostCharacters) : html)

/** Roman numbers above 3,999 make the library throw, and a number of any size can be asked for: lists count from 1 in digits. */
const numbered: FormatCallback = (list, walk, builder) => {
  let number = 0
  builder.openList({ maxPrefixLength: 3, leadingLineBreaks: 2 })
  for (const item of list.children) {
    if (item.type !== "tag" && !/\S/.test(item.data ?? "")) continue
    builder.openListItem({ prefix: item.name === "li" ? `${++number}. ` : "" })
    walk([item], builder)
    builder.closeListItem()
  }
  builder.closeList({ trailingLineBreaks: 2 })
}

const every = (names: string, format: string, options: FormatOptions = {}) =>
  names.split(" ").map((selector) => ({ selector, format, options }))

const oneLine = { leadingLineBreaks: 1, trailingLineBreaks: 1 }
const paragraph = { leadingLineBreaks: 2, trailingLineBreaks: 2 }

const shown: HtmlToTextOptions = {
  wordwrap: false,
  formatters: { numbered },
  // No base elements: looking for <body> walks all of the document, and a description is none.
  limits: { maxBaseElements: 0, maxDepth: mostLevels, ellipsis: "" },
  // The library's own blanks include the zero-width space, which stands within words.
  whitespaceCharacters: " \t\r\n\f",
  selectors: [
    ...every(
      "noscript template iframe object embed svg math canvas audio video head title select datalist img",
      "skip"
    ),
    ...every("a", "inline"),
    ...every("h1 h2 h3 h4 h5 h6 blockquote figure table", "block", paragraph),
    ...every("tr caption dt dd figcaption summary details address fieldset center", "block", oneLine),
    // The library's own rule is a line of 40 dashes.
    ...every("hr", "block", paragraph),
    ...every("td th", "inlineSurround", { prefix: " | " }),
    ...every("td:first-child th:first-child", "inline"),
    ...["td > p", "td > div", "th > p", "th > div"].map((selector) => ({
      selector,
      format: "inlineSurround",
      options: { suffix: " " }
    })),
    { selector: "ul", format: "unorderedList", options: { itemPrefix: "- ", ...paragraph } },
    { selector: "ol", format: "numbered" }
  ]
}

const textOfHtml = compile(shown)
/** For texts without tags, whose line breaks mean something. */
const textOfEntities = compile({ ...shown, preserveNewlines: true })

const hasTag = /<[a-z/!?]/i

const convert = (html: string): string => {
  const beginning = cut(html)
  if (hasTag.test(beginning)) return textOfHtml(beginning)
  return beginning.includes("&") ? textOfEntities(beginning) : beginning
}

/**
 * Blanks at the beginning of a line stay where they indent a list within a list; list items of pictures only go. Each expression is anchored, so that a run of
 * 200,000 blanks takes no longer than that many words.
 */
const tidyLines = (text: string): string | null =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(/[^\P{Cc}\n]+/gu, " ")
    .replace(/(\S)(?:[^\S\n ][^\S\n]*| [^\S\n]+)/g, "$1 ")
    .replace(/^ *[^\S\n ][^\S\n]*|^ *(?:- ?)?$|(?<=\S) $/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim()
    .toWellFormed() || null

/** Text of a description, on as many lines as it has. A text without any tag keeps its line breaks. Null where nothing is left. */
export const htmlToText = (html: unknown): string | null => (typeof html === "string" ? tidyLines(convert(html)) : null)

/** Text of a name on one line: `Salt &amp; Pepper` → `Salt & Pepper`. */
export const htmlToLine = (html: unknown): string | null =>
  tidied(typeof html === "string" && /[<&]/.test(html) ? convert(html) : html)
