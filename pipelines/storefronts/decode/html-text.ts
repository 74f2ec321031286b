/**
 * Converts the HTML of shops to plain text. Paragraphs, list items and table rows get lines of their own; of links, only
 * the words are kept. Pictures, and content that a browser does not show, are left out.
 *
 * Descriptions have up to some 13 kB and 12 levels. A much larger one is cut, so that no shop can stall a read: text
 * after 200,000 characters or 10,000 tags, or below 64 levels, is left out. Nothing here throws.
 */
import { writeText } from "./text-writer.ts"
import { normalizeText } from "./texts.ts"

const maxCharacters = 200_000
/** Opening and closing tags. The parser walks its stack for each, which takes quadratic time: 0.1 s at this limit. */
const maxTags = 10_000

const limitTags = (html: string): string => {
  if (html.length < maxTags) return html
  let at = -1
  for (let tags = 0; tags <= maxTags; tags++) {
    at = html.indexOf("<", at + 1)
    if (at === -1) return html
  }
  return html.slice(0, at)
}

/** Embedded pictures (`data:` addresses) of a long text would leave no room for its words. */
const removeDataUrls = (html: string): string => {
  const end = /["'\s>]/g
  let result = ""
  let at = 0
  while (result.length < maxCharacters && at < html.length) {
    const data = html.indexOf("data:", at)
    if (data === -1) return result + html.slice(at, at + maxCharacters)
    result += html.slice(at, data)
    end.lastIndex = data
    at = end.exec(html)?.index ?? html.length
  }
  return result
}

const limitLength = (html: string): string =>
  limitTags(html.length > maxCharacters ? removeDataUrls(html).slice(0, maxCharacters) : html)

const hasTag = /<[a-z/!?]/i

/** Blanks other than the space, control characters and lone surrogates, which `cleanLines` removes. */
const unclean = /[^\S \n]|[^\P{Cc}\n]|\p{Cs}/u

/**
 * Blanks at the beginning of a line stay if they indent a nested list; empty list items are removed. Each expression is
 * anchored, so a run of 200,000 blanks takes no longer than that many words.
 */
const cleanLines = (text: string): string =>
  text
    .replace(/\p{Cs}+/gu, "")
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(/[^\P{Cc}\n]+/gu, " ")
    .replace(/(\S)(?:[^\S\n ][^\S\n]*| [^\S\n]+)/g, "$1 ")
    .replace(/^ *[^\S\n ][^\S\n]*|^ *(?:- ?)?$|(?<=\S) $/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim()

const convert = (html: string): string => {
  const beginning = limitLength(html)
  const isHtml = hasTag.test(beginning)
  if (!isHtml && !beginning.includes("&")) return cleanLines(beginning)
  const text = writeText(beginning, { keepsLines: !isHtml })
  return unclean.test(text) ? cleanLines(text) : text.trim()
}

/** Text of a description, with its lines. A text without any tag keeps its line breaks. Null if nothing is left. */
export const htmlToText = (html: unknown): string | null => (typeof html === "string" && convert(html)) || null

export const htmlToLine = (html: unknown): string | null =>
  normalizeText(typeof html === "string" && /[<&]/.test(html) ? convert(html) : html)
