/** Recognises what may precede the header of a table: comments, or another format than a table. */
import { FeedUnreadable } from "../feed-errors.ts"
import { findQuotedCellEnd, maxQuotedCell, separators } from "./quoted-cells.ts"

/**
 * Templates have lines of comments above the header, whose cells may be quoted. A first cell that is only `#`, with a name
 * after it, is a column for the number of the row.
 */
export const commentStart = /^(?:"\s*)?#(?!"?[\t,;|]"?[^\t,;|#"\s])/

/** Offset after the line of comments that begins the text, which may have line breaks in quotes; -1 if it does not end. */
export const findCommentEnd = (text: string, isLast: boolean): number => {
  let isCellStart = true
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ""
    if (character === "\n") return at + 1
    if (character === "\r" && text[at + 1] !== "\n" && (at + 1 < text.length || isLast)) return at + 1
    if (character === '"' && isCellStart) {
      const close = findQuotedCellEnd(text, at + 1)
      if (close === -1 && !isLast && text.length - at < maxQuotedCell) return -1
      if (close !== -1) at = close
    }
    isCellStart = separators.includes(character)
  }
  return isLast ? text.length : -1
}

const otherFormats: ReadonlyArray<readonly [beginning: RegExp, name: string]> = [
  [/^\s*(?:\{\s*["}]|\[\s*[[{"\]])/, 'It is JSON, which only the kinds "shopify" and "woocommerce" read'],
  [
    /^\s*<[a-z!?]/i,
    'It is XML or HTML instead of a table. A feed for Google that is XML has the kind "google-merchant"'
  ]
]

/** Fails with `FeedUnreadable`. */
export const rejectOtherFormats = (text: string) => {
  const name = otherFormats.find(([beginning]) => beginning.test(text))?.[1]
  if (name === undefined) return
  throw new FeedUnreadable(`${name}. It begins with ${JSON.stringify(text.trim().slice(0, 100))}.`)
}
