/** Readings of one metric, serialized as one JSON text, so that a range of days is a slice of it. */
import { findFirst } from "../search/lists.ts"

export interface Points {
  /** Days in ascending order. */
  readonly days: ReadonlyArray<string>
  readonly json: string
  /** Start of each day's point in `json`, and the end. */
  readonly starts: Uint32Array
}

/** `value` is the number as a JSON token, with its published digits. Rows are in ascending order of days. */
export const serializePoints = (rows: ReadonlyArray<{ readonly day: string; readonly value: string }>): Points => {
  const starts = new Uint32Array(rows.length + 1)
  const parts = rows.map(({ day, value }) => `{"date":"${day}","value":${value}},`)
  parts.forEach((part, index) => {
    starts[index + 1] = (starts[index] ?? 0) + part.length
  })
  return { days: rows.map(({ day }) => day), json: parts.join(""), starts }
}

/** Start and end of a range of days in `json`, both days included. Undefined means no limit. */
const findRange = ({ days, starts }: Points, from: string | undefined, to: string | undefined) => {
  const indexOf = (day: string) => findFirst(0, days.length, (index) => (days[index] ?? "") >= day)
  const first = from === undefined ? 0 : indexOf(from)
  const end = to === undefined ? days.length : indexOf(`${to}~`)
  return { start: starts[first] ?? 0, stop: starts[end] ?? 0 }
}

/** The points of a range of days, both ends included, as a JSON array. Undefined means no limit. */
export const serializeRange = (points: Points, from: string | undefined, to: string | undefined): string => {
  const { start, stop } = findRange(points, from, to)
  return stop <= start ? "[]" : `[${points.json.slice(start, stop - 1)}]` // without the comma after the last one
}

/** Length of that JSON array, without building it. */
export const measureRange = (points: Points, from: string | undefined, to: string | undefined): number => {
  const { start, stop } = findRange(points, from, to)
  return Math.max(0, stop - start) + 2
}
