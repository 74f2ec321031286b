/**
 * Data for the prices page: series and metrics, and their readings in a range of days, thinned if a chart cannot show
 * all. Summaries in words always cover all readings.
 */
import { type CommodityModel, type Points, type SeriesModel, serializeRange } from "@larder/warehouse"
import { dayText } from "../web/html.ts"

/** Something that can be drawn: a curated series, or a metric of the whole catalog. */
export interface Drawable {
  readonly name: string
  readonly title: string
  readonly unit: string
  readonly points: Points
}

/** Units in words; a unit without an entry is shown unchanged. */
const unitWords: Readonly<Record<string, string>> = {
  "USD/lb": "USD per lb",
  "USD/cwt": "USD per cwt",
  usd_per_lb: "USD per lb",
  usd_per_cwt: "USD per cwt",
  usd_per_metric_ton: "USD per metric ton",
  usd_per_lb_basis: "USD per lb above or below the exchange price"
}
const unitText = (unit: string) => unitWords[unit] ?? unit

const romanClasses: Readonly<Record<string, string>> = { "1": "I", "2": "II", "3": "III", "4": "IV" }
/** `class_3_Price` in a report is called the Class III price in the trade. */
const measureText = (measure: string) =>
  measure
    .replaceAll("_", " ")
    .toLowerCase()
    .replace(/^class ([1-4])\b/, (_, digit: string) => `Class ${romanClasses[digit]}`)

/**
 * The distinguishing parts come first, because a narrow list cuts off the end. Without a grade or package, the
 * measure's name in the report is used.
 */
export const seriesTitle = (
  commodity: string,
  { frequency, market, measure, spec }: Pick<SeriesModel["record"], "frequency" | "market" | "measure" | "spec">
): string => [commodity, spec ?? measureText(measure), frequency, market].join(", ")

export const listDrawables = (model: CommodityModel): ReadonlyMap<string, Drawable> => {
  const series = model.groups.flatMap(({ commodity, series }) =>
    series.map(({ points, record }): Drawable => {
      return { name: record.slug, title: seriesTitle(commodity, record), unit: unitText(record.unit), points }
    })
  )
  const metrics = [...model.metrics].map(
    ([name, { points, unit }]): Drawable => ({
      name,
      title: name.replaceAll("_", " ").replace(/\bclass i+v?\b/, (text) => `Class ${text.slice(6).toUpperCase()}`),
      unit: unitText(unit),
      points
    })
  )
  return new Map([...series, ...metrics].map((drawable) => [drawable.name, drawable]))
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
