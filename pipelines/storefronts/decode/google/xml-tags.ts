/** Finds the ends and the names of tags, and the prefixes that they bind, in text that may still be incomplete. */

const name = /^<\/?([\p{L}_][\p{L}\p{N}_.:-]*)/u

/**
 * The name of the tag at `from`, in lower case; undefined if that `<` does not begin a tag. Names have up to 250
 * characters.
 */
export const readTagName = (text: string, from: number): string | undefined =>
  name.exec(text.slice(from, from + 252))?.[1]?.toLowerCase()

/** The offset after the `>` of the tag at `from`, or of the next `<` if it is not a tag. -1 if more text is needed. */
export const findTagEnd = (text: string, from: number): number => {
  let quote = ""
  for (let at = from + 1; at < text.length; at++) {
    const character = text[at] ?? ""
    if (quote !== "") quote = character === quote ? "" : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === ">") return at + 1
    else if (character === "<") return at
  }
  return -1
}

/** The offset after the DOCTYPE at `from` and its declarations. -1 if more text is needed. */
export const findDoctypeEnd = (text: string, from: number): number => {
  const parts = /<!--[\s\S]*?-->|"[^"]*"|'[^']*'|[[\]>]|<!--|["']/g
  parts.lastIndex = from + 2
  let isInSubset = false
  for (let part = parts.exec(text); part !== null; part = parts.exec(text)) {
    const [found] = part
    if (found === ">" && !isInSubset) return part.index + 1
    if (found === "[" || found === "]") isInSubset = found === "["
    if (found === "<!--" || found === '"' || found === "'") return -1
  }
  return -1
}

const googleNamespace = /\sxmlns:([\w.-]+)\s*=\s*["']https?:\/\/base\.google\.com\/c?ns\/1\.0\/?["']/gi

/** Prefixes for Google's namespace. Real feeds have one. */
const maxPrefixes = 20

/** Adds the prefixes that tags in `text` bind to Google's namespace, in lower case. */
export const addGooglePrefixes = (text: string, prefixes: Set<string>) => {
  for (const [, prefix = ""] of text.matchAll(googleNamespace)) {
    if (prefixes.size < maxPrefixes) prefixes.add(prefix.toLowerCase())
  }
}
