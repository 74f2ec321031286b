/**
 * Holds what a row states about its goods (grade, quality, application, lot, freight) against the texts of the catalog.
 * A contradiction rejects the row: feed-grade whey is no food. A text that the catalog does not have is published.
 */
import type { CatalogMetric } from "../catalog.ts"
import { findOnlyField, type PayloadRow, quoteCell, readCell } from "../decode/payload.ts"

/** `Non-Edible` and `non edible` are the same text, and so are `WPC80%` and `wpc 80`. */
const normaliseText = (text: string) => (text.toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? []).join(" ")

/** `*feed*` matches every text that contains it, also in a longer word; `*80*` every text with that number. */
const makeTextTest = (texts: ReadonlyArray<string>) => {
  const whole = new Set(texts.filter((text) => !text.startsWith("*")).map(normaliseText))
  const parts = texts.filter((text) => text.startsWith("*")).map(normaliseText)
  return (text: string) => {
    const normalised = normaliseText(text)
    const contains = (part: string) =>
      /^\p{N}+$/u.test(part) ? normalised.split(" ").includes(part) : normalised.includes(part)
    return whole.has(normalised) || parts.some(contains)
  }
}

type TextVerdict =
  | { readonly kind: "contradiction"; readonly reason: string }
  | { readonly kind: "unlisted"; readonly field: string; readonly said: string }

type JudgeCell = (cell: unknown) => TextVerdict | undefined

/** A column has few different texts, so each is judged once. */
const rememberVerdicts = (judge: JudgeCell): JudgeCell => {
  const known = new Map<string, TextVerdict | undefined>()
  return (cell) => {
    const text = readCell(cell)
    if (text === undefined) return undefined
    if (!known.has(text)) known.set(text, judge(cell))
    return known.get(text)
  }
}

/** Returns the verdicts on the texts of a row, which a metric selects. */
export const makeTextReader = (metric: CatalogMetric, fields: ReadonlyArray<string>) => {
  const judges = metric.texts.flatMap(({ contradictions, expected, field: name }) => {
    const field = findOnlyField(fields, name)
    if (field === undefined) return []
    const [contradicts, isExpected] = [makeTextTest(contradictions), makeTextTest(expected)]
    const judge = rememberVerdicts((cell) => {
      const said = readCell(cell) ?? ""
      if (isExpected(said)) return undefined
      if (!contradicts(said)) return { kind: "unlisted", field, said }
      return {
        kind: "contradiction",
        reason: `${field} is ${quoteCell(cell)}, which contradicts ${metric.product_slug}`
      }
    })
    return [{ field, judge }]
  })
  const freight = findOnlyField(fields, "freight")
  if (freight !== undefined) {
    const accepts = makeTextTest(metric.freightTexts)
    const accepted = metric.freightTexts.length === 0 ? "no text" : metric.freightTexts.join(" or ")
    const judge = rememberVerdicts((cell) =>
      accepts(readCell(cell) ?? "")
        ? undefined
        : { kind: "contradiction", reason: `${freight} is ${quoteCell(cell)}, but ${accepted} was expected` }
    )
    judges.push({ field: freight, judge })
  }
  return (row: PayloadRow): ReadonlyArray<TextVerdict> => judges.flatMap(({ field, judge }) => judge(row[field]) ?? [])
}
