/**
 * The currencies of `currencies.tsv`: ISO 4217 with some codes that it has withdrawn but that feeds still state, each with
 * - `decimals`: the digits of its minor unit by ISO 4217
 * - `used_decimals`: the same in practice: 0 where prices have no fraction, as in IDR
 * - `symbols`: the symbols in use besides the code, separated by spaces. Several currencies may share one.
 */
import { readFileSync } from "node:fs"

interface Currency {
  readonly decimals: number
  readonly used_decimals: number
}

const table = readFileSync(new URL("currencies.tsv", import.meta.url), "utf8")
const rows = table.trim().split("\n").slice(1)

const currencies = new Map<string, Currency>()
/** By symbol or code, in lower case. */
const codesByMark = new Map<string, Set<string>>()
for (const row of rows) {
  const [code = "", decimals, used_decimals, symbols = ""] = row.split("\t")
  currencies.set(code, { decimals: Number(decimals), used_decimals: Number(used_decimals) })
  for (const mark of [code, ...symbols.split(" ").filter(Boolean)].map((text) => text.toLowerCase())) {
    codesByMark.set(mark, (codesByMark.get(mark) ?? new Set()).add(code))
  }
}

/** Most currencies have cents. */
const usual: Currency = { decimals: 2, used_decimals: 2 }

/** In upper case. */
export const isCode = (code: string) => currencies.has(code)

/** The usual digits for an unknown code, and for null. */
export const findDecimals = (code: string | null): Currency => (code === null ? usual : (currencies.get(code) ?? usual))

const noCodes: ReadonlySet<string> = new Set()
const findSingle = (mark: string): ReadonlySet<string> => codesByMark.get(mark.toLowerCase()) ?? noCodes
const intersect = (a: ReadonlySet<string>, b: ReadonlySet<string>) => new Set([...a].filter((code) => b.has(code)))

/** A code and a symbol without a space between them: `CAD$`. */
const joined = /^(?:([a-z]{3})([^a-z]+)|([^a-z]+)([a-z]{3}))$/i

const findCodes = (mark: string): ReadonlySet<string> => {
  const codes = findSingle(mark)
  const [, firstCode = "", lastSymbol = "", firstSymbol = "", lastCode = ""] =
    codes.size > 0 ? [] : (joined.exec(mark) ?? [])
  return firstCode + lastCode === ""
    ? codes
    : intersect(findSingle(firstCode + lastCode), findSingle(firstSymbol + lastSymbol))
}

/** The codes that all of these marks can mean: codes and symbols, in any case. Empty if one is neither. */
export const findCommonCodes = ([first, ...others]: ReadonlyArray<string>): ReadonlySet<string> =>
  others.reduce((codes, mark) => intersect(codes, findCodes(mark)), findCodes(first ?? ""))
