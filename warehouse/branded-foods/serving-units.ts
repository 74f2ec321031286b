/**
 * Servings in g or ml, from sizes in units of mass and volume: those of UNECE Recommendation 20, which GS1 uses, and usual
 * spellings. `serving-units.tsv` has their exact factors. Cups and spoons count only as codes: those of labels are rounded
 * to 240, 15 and 5 ml. Amounts are per 100 g or ml, so a serving in any other unit, such as a piece, has no amount.
 */
import { readFileSync } from "node:fs"
import { literal } from "../duckdb.ts"

interface ServingUnit {
  /** In upper case. Case makes no difference. */
  readonly code: string
  /** `miscoded` units are g or ml in fact, so that sizes in them are not scaled. */
  readonly kind: string
  /** Grams or millilitres in one unit: an exact decimal with at most 7 digits before the point and 13 after it. */
  readonly factor: string
}

const [, ...lines] = readFileSync(new URL("./serving-units.tsv", import.meta.url), "utf8")
  .trim()
  .split("\n")

export const servingUnits = lines.map((line): ServingUnit => {
  const [code = "", kind = "", factor = ""] = line.split("\t")
  return { code, kind, factor }
})

// Lists, because DuckDB makes a join of each IN with many values, also for rows that a CASE never brings there.
const codes = `[${servingUnits.map(({ code }) => literal(code)).join(", ")}]`
const factorList = `[${servingUnits.map(({ factor }) => `${factor}::decimal(20, 13)`).join(", ")}]`
const unscaledCases = servingUnits.flatMap(({ code, factor }) =>
  factor === "1" ? [`when ${literal(code)} then size::decimal(18, 6)`] : []
)

/** Whether servings in a unit, which is not null, have an amount: as SQL. */
export const isServingUnit = (unit: string) => `list_contains(${codes}, upper(${unit}))`

/** Parameters and body of a macro. A size without a unit is taken as g or ml: most such labels mean these. */
export const servingAmount = `(size, unit) as case
  when unit is null or unit = 'g' or unit = 'GRM' or unit = 'ml' or unit = 'MLT' then size::decimal(18, 6)
  else case upper(unit) ${unscaledCases.join(" ")}
    else nullif(
      try_cast(size::decimal(18, 6) * ${factorList}[list_position(${codes}, upper(unit))] as decimal(18, 6)),
      0
    )
  end
end`

const factorDigits = 13
const one = 10n ** BigInt(factorDigits)
const parseFactor = (factor: string) => {
  const [whole = "", fraction = ""] = factor.split(".")
  return BigInt(whole + fraction.padEnd(factorDigits, "0"))
}
const factors = new Map(servingUnits.map(({ code, factor }) => [code, parseFactor(factor)]))

const findFactor = (unit: string) => {
  const code = unit.toUpperCase()
  return code.length === unit.length ? factors.get(code) : undefined // DuckDB changes no letter into two, such as "ﬂ"
}

const tooLarge = 10n ** 18n // a decimal of 18 digits, in millionths

/** What the macro returns: g or ml to six decimal places, half rounded up; undefined if that is 0, too large or unknown. */
export const computeServingAmount = (size: number, unit: string | null): number | undefined => {
  const factor = unit === null ? one : findFactor(unit)
  if (factor === undefined) return undefined
  if (factor === one) return size
  const millionths = (BigInt(Math.round(size * 1e6)) * factor * 2n + one) / (2n * one)
  return millionths > 0n && millionths < tooLarge ? Number(millionths) / 1e6 : undefined
}
