/** Price paths: a line through anchor points, with seeded, autocorrelated noise. */

import { type Day, parseDay } from "./calendar.ts"
import { getElement } from "./lookup.ts"
import { makeRandomStream } from "./random.ts"

export type Anchors = ReadonlyArray<readonly [iso: string, price: number]>

/** A line through known points, flat before the first and after the last. */
export const interpolate = (points: ReadonlyArray<readonly [day: Day, value: number]>) => {
  const [first, last] = [getElement(points, 0), getElement(points, points.length - 1)]
  return (day: Day) => {
    if (day <= first[0]) return first[1]
    if (day >= last[0]) return last[1]
    let low = 0
    let high = points.length - 1
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (getElement(points, middle)[0] <= day) low = middle
      else high = middle
    }
    const [a, b] = [getElement(points, low), getElement(points, high)]
    return a[1] + ((b[1] - a[1]) * (day - a[0])) / (b[0] - a[0])
  }
}

/** The line at these days, with noise of about `size`: whole numbers, never below `floor`. */
export const addNoise = (
  label: string,
  days: ReadonlyArray<Day>,
  line: (day: Day) => number,
  options: { readonly size: number; readonly memory: number; readonly floor?: number }
) => {
  const random = makeRandomStream(label)
  const step = options.size * (1 - options.memory)
  let offset = 0
  return days.map((day) => {
    offset = offset * options.memory + 2 * step * random.bell()
    return Math.max(options.floor ?? 0, Math.round(line(day) + offset))
  })
}

/** Bends the last `run` steps of a path so that it leads to the next known value. */
export const arriveAt = (path: ReadonlyArray<number>, next: number, run = 26) => {
  const miss = next - getElement(path, path.length - 1)
  return path.map((value, index) => Math.round(value + miss * Math.max(0, 1 - (path.length - index) / run)))
}

/** Anchor points in dollars as a line at the given scale. */
export const makeAnchorLine = (anchors: Anchors, scale: number) =>
  interpolate(anchors.map(([iso, dollars]) => [parseDay(iso), dollars * scale]))

/** One value per 1 January, from a first year on. */
export const makeYearlyAnchors = (firstYear: number, values: ReadonlyArray<number>): Anchors =>
  values.map((value, index) => [`${firstYear + index}-01-01`, value])
