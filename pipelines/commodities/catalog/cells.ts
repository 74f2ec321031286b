/** The cells `period` and `column` of the catalog, which `README.md` explains. */
import { splitTrimmed } from "../conditions.ts"

export type PeriodKey =
  | { readonly kind: "day"; readonly field: string; readonly isExact: boolean }
  /** The Friday of the week of a day: of the first field, or of the second one where the first states none. */
  | { readonly kind: "friday"; readonly fields: readonly [string, string] }
  | {
      readonly kind: "month"
      readonly month: string
      readonly year: string
      /** Whether `year` names a field with a whole day. */
      readonly isYearOfDay: boolean
      /** Whether it is the month after the publication. Then `month` must name that month or the one of publication. */
      readonly isAfterPublication: boolean
    }

/** How to find the column of a metric: by one of several names, by words of a name, or as the only one with numbers. */
export interface ColumnRule {
  /** The name that the catalog shows until a payload has been read. */
  readonly name: string
  readonly isOptional: boolean
  readonly by:
    | { readonly names: ReadonlyArray<string> }
    | { readonly words: ReadonlyArray<string> }
    | { readonly only: "number" }
}

/**
 * `report_date`, `exactly Week Ending Date`, `friday of report_begin_date, else report_end_date`, or
 * `report_month, year of report_end_date`
 */
export const parsePeriod = (text: string): PeriodKey => {
  const [first = "", second, third] = splitTrimmed(text, ",")
  if (first.startsWith("friday of ")) {
    return { kind: "friday", fields: [first.replace(/^friday of /, ""), (second ?? "").replace(/^else /, "")] }
  }
  if (second === undefined) {
    return { kind: "day", field: first.replace(/^exactly /, ""), isExact: first.startsWith("exactly ") }
  }
  return {
    kind: "month",
    month: first,
    year: second.replace(/^year of /, ""),
    isYearOfDay: second.startsWith("year of "),
    isAfterPublication: third === "month after publication"
  }
}

const periodPattern =
  /^(friday of [^,]+, else [^,]+|(?!friday of )(exactly )?[^,]+|[^,]+, (year of )?[^,]+(, month after publication)?)$/

export const findPeriodFault = (text: string): string | undefined =>
  periodPattern.test(text)
    ? undefined
    : "it is neither a field, nor `exactly FIELD`, `friday of FIELD, else FIELD` or `MONTH, YEAR`, as the README of the catalog explains"

/** `close_price`, `price_min ?`, `class_1_Price | class_1_base_Price`, or `weekly Av ~ weekly av` */
export const parseColumn = (text: string): ColumnRule => {
  const isOptional = text.endsWith("?")
  const [names = "", rule] = splitTrimmed(text.replace(/\?$/, ""), "~")
  const candidates = splitTrimmed(names, "|")
  const name = candidates[0] ?? ""
  if (rule === undefined) return { name, isOptional, by: { names: candidates } }
  if (rule === "only number") return { name, isOptional, by: { only: "number" } }
  return { name, isOptional, by: { words: rule.split(/\s+/) } }
}

export const findColumnFault = (text: string): string | undefined => {
  const { by, name } = parseColumn(text)
  const words = ["names" in by ? by.names : [name], "words" in by ? by.words : []].flat()
  return words.includes("") ? "it names no column between its separators" : undefined
}
