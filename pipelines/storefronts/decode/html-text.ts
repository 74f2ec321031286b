/**
 * Converts the HTML of shops to plain text. Paragraphs, list items and table rows begin new lines. Links keep only their
 * words. Pictures, embedded content, form fields and hidden content are omitted.
 *
 * Descriptions are up to about 13 kB long and have up to 12 levels. A much larger one is truncated, so that no shop can
 * stall a read: text after 200,000 characters or 10,000 tags, or below 64 levels, is omitted. Nothing here throws.
 */
import { type Handler, Parser } from "htmlparser2"
import { decodeHtmlText } from "./entities.ts"
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

/** Text below this many open tags is omitted. */
const maxLevels = 64

interface TagRole {
  readonly kind: "hidden" | "break" | "preformatted" | "bullets" | "numbers" | "item" | "cell" | "spaced" | "plain"
  /** Minimum number of line breaks before and after it. Two leave a blank line. */
  readonly breaks: 0 | 1 | 2
}

const assignRole = (names: string, kind: TagRole["kind"], breaks: TagRole["breaks"] = 0) =>
  names.split(" ").map((name): [string, TagRole] => [name, { kind, breaks }])

const roles = new Map([
  ...assignRole(
    "script style noscript template head title iframe object embed svg math canvas audio video img",
    "hidden"
  ),
  ...assignRole("select datalist", "hidden"),
  // inside some of these, the parser returns tags as text, so script code would end up in the result
  ...assignRole("textarea xmp listing noembed noframes", "hidden"),
  ...assignRole("br", "break"),
  ...assignRole("h1 h2 h3 h4 h5 h6 p blockquote figure table hr", "plain", 2),
  ...assignRole("article aside div footer form header main nav section address fieldset center", "plain", 1),
  ...assignRole("tr caption dt dd figcaption summary details", "plain", 1),
  ...assignRole("pre", "preformatted", 2),
  ...assignRole("ul", "bullets", 2),
  ...assignRole("ol", "numbers", 2),
  ...assignRole("li", "item", 1),
  ...assignRole("td th", "cell")
])
const inline: TagRole = { kind: "plain", breaks: 0 }
/** Paragraphs that word processors put into a cell stay in the line of its row. */
const withinCell: TagRole = { kind: "spaced", breaks: 0 }

/** An open tag, and the state to restore when it ends. */
interface OpenTag extends TagRole {
  readonly indent: string
  readonly mark: string | undefined
  readonly keepsLines: boolean
  /** Items of a list and cells of a row so far. */
  count: number
}

const isList = (tag: OpenTag | undefined) => tag?.kind === "bullets" || tag?.kind === "numbers"

const itemIndents = { bullets: "  ", numbers: "   " }

/** Whitespace as HTML defines it. No-break and zero-width spaces occur in words, and count as letters. */
const whitespace = /[\t\r\n\f][ \t\r\n\f]*| [ \t\r\n\f]+/g

/**
 * Writes the text of HTML while a parser reads it. A tag decides where lines end, what they begin with, and what is
 * omitted. Links, emphasis and all tags that are not listed above keep only their words.
 */
class TextWriter implements Partial<Handler> {
  text = ""
  readonly #open: Array<OpenTag> = []
  /** Tags that are open and not shown. */
  #hidden = 0
  #keepsLines: boolean
  /** Line breaks due before the next word: the most that a block tag requires. */
  #tagBreaks = 0
  /** Further ones: the number of `br` tags and of kept line feeds. */
  #otherBreaks = 0
  #needsSpace = false
  #cells = 0
  #indent = ""
  /** Written at the beginning of the next line in place of `#indent`: marks of list items that have no word yet. */
  #mark: string | undefined

  constructor(keepsLines: boolean) {
    this.#keepsLines = keepsLines
  }

  onopentagname(name: string) {
    const role = roles.get(name) ?? inline
    if (this.#hidden > 0 || role.kind === "hidden" || this.#open.length === maxLevels) {
      this.#hidden += 1
      return
    }
    const parent = this.#open.at(-1)
    const { breaks, kind } = parent?.kind === "cell" && (name === "p" || name === "div") ? withinCell : role
    const isNested = (kind === "bullets" || kind === "numbers") && (parent?.kind === "item" || isList(parent))
    const tag: OpenTag = {
      kind,
      breaks: isNested ? 1 : breaks,
      indent: this.#indent,
      mark: this.#mark,
      keepsLines: this.#keepsLines,
      count: 0
    }
    this.#open.push(tag)
    this.#endLine(tag.breaks)
    if (kind === "plain") return
    if (kind === "break") this.#otherBreaks += 1
    else if (kind === "spaced") this.#needsSpace = true
    else if (kind === "preformatted") this.#keepsLines = true
    else if (kind === "bullets" || kind === "numbers") this.#indent += itemIndents[kind]
    else if (kind === "cell" && parent !== undefined && parent.count++ > 0) this.#cells += 1
    else if (kind === "item" && parent !== undefined && isList(parent)) {
      parent.count += 1
      const mark = parent.kind === "bullets" ? "- " : `${parent.count}. `.padEnd(3)
      this.#mark = (this.#mark ?? parent.indent) + mark
      this.#indent = parent.indent + " ".repeat(mark.length)
    }
  }

  onclosetag() {
    if (this.#hidden > 0) {
      this.#hidden -= 1
      return
    }
    const tag = this.#open.pop()
    if (tag === undefined) return
    this.#endLine(tag.breaks)
    this.#indent = tag.indent
    this.#keepsLines = tag.keepsLines
    if (tag.kind === "spaced") this.#needsSpace = true
    if (this.#mark !== undefined) this.#mark = tag.mark
  }

  ontext(encoded: string) {
    if (this.#hidden > 0) return
    const text = decodeHtmlText(encoded)
    if (!this.#keepsLines) return this.#write(text)
    for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
      if (index > 0) this.#otherBreaks += 1
      this.#write(line)
    }
  }

  #endLine(breaks: number) {
    if (breaks > this.#tagBreaks) this.#tagBreaks = breaks
    if (breaks > 0) this.#cells = 0
  }

  #write(text: string) {
    const words = text.replace(whitespace, " ")
    const leading = words.startsWith(" ") ? 1 : 0
    if (leading === 1) this.#needsSpace = true
    if (words.length === leading) return
    const endsWithSpace = words.endsWith(" ")
    this.#beginWord()
    this.text += endsWithSpace ? words.slice(leading, -1) : words.slice(leading)
    this.#needsSpace = endsWithSpace
  }

  /** Writes at most one blank line. */
  #beginWord() {
    const breaks = this.#tagBreaks + this.#otherBreaks
    if (this.text === "") this.text = this.#mark ?? ""
    else if (breaks > 0) this.text += (breaks > 1 ? "\n\n" : "\n") + (this.#mark ?? this.#indent)
    else if (this.#needsSpace || this.#cells > 0) this.text += " "
    if (this.#cells > 0) this.text += "| ".repeat(this.#cells)
    this.#tagBreaks = 0
    this.#otherBreaks = 0
    this.#cells = 0
    this.#mark = undefined
  }
}

/** `keepsLines` keeps the line breaks of the text itself, which have a meaning in a text without tags. */
const writeText = (html: string, { keepsLines }: { readonly keepsLines: boolean }): string => {
  const writer = new TextWriter(keepsLines)
  new Parser(writer, { decodeEntities: false }).end(html)
  return writer.text
}

const hasTag = /<[a-z/!?]/i

/** Control characters, lone surrogates, and whitespace other than the space, which `cleanLines` removes or replaces. */
const uncleanCharacter = /[^\S \n]|[^\P{Cc}\n]|\p{Cs}/u

/**
 * Spaces at the beginning of a line stay if they indent a nested list; empty list items are removed. The time stays linear:
 * 200,000 spaces take no longer than 200,000 words.
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
  return uncleanCharacter.test(text) ? cleanLines(text) : text.trim()
}

/** Text of a description, with its lines. A text without any tag keeps its line breaks. Null if nothing is left. */
export const htmlToText = (html: unknown): string | null => (typeof html === "string" && convert(html)) || null

export const htmlToLine = (html: unknown): string | null =>
  normalizeText(typeof html === "string" && /[<&]/.test(html) ? convert(html) : html)
