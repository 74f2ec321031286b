/** Barcodes as numbers of up to 14 digits. Barcodes that differ only in leading zeros are equal. */

/** Expands an 8-digit UPC-E to its UPC-A. Undefined if the string is not a UPC-E: eight digits are then a GTIN-8. */
const expandUpcE = (text: string): string | undefined => {
  const match = /^([01])(\d{5})(\d)(\d)$/.exec(text)
  if (match === null) return undefined
  const [, system = "", body = "", last = "", check = ""] = match
  const upc = system + expandBody(body, last)
  return computeCheckDigit(upc) === Number(check) ? upc + check : undefined
}

const expandBody = (body: string, last: string) => {
  if (last <= "2") return `${body.slice(0, 2)}${last}0000${body.slice(2)}`
  if (last === "3") return `${body.slice(0, 3)}00000${body.slice(3)}`
  if (last === "4") return `${body.slice(0, 4)}00000${body.slice(4)}`
  return `${body}0000${last}`
}

/** Check digit of the first eleven digits of a UPC-A. */
const computeCheckDigit = (upc: string) => {
  let sum = 0
  for (let i = 0; i < upc.length; i++) sum += Number(upc[i]) * (i % 2 === 0 ? 3 : 1)
  return (10 - (sum % 10)) % 10
}

/**
 * The numbers of a barcode: its own and, for a UPC-E, that of its UPC-A. Two barcodes are the same product code if
 * they share a number. Empty if the string is not a barcode.
 */
export const parseBarcode = (text: string): ReadonlyArray<number> => {
  if (!/^[0-9]{1,14}$/.test(text)) return []
  const upc = expandUpcE(text)
  return upc === undefined ? [Number(text)] : [Number(text), Number(upc)]
}
