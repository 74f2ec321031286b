/**
 * Readings of one metric, already serialized for responses: the JSON of all points in one text, and where each point
 * begins. So a range of days is one slice of that text.
 */

export interface Points {
  /** Days in ascending order. */
  readonly days: ReadonlyArray<string>
  readonly json: string
  /** Where the point of each day begins in `json`, and the end. */
  readonly starts: Uint32Array
}

/** `value` is the number as a JSON token, digits as published. Rows come in ascending order of days. */
export const pointsOf = (rows: ReadonlyArray<{ readonly day: string; readonly value: string }>): Points => {
  const starts = new Uint32Array(rows.length + 1)
  const parts = rows.map(({ day, value }) => `{"date":"${day}","value":${value}},`)
  parts.forEach((part, index) => {
    starts[index + 1] = (starts[index] ?? 0) + part.length
  })
  return { days: rows.map(({ day }) => day), json: parts.join(""), starts }
}

/** Index of the first day that is not before `day`. */
const firstFrom = (days: ReadonlyArray<string>, day: string): number => {
  let low = 0
  let high = days.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((days[middle] ?? "") < day) low = middle + 1
    else high = middle
  }
  return low
}

/** Where the points of a range of days are in `json`, both days included. An open end is undefined. */
const rangeOf = ({ days, starts }: Points, from: string | undefined, to: string | undefined) => {
  const first = from === undefined ? 0 : firstFrom(days, from)
  const end = to === undefined ? days.length : firstFrom(days, `${to}~`)
  return { start: starts[first] ?? 0, stop: starts[end] ?? 0 }
}

/** The points of a range of days, both ends included, as a JSON array. An open end is undefined. */
export const jsonOfRange = (points: Points, from: string | undefined, to: string | undefined): string => {
  const { start, stop } = rangeOf(points, from, to)
  return stop <= start ? "[]" : `[${points.json.slice(start, stop - 1)}]` // without the comma after the last one
}

/** Length of that JSON array, without building it. */
export const lengthOfRange = (points: Points, from: string | undefined, to: string | undefined): number => {
  const { start, stop } = rangeOf(points, from, to)
  return Math.max(0, stop - start) + 2
}
