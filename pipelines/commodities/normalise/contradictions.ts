/** Rows that state different values for one metric, day and publication: either may be right. */
import type { PriceReading } from "./rows.ts"

/** `1.40` and `1.4` are one value. */
const trimZeros = (token: string) => (token.includes(".") ? token.replace(/\.?0+$/, "") : token)

interface Contradiction {
  readonly published_at: string
  readonly problem: string
  readonly source_rows: ReadonlyArray<number>
}

/** One contradiction for each metric, day and publication with two values. Equal values are one. */
export const findContradictions = (readings: ReadonlyArray<PriceReading>): ReadonlyArray<Contradiction> => {
  const known = new Map<string, Array<PriceReading>>()
  const contradicted = new Set<string>()
  for (const reading of readings) {
    const key = `${reading.metric_name} ${reading.observed_on} ${reading.published_at}`
    const before = known.get(key)
    if (before === undefined) known.set(key, [reading])
    else {
      before.push(reading)
      if (trimZeros(before[0]?.value_text ?? "") !== trimZeros(reading.value_text)) contradicted.add(key)
    }
  }
  return [...contradicted].flatMap((key) => {
    const group = known.get(key) ?? []
    const [first] = group
    const other = group.find(({ value_text }) => trimZeros(value_text) !== trimZeros(first?.value_text ?? ""))
    if (first === undefined || other === undefined) return []
    const { metric_name, observed_on, published_at } = first
    const problem = `row ${other.source_row} contradicts row ${first.source_row}: ${metric_name} of ${observed_on} is ${first.value_text} there and ${other.value_text} here, in one publication`
    return [{ published_at, problem, source_rows: group.map(({ source_row }) => source_row) }]
  })
}
