/**
 * Skips the markup around the JSON of a response: a theme or a plugin prints it, PHP prints notices, and caches add
 * comments.
 */
import { Parser } from "htmlparser2"

/** The contents of these elements are no text. */
const opaqueElements = new Set(["script", "style", "noscript", "svg", "template"])
/** A text with one of these is a web page or XML. */
const documentElements = new Set(["html", "head", "body", "rss", "feed"])

/** PHP prints its notices as text or as markup, with the level in bold. */
const notice =
  /^\s*(?:PHP )?(?:Warning|Notice|Deprecated|Strict Standards|(?:Recoverable |Catchable )?(?:Fatal|Parse) error)\s*:/

interface Text {
  readonly from: number
  readonly to: number
  /** The number of open elements around it. */
  readonly depth: number
  /** Whether what is before it shows a web page or XML. */
  readonly isInDocument: boolean
}

/** The texts outside of tags, comments and opaque elements. */
const findTexts = (markup: string): ReadonlyArray<Text> => {
  const texts: Array<Text> = []
  let isInDocument = false
  let [depth, opaqueDepth] = [0, 0]
  const parser = new Parser(
    {
      onprocessinginstruction: (name) => {
        if (name.toLowerCase() === "!doctype") isInDocument = true
      },
      onopentagname: (name) => {
        if (documentElements.has(name)) isInDocument = true
        if (opaqueElements.has(name)) opaqueDepth++
        depth++
      },
      onclosetag: (name) => {
        if (opaqueElements.has(name)) opaqueDepth--
        depth--
      },
      ontext: () => {
        if (opaqueDepth === 0) texts.push({ from: parser.startIndex, to: parser.endIndex + 1, depth, isInDocument })
      }
    },
    { decodeEntities: false }
  )
  parser.end(markup)
  return texts
}

/** Longer markup is not read: the parser walks its stack for each tag, so its time grows with the square of the tags. */
const maxMarkupLength = 65_536

/** Whether the text is blank, or elements, comments and notices of PHP with no other text outside of them. */
export const isMarkup = (text: string): boolean => {
  if (text.length > maxMarkupLength) return false
  const words = findTexts(text).map(({ depth, from, to }) => ({ depth, text: text.slice(from, to) }))
  return (
    words.every(({ depth, text }) => depth > 0 || text.trim() === "") ||
    notice.test(words.map(({ text }) => text).join(""))
  )
}

/** Whether there is a word in it, or anything else besides tags, comments and blanks. */
export const hasWords = (text: string): boolean =>
  text.length > maxMarkupLength || findTexts(text).some(({ from, to }) => text.slice(from, to).trim() !== "")

/** An array or object as feeds have it. `[0] =>` of a notice is none. */
const jsonStart = /\{\s*["}]|\[\s*[[{\]]/g

/**
 * Offset of the JSON after markup, outside of tags, comments and scripts: the first array or object that is not empty,
 * since notices contain `[]`; else the last empty one. Undefined if there is none, or if the text is a web page or XML:
 * JSON in it is not a feed. What is before it may be other text than markup.
 */
export const findJsonStart = (text: string): number | undefined => {
  const beginning = text.slice(0, maxMarkupLength)
  const starts = findTexts(beginning).flatMap(({ from, isInDocument, to }) =>
    [...beginning.slice(from, to).matchAll(jsonStart)].map(({ 0: start, index }) => {
      return { at: from + index, isEmpty: /[}\]]$/.test(start), isInDocument }
    })
  )
  const start = starts.find(({ isEmpty }) => !isEmpty) ?? starts.at(-1)
  return start === undefined || start.isInDocument ? undefined : start.at
}
