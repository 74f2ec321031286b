/**
 * Decodes the character references and entities of HTML, in all texts alike: `&amp;`, `&#233;`, `&eacute;`. Any other text
 * after an `&` stays as it is, also a name without its semicolon: in addresses, `&copy=1` is a parameter. Entities that a
 * document declares itself are not expanded, so the text cannot grow.
 */
import { decodeHTMLStrict } from "entities/decode"

const numericReference = /&#(?:[xX]([\da-fA-F]+)|(\d+));/g

/** HTML makes U+FFFD of references to characters that do not exist, such as `&#0;`. Here they are spaces. */
const dropUnknownCharacter = (reference: string, hex?: string, decimal?: string) => {
  const code = Number(decimal ?? `0x${hex}`)
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? " " : reference
}

export const decodeEntities = (text: string): string => {
  if (!text.includes("&")) return text
  return decodeHTMLStrict(text.includes("&#") ? text.replace(numericReference, dropUnknownCharacter) : text)
}
