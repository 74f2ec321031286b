/**
 * Data for the prices page: series and metrics, and their readings in a range of days, thinned if a chart cannot show
 * all. Summaries in words always cover all readings.
 */
import { type CommodityModel, type MetricModel, type Points, serializeRange } from "@larder/warehouse"
import { dayText } from "../web/html.ts"

/** Something that can be drawn: a curated series, or a metric of the whole catalog. */
export interface Drawable {
  readonly name: string
  readonly title: string
  readonly unit: string
  readonly points: Points
}

const toDrawable = (name: string, { points, title, unit_text }: MetricModel): Drawable => ({
  name,
  title,
  unit: unit_text,
  points
})

/** The series, then the metrics that are no series. */
export const listDrawables = ({ metrics, series }: CommodityModel): ReadonlyMap<string, Drawable> => {
  const ofSeries = new Set([...series.values()].map(({ metric }) => metric))
  const drawables = [
    ...[...series].map(([slug, { metric }]) => toDrawable(slug, metric)),
    ...[...metrics].flatMap(([name, metric]) => (ofSeries.has(metric) ? [] : [toDrawable(name, metric)]))
  ]
  return new Map(drawables.map((drawable) => [drawable.name, drawable]))
}

export interface ChartReading {
  readonly day: string
  readonly value: number
  /** The digits as published. */
  readonly digits: string
}
export const readRange = (
  points: Points,
  from: string | undefined,
  to: string | undefined
): ReadonlyArray<ChartReading> =>
  [...serializeRange(points, from, to).matchAll(/"date":"([^"]+)","value":([^},]+)\}/g)].map(
    ([, day = "", digits = ""]) => ({ day, value: Number(digits), digits })
  )

/**
 * Eight years of trading days. More would make the page heavy, above all its table. A line cannot show even this many,
 * but a zoomed one can.
 */
export const maxPoints = 2_000
const dayMilliseconds = 86_400_000
const steps: ReadonlyArray<{ readonly name: string; readonly toBucket: (day: string) => string | number }> = [
  // the epoch began on a Thursday
  { name: "week", toBucket: (day) => Math.floor((Date.parse(day) / dayMilliseconds + 3) / 7) },
  { name: "month", toBucket: (day) => day.slice(0, 7) },
  { name: "year", toBucket: (day) => day.slice(0, 4) }
]
type Step = (typeof steps)[number]

/** The lowest and the highest reading of each step, and the first and the last of all, so that no peak is lost. */
const keepExtremes = (readings: ReadonlyArray<ChartReading>, { toBucket }: Step): ReadonlyArray<ChartReading> => {
  const extremes = new Map<string | number, { lowest: ChartReading; highest: ChartReading }>()
  for (const reading of readings) {
    const bucket = toBucket(reading.day)
    const { lowest, highest } = extremes.get(bucket) ?? { lowest: reading, highest: reading }
    extremes.set(bucket, {
      lowest: reading.value < lowest.value ? reading : lowest,
      highest: reading.value > highest.value ? reading : highest
    })
  }
  const extremeReadings = new Set([...extremes.values()].flatMap(({ lowest, highest }) => [lowest, highest]))
  return readings.filter(
    (reading, index) => extremeReadings.has(reading) || index === 0 || index === readings.length - 1
  )
}

/** At most `maxPoints` readings of each line. All longer lines are thinned by the same step; returns its name. */
export const thinLines = (
  lines: ReadonlyArray<ReadonlyArray<ChartReading>>
): { readonly lines: ReadonlyArray<ReadonlyArray<ChartReading>>; readonly step: string | undefined } => {
  const isShort = (readings: ReadonlyArray<ChartReading>) => readings.length <= maxPoints
  if (lines.every(isShort)) return { lines, step: undefined }
  const thinned = steps.map((step) => ({
    lines: lines.map((readings) => (isShort(readings) ? readings : keepExtremes(readings, step))),
    step: step.name
  }))
  return thinned.find((candidate) => candidate.lines.every(isShort)) ?? thinned.at(-1) ?? { lines, step: undefined }
}

/** `readings` are all readings of the days, not only the drawn ones. */
export const summarizeLine = ({ title, unit }: Drawable, readings: ReadonlyArray<ChartReading>): string => {
  const [first, last] = [readings[0], readings.at(-1)]
  if (first === undefined || last === undefined) return `${title}: no readings in these days.`
  const lowest = readings.reduce((a, b) => (b.value < a.value ? b : a))
  const highest = readings.reduce((a, b) => (b.value > a.value ? b : a))
  return `${title}: ${first.digits} on ${dayText(first.day)}, ${last.digits} ${unit} on ${dayText(last.day)}; lowest ${lowest.digits}, highest ${highest.digits}.`
}
