/**
 * Readings of one metric in the form in which they leave: the JSON of all points in one text, and where each begins. A
 * range of days is then one piece of that text.
 */

export interface Points {
  /** Days in ascending order. */
  readonly days: ReadonlyArray<string>
  readonly json: string
  /** Where the point of a day begins in `json`; one more at the end. */
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

/** The points of a range of days, both ends included, as a JSON array. An open end is undefined. */
export const jsonOfRange = (points: Points, from: string | undefined, to: string | undefined): string => {
  const first = from === undefined ? 0 : firstFrom(points.days, from)
  const end = to === undefined ? points.days.length : firstFrom(points.days, `${to}~`)
  const start = points.starts[first] ?? 0
  const stop = points.starts[end] ?? 0
  return stop <= start ? "[]" : `[${points.json.slice(start, stop - 1)}]` // without the comma behind the last one
}
