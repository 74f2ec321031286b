/**
 * Reads the elements of one item, even if it is not well-formed: where possible, sax reads a `<` that does not begin a
 * tag as text.
 */
import sax from "sax"
import { decodeEntities } from "../entities.ts"
import { UnusableRow } from "../feed-errors.ts"

export interface ItemElement {
  /** In lower case, with its prefix. */
  readonly name: string
  readonly text: string
  readonly attributes: Readonly<Record<string, string>>
  readonly innerNames: ReadonlyArray<string>
  /** The text between its tags, if it contains elements. */
  readonly markup: string
}

/** Feeds have 3; HTML in them adds some. */
const maxLevels = 50
/** The time for each mistake grows with their number. */
const maxMistakes = 1000
const tooDeep = () => new UnusableRow(`more than ${maxLevels} elements are nested in it`)

const tag = /<(\/?)([A-Za-z_][\w.:-]*)(?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(\/?)>/y

const sections = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"]
] as const

/** Whether each `<` begins a tag, and each tag is closed. Fails with `UnusableRow` if too many are nested. */
export const checkWellFormed = (text: string): boolean => {
  const open: Array<string> = []
  for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at)) {
    const section = sections.find(([beginning]) => text.startsWith(beginning, at))
    if (section !== undefined) {
      at = text.indexOf(section[1], at + section[0].length)
      if (at === -1) return false
      continue
    }
    tag.lastIndex = at
    const match = tag.exec(text)
    if (match === null) return false
    const [, closing, name = "", selfClosing] = match
    if (closing === "/" && open.pop() !== name.toLowerCase()) return false
    if (closing === "" && selfClosing === "") open.push(name.toLowerCase())
    if (open.length > maxLevels) throw tooDeep()
    at = tag.lastIndex
  }
  return open.length === 0
}

const restoreAmpersands = (text: string) => text.replaceAll("&amp;", "&")

/** A `<` that begins no tag, comment or CDATA. */
const textBracket = /<(?![\p{L}_:/!?])/gu

/**
 * The item without what sax misreads: it continues a comment that ends in `--->` to the end of the next one, treats the
 * character after an unescaped `&` as text, even a `<`, decodes no entity after an unescaped `<`, and knows only the entities
 * of HTML 4. So comments are removed, and what is no markup is escaped: sax then returns the text as the feed has it.
 */
const prepareForSax = (item: string): string => {
  const escapeText = (text: string) => text.replace(textBracket, "&lt;").replaceAll("&", "&amp;")
  const parts: Array<string> = []
  let from = 0
  for (let at = item.indexOf("<!"); at !== -1; at = item.indexOf("<!", at + 1)) {
    const section = sections.find(([beginning]) => item.startsWith(beginning, at))
    if (section === undefined) continue
    const end = item.indexOf(section[1], at + section[0].length)
    if (end === -1) break
    const next = end + section[1].length
    parts.push(escapeText(item.slice(from, at)))
    if (section[0] !== "<!--") parts.push(item.slice(at, next).replaceAll("&", "&amp;"))
    from = next
    at = next - 1
  }
  return [...parts, escapeText(item.slice(from))].join("")
}

const decodeAttributes = (attributes: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, decodeEntities(String(value))] as const))

interface OpenElement extends Omit<ItemElement, "text" | "innerNames" | "markup"> {
  text: string
  readonly innerNames: Array<string>
  readonly from: number
}

/**
 * Fails with `UnusableRow` for too many levels or mistakes. In an item that is not well-formed, the text of a `script`
 * may have an unescaped `<`.
 */
export const parseElements = (item: string, isWellFormed: boolean): ReadonlyArray<ItemElement> => {
  const elements: Array<ItemElement> = []
  const source = prepareForSax(item)
  const reader = sax.parser(false, { lowercase: true, noscript: isWellFormed })
  let depth = 0
  let field: OpenElement = { name: "", text: "", attributes: {}, innerNames: [], from: 0 }
  reader.onopentag = ({ name, attributes }) => {
    depth++
    if (depth > maxLevels) throw tooDeep()
    if (depth === 2)
      field = { name, text: "", attributes: decodeAttributes(attributes), innerNames: [], from: reader.position }
    if (depth > 2) field.innerNames.push(name)
  }
  reader.ontext = (text) => {
    if (depth === 2) field.text += decodeEntities(text)
  }
  reader.oncdata = (text) => {
    if (depth === 2) field.text += restoreAmpersands(text) // sax decodes nothing in CDATA
  }
  reader.onclosetag = () => {
    if (depth === 2)
      elements.push({ ...field, markup: restoreAmpersands(source.slice(field.from, reader.startTagPosition - 1)) })
    depth--
  }
  // a mistake is not reported itself: the fields that it hides are missing
  let mistakes = 0
  reader.onerror = () => {
    mistakes++
    if (mistakes > maxMistakes) throw new UnusableRow(`more than ${maxMistakes} things in it are not well-formed`)
    reader.resume()
  }
  reader.write(source).close()
  return elements
}
