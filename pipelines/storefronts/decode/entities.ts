/**
 * Decodes the character references and entities of HTML: `&amp;`, `&#233;`, `&eacute;`. Any other text after an `&` stays as
 * it is. Entities that a document declares itself are not expanded, so the text cannot grow.
 */
import { decodeHTML, decodeHTMLStrict } from "entities/decode"

const reference = /&#(?:[xX]([\da-fA-F]+)|(\d+));/g
const openReference = /&#(?:[xX]([\da-fA-F]+)|(\d+));?/g

/** HTML makes U+FFFD of references to characters that do not exist, such as `&#0;`. Here they are spaces. */
const dropUnknownCharacter = (reference: string, hex?: string, decimal?: string) => {
  const code = Number(decimal ?? `0x${hex}`)
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? " " : reference
}

const decodeWith = (decode: (text: string) => string, numeric: RegExp, text: string): string => {
  if (!text.includes("&")) return text
  return decode(text.includes("&#") ? text.replace(numeric, dropUnknownCharacter) : text)
}

/** A name without its semicolon stays as it is: in addresses, `&copy=1` is a parameter. */
export const decodeEntities = (text: string): string => decodeWith(decodeHTMLStrict, reference, text)

/** As browsers do in the text of a page, where some names need no semicolon: `&nbsp`. */
export const decodeHtmlText = (text: string): string => decodeWith(decodeHTML, openReference, text)
