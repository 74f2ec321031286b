/**
 * Published numbers as strings. A price never passes through binary floating point between source and response. It is
 * read with the printed digits, stored as that string, and written as a JSON number token with the same digits.
 */

/**
 * The JSON number token of a published number, with its digits as printed: thousands separators are removed, trailing
 * zeros are kept. `"1.6140"` → `1.6140`, `"13,594,473"` → `13594473`, `".5"` → `0.5`. Undefined if the string is not
 * a number.
 */
export const numberToken = (text: string): string | undefined => {
  const match = /^([+-]?)(\d{1,3}(?:,\d{3})+|\d*)(\.\d+)?([eE][+-]?\d+)?$/.exec(text.trim())
  if (match === null) return undefined
  const [, sign = "", whole = "", fraction = "", exponent = ""] = match
  if (whole === "" && fraction === "") return undefined
  const digits = whole.replaceAll(",", "").replace(/^0+(?=\d)/, "") || "0"
  return `${sign === "-" ? "-" : ""}${digits}${fraction}${exponent}`
}

/** Parses JSON and keeps every number as its source string, so that no digit is lost. */
export const parseJsonKeepingNumbers = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" && context?.source !== undefined ? new PublishedNumber(context.source) : value
  )

/** A JSON number as printed. The class distinguishes it from a JSON string that looks like a number. */
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
