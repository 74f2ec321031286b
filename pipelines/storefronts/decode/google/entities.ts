/**
 * Decodes character references and the entities of HTML 4: `&amp;`, `&#233;`, `&eacute;`. Any other text after an `&`
 * stays as it is. Entities that a document declares itself are not expanded, so a text cannot grow.
 */
import sax from "sax"

const named: Readonly<Record<string, unknown>> = sax.parser(false).ENTITIES
const reference = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z][A-Za-z\d]{1,9}));/g

const characterOf = (code: number): string | undefined => {
  const isText = code > 0x1f && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return isText || code === 9 || code === 10 || code === 13 ? String.fromCodePoint(code) : undefined
}

const decode = (written: string, decimal?: string, hex?: string, name?: string): string => {
  const character = name === undefined ? characterOf(Number(decimal ?? `0x${hex}`)) : named[name]
  return typeof character === "string" ? character : written
}

export const decodeEntities = (text: string): string => (text.includes("&") ? text.replace(reference, decode) : text)
