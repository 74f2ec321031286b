/**
 * Published numbers as text. A price never passes through binary floating point between source and response: it is read
 * as the digits that were printed, kept as that text, and written as a JSON number token of the same digits.
 */

/**
 * The JSON number token of a published number, with its digits as printed: thousands commas go, trailing zeros stay.
 * `"1.6140"` → `1.6140`, `"13,594,473"` → `13594473`, `".5"` → `0.5`. Undefined for whatever is not a number.
 */
export const numberToken = (text: string): string | undefined => {
  const match = /^([+-]?)(\d{1,3}(?:,\d{3})+|\d*)(\.\d+)?([eE][+-]?\d+)?$/.exec(text.trim())
  if (match === null) return undefined
  const [, sign = "", whole = "", fraction = "", exponent = ""] = match
  if (whole === "" && fraction === "") return undefined
  const digits = whole.replaceAll(",", "").replace(/^0+(?=\d)/, "") || "0"
  return `${sign === "-" ? "-" : ""}${digits}${fraction}${exponent}`
}

/** Reads JSON with every number as the text that stands in the source, so that no digit is lost. */
export const parseJsonKeepingNumbers = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" && context?.source !== undefined ? new PublishedNumber(context.source) : value
  )

/** A JSON number as it was printed, told apart from a JSON string that looks like one. */
export class PublishedNumber {
  readonly token: string
  constructor(token: string) {
    this.token = token
  }
  toJSON(): unknown {
    return (JSON as unknown as { rawJSON(token: string): unknown }).rawJSON(this.token)
  }
  toString(): string {
    return this.token
  }
}
