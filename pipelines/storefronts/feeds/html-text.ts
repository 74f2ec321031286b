/**
 * HTML of shops as plain text: paragraphs, lists and the rows of tables stand on lines of their own, links and pictures leave
 * their words only, and what a browser does not show is left out.
 *
 * Descriptions run to some 13 kB and 12 levels. One that is far beyond is cut, so that no shop can hold a read up: what stands
 * after 200,000 characters or 10,000 tags, or below 64 levels, is not in the text. Nothing here throws.
 */
import { writtenText } from "./text-writer.ts"
import { tidied } from "./texts.ts"

const mostCharacters = 200_000
/** Opening and closing ones. The parser walks its stack for each, so that time grows with their square: 0.1 s at this number. */
const mostTags = 10_000

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

const hasTag = /<[a-z/!?]/i

/** What is left for `tidyLines`: blanks other than the space, control characters, and halves of surrogate pairs. */
const untidy = /[^\S \n]|[^\P{Cc}\n]|\p{Cs}/u

/**
 * Blanks at the beginning of a line stay where they indent a list within a list; items of a list that hold nothing else go. Each
 * expression is anchored, so that a run of 200,000 blanks takes no longer than that many words.
 */
const tidyLines = (text: string): string =>
  text
    .replace(/\p{Cs}+/gu, "")
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(/[^\P{Cc}\n]+/gu, " ")
    .replace(/(\S)(?:[^\S\n ][^\S\n]*| [^\S\n]+)/g, "$1 ")
    .replace(/^ *[^\S\n ][^\S\n]*|^ *(?:- ?)?$|(?<=\S) $/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim()

const convert = (html: string): string => {
  const beginning = cut(html)
  const isHtml = hasTag.test(beginning)
  if (!isHtml && !beginning.includes("&")) return tidyLines(beginning)
  const text = writtenText(beginning, { keepsLines: !isHtml })
  return untidy.test(text) ? tidyLines(text) : text.trim()
}

/** Text of a description, on as many lines as it has. A text without any tag keeps its line breaks. Null where nothing is left. */
export const htmlToText = (html: unknown): string | null => (typeof html === "string" && convert(html)) || null

/** Text of a name on one line: `Salt &amp; Pepper` → `Salt & Pepper`. */
export const htmlToLine = (html: unknown): string | null =>
  tidied(typeof html === "string" && /[<&]/.test(html) ? convert(html) : html)
