/** Parses weights as people write them: `500 g`, `1,5 kg`, `2 pounds`. */
import { parseDecimal } from "./texts.ts"

/** By the unit in lower case, in the singular. */
const gramsPerUnit = new Map(
  Object.entries({
    g: 1,
    gr: 1,
    gram: 1,
    gramme: 1,
    kg: 1000,
    kilo: 1000,
    kilogram: 1000,
    kilogramme: 1000,
    oz: 28.349523125,
    ounce: 28.349523125,
    lb: 453.59237,
    pound: 453.59237
  })
)

/** The separators have no meaning in a weight of 0. */
const zero = /^0+(?:[.,]0+)?$/
const weight = /^(\d[\d.,]*)\s*([a-z]{1,12})?\.?$/i
/** No weight is longer. */
const maxLength = 60

/** One separator, with three digits after it. */
const unclear = /^(\d{1,3})([.,])(\d{3})$/

/**
 * Whether they are thousands. `1,250 kg` and `1.250 lb` are not, since hardly any product weighs a tonne. `1,250 g`,
 * `1.250 g` and `1,250 oz` are; `0.750 g`, `1.250 oz`, and `500.000 g` as programs write it, are not.
 */
const areThousands = (whole: string, separator: string, grams: number) =>
  grams < 100 && !whole.startsWith("0") && (separator === "," || (grams === 1 && whole.length < 3))

/** A comma alone is the decimal separator, unless groups of three digits follow it: `1,5`, but `1,250,000`. */
const normalizeSeparators = (digits: string, grams: number): string => {
  const [, whole = "", separator = "", rest = ""] = unclear.exec(digits) ?? []
  if (separator !== "") return whole + (areThousands(whole, separator, grams) ? "" : ".") + rest
  const comma = digits.lastIndexOf(",")
  if (comma === -1 || digits.lastIndexOf(".") > comma || /^\d{1,3}(?:,\d{3})+$/.test(digits)) return digits
  return digits.replaceAll(".", "").replace(",", ".")
}

/**
 * `3 kg` → 3000, `12 oz` → 340. 0 means "not known" and is null. Undefined for anything else; without a unit too, unless
 * `defaultUnit` says which one the field has.
 */
export const parseGrams = (text: string, defaultUnit = ""): number | null | undefined => {
  const trimmed = text.length > maxLength ? "" : text.trim()
  if (zero.test(trimmed)) return null
  const [, digits = "", unit = defaultUnit] = weight.exec(trimmed) ?? []
  const name = unit.toLowerCase()
  const grams = gramsPerUnit.get(name) ?? gramsPerUnit.get(name.replace(/s$/, ""))
  const amount = grams === undefined ? null : parseDecimal(normalizeSeparators(digits, grams))
  return amount === null || grams === undefined ? undefined : Math.round(Number(amount) * grams) || null
}
