/**
 * Skips the markup around the JSON of a response: a theme or a plugin prints it, PHP prints notices, and caches add
 * comments. Every function reads its text once, from the beginning to the end.
 */

/** The contents of these elements are not text. */
const opaqueElements = new Map(
  ["script", "style", "noscript", "svg", "template"].map((name) => [name, new RegExp(`</${name}\\s*>`, "gi")])
)
const voidElements = new Set([
  "area",
  "base",
  "br",
  "col",
  "embed",
  "hr",
  "img",
  "input",
  "link",
  "meta",
  "source",
  "wbr"
])
const documentElements = new Set(["!doctype", "html", "head", "body", "rss", "feed"])

/** PHP prints its notices as text or as markup, with the level in bold. */
const notice =
  /^(?:PHP )?(?:Warning|Notice|Deprecated|Strict Standards|(?:Recoverable |Catchable )?(?:Fatal|Parse) error)\s*:/

/** An array or object as feeds have it. `[0] =>` of a notice is none. */
const jsonStart = /\{\s*["}]|\[\s*[[{\]]/g

const tagStart = /^<(?:[a-z!?]|\/[a-z])/i
const maxNameLength = 40
const maxNoticeLevel = 40
/** JSON after more markup than this is not searched. */
const maxMarkupLength = 65_536

/** Offset after the `>` of the tag at `from`, which may be in a quoted attribute; -1 if it has none. */
const findTagEnd = (text: string, from: number): number => {
  for (let at = from + 1; at < text.length; at++) {
    const character = text[at]
    if (character === ">") return at + 1
    if (character !== '"' && character !== "'") continue
    at = text.indexOf(character, at + 1)
    if (at === -1) return -1
  }
  return -1
}

const after = (text: string, mark: string, from: number) => {
  const at = text.indexOf(mark, from)
  return at === -1 ? -1 : at + mark.length
}

const findMatchEnd = (text: string, pattern: RegExp, from: number): number => {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : -1
}

interface Piece {
  readonly isText: boolean
  readonly from: number
  readonly to: number
  /** Number of open elements around it. */
  readonly depth: number
  /** In lower case; "" for text and comments. */
  readonly name: string
}

/** Texts and tags in turn. Ends before a tag, comment or script that is not closed. */
function* splitMarkup(text: string): Generator<Piece> {
  let depth = 0
  let from = 0
  for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at)) {
    if (!tagStart.test(text.slice(at, at + 3))) {
      at += 1
      continue
    }
    if (at > from) yield { isText: true, from, to: at, depth, name: "" }
    const isComment = text.startsWith("<!--", at)
    const name = isComment ? "" : (/^<\/?([a-z!?][^\s/>]*)/i.exec(text.slice(at, at + maxNameLength))?.[1] ?? "")
    const tag = name.toLowerCase()
    const tagEnd = isComment ? after(text, "-->", at) : findTagEnd(text, at)
    const isClosing = text[at + 1] === "/"
    const isAlone = isClosing || text[tagEnd - 2] === "/" || /^[!?]/.test(tag) || voidElements.has(tag)
    const closing = isAlone ? undefined : opaqueElements.get(tag)
    const to = closing === undefined || tagEnd === -1 ? tagEnd : findMatchEnd(text, closing, tagEnd)
    if (to === -1) return
    yield { isText: false, from: at, to, depth, name: tag }
    if (isClosing) depth = Math.max(depth - 1, 0)
    else if (!isComment && !isAlone && closing === undefined) depth += 1
    from = to
    at = to
  }
  if (from < text.length) yield { isText: true, from, to: text.length, depth, name: "" }
}

/** Whether the text is blank, or elements, comments and notices of PHP with no other text outside of them. */
export const isMarkup = (text: string): boolean => {
  let end = 0
  let content = ""
  let hasTextOutside = false
  for (const { depth, from, isText, to } of splitMarkup(text)) {
    end = to
    if (!isText) continue
    const words = text.slice(from, to)
    if (content.length < maxNoticeLevel) content = (content + words.slice(0, maxNoticeLevel)).trimStart()
    if (depth === 0 && !hasTextOutside) hasTextOutside = words.trim() !== ""
  }
  return end === text.length && (!hasTextOutside || notice.test(content))
}

/**
 * Offset of the JSON after markup, outside of tags, comments and scripts: the first array or object that is not empty,
 * since notices contain `[]`; else the last empty one. Undefined if there is none, or if the text is a web page or XML:
 * JSON in it is not a feed. What is before it may be other text than markup.
 */
export const findJsonStart = (text: string): number | undefined => {
  const beginning = text.slice(0, maxMarkupLength)
  let lastEmpty: number | undefined
  for (const { from, isText, name, to } of splitMarkup(beginning)) {
    if (documentElements.has(name)) return undefined
    if (!isText) continue
    for (const { 0: start, index } of beginning.slice(from, to).matchAll(jsonStart)) {
      if (!/[}\]]$/.test(start)) return from + index
      lastEmpty = from + index
    }
  }
  return lastEmpty
}
