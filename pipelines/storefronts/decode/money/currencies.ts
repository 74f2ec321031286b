/**
 * The currencies of `currencies.tsv`: ISO 4217 with some codes that it has withdrawn but that feeds still state (BYR, HRK, MRO,
 * STD, VEF and others). Each row has
 * - `decimals`: the digits of its minor unit by ISO 4217
 * - `used_decimals`: the same in practice: 0 where prices have no fraction, as in IDR
 * - `symbols`: the symbols in use besides the code, without a point at their end, separated by spaces. Several currencies
 *   may share one. `£` is only GBP, as nearly everywhere, although some small currencies have it too.
 */
import { readFileSync } from "node:fs"

interface Currency {
  readonly decimals: number
  readonly used_decimals: number
}

const table = readFileSync(new URL("currencies.tsv", import.meta.url), "utf8")
const rows = table.trimEnd().split("\n").slice(1)

/** `Kr` and `KR` for `kr`; other letters in lower case are words of a language: `da 10` is not 10 dinars. */
const listSpellings = (symbol: string) => [
  symbol,
  symbol.toUpperCase(),
  symbol.slice(0, 1).toUpperCase() + symbol.slice(1)
]

/** Countries precede or follow the dollar: `CA$` and `$CA`. */
const listDollars = (code: string) => [`${code.slice(0, 2)}$`, `$${code.slice(0, 2)}`]

const currencies = new Map<string, Currency>()
const codesBySymbol = new Map<string, Set<string>>()
for (const row of rows) {
  const [code = "", decimals, used_decimals, symbolList = ""] = row.split("\t")
  currencies.set(code, { decimals: Number(decimals), used_decimals: Number(used_decimals) })
  const symbols = symbolList.split(" ").filter((symbol) => symbol !== "")
  const spellings = [...symbols.flatMap(listSpellings), ...(symbols.includes("$") ? listDollars(code) : [])]
  for (const symbol of spellings) codesBySymbol.set(symbol, (codesBySymbol.get(symbol) ?? new Set()).add(code))
}

/** Most currencies have cents. */
const usual: Currency = { decimals: 2, used_decimals: 2 }

/** In upper case. */
export const isCode = (code: string) => currencies.has(code)

/** The usual digits for an unknown code, and for null. */
export const findDecimals = (code: string | null): Currency => (code === null ? usual : (currencies.get(code) ?? usual))

const noCodes: ReadonlySet<string> = new Set()

/** A code in any case, or a symbol with or without a point at its end. */
const findSingle = (mark: string): ReadonlySet<string> => {
  const symbol = mark.replace(/\.$/, "")
  const code = symbol.toUpperCase()
  return currencies.has(code) ? new Set([code]) : (codesBySymbol.get(symbol) ?? noCodes)
}

const intersect = (a: ReadonlySet<string>, b: ReadonlySet<string>) => new Set([...a].filter((code) => b.has(code)))

/** A code and a symbol without a space between them: `CAD$`. */
const joined = /^(?:([a-z]{3})([^a-z]+)|([^a-z]+)([a-z]{3}))$/i

const findCodes = (mark: string): ReadonlySet<string> => {
  const codes = findSingle(mark)
  if (codes.size > 0) return codes
  const [, firstCode = "", lastSymbol = "", firstSymbol = "", lastCode = ""] = joined.exec(mark) ?? []
  return intersect(findSingle(firstCode + lastCode), findSingle(firstSymbol + lastSymbol))
}

/** The codes that these marks of one amount can mean together: codes and symbols. Empty if one is neither. */
export const findCommonCodes = (marks: ReadonlyArray<string>): ReadonlySet<string> => {
  const together = findSingle(marks.join("")) // `US $`, `F CFA`
  return together.size > 0 ? together : marks.map(findCodes).reduce(intersect, findCodes(marks[0] ?? ""))
}
