/**
 * Decodes character references and the entities of HTML 4: `&amp;`, `&#233;`, `&eacute;`. Any other text after an `&`
 * stays as it is. Entities that a document declares itself are not expanded, so the text cannot grow.
 */
import { TextDecoder } from "node:util"
import sax from "sax"

const entities: Readonly<Record<string, unknown>> = sax.parser(false).ENTITIES
const reference = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z][A-Za-z\d]{1,9}));/g

/** Pages name the characters of windows-1252 by their bytes there, such as `&#150;`; HTML defines it so. */
const windows = new TextDecoder("windows-1252")

const decodeCharacter = (code: number): string | undefined => {
  if (code >= 0x80 && code <= 0x9f) return windows.decode(Uint8Array.of(code))
  const isText = code > 0x1f && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return isText || code === 9 || code === 10 || code === 13 ? String.fromCodePoint(code) : undefined
}

const decode = (entity: string, decimal?: string, hex?: string, name?: string): string => {
  const character = name === undefined ? decodeCharacter(Number(decimal ?? `0x${hex}`)) : entities[name]
  return typeof character === "string" ? character : entity
}

export const decodeEntities = (text: string): string => (text.includes("&") ? text.replace(reference, decode) : text)

/** Without the entities that cannot be decoded: their names are not words. */
export const dropEntities = (text: string): string =>
  text.includes("&") ? decodeEntities(text).replace(reference, " ") : text
