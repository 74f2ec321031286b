/** Statistics of measurements. */

export const median = (numbers: ReadonlyArray<number>) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** A percentile of sorted values, rounded to two decimals. */
export const percentile = (sorted: ArrayLike<number>, share: number) =>
  Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(2))

export const roundTo = (number: number, digits = 1) => Number(number.toFixed(digits))

export interface Spread {
  readonly p50_ms: number
  readonly p99_ms: number
}

export const describeSpread = (milliseconds: ReadonlyArray<number>): Spread => {
  const sorted = Float64Array.from(milliseconds).sort()
  return { p50_ms: percentile(sorted, 0.5), p99_ms: percentile(sorted, 0.99) }
}
