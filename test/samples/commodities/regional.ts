/** Rows of the regional and international dairy reports: a low and a high, often a mostly-low and a mostly-high, no average. */

import { type Day, formatDay, getMonth, listDays, parseDay, workdayUpTo } from "./calendar.ts"
import { divideHalfUp } from "./decimal.ts"
import { type KnownRange, marketNewsRanges } from "./facts.ts"
import { getElement } from "./lookup.ts"
import { dollars, type MarsRow, makeMarsHead, makeStamp, marsPayload, type Period } from "./mars.ts"
import type { Payload } from "./mpr.ts"
import { addNoise } from "./paths.ts"
import { type Quote, quotes } from "./quotes.ts"
import { type Chance, makeChance } from "./random.ts"
import type { MonthlySeries } from "./spot-reports.ts"
import type { Surveys } from "./survey.ts"

/** Friday of the newest report, from which biweekly ones are counted back. */
const newestEnd = parseDay("2026-09-25")
const oldest = parseDay("2021-01-04")

interface Range {
  readonly end: Day
  readonly outer: readonly [low: number, high: number]
  readonly mostly: null | readonly [low: number, high: number]
}

const listEnds = (quote: Quote) =>
  listDays(0, newestEnd - oldest - 4, 7 * quote.every)
    .map((back) => newestEnd - back)
    .toReversed()

const clamp = (value: number, [low, high]: readonly [number, number]) => Math.min(high, Math.max(low, value))

const drawRange = (quote: Quote, random: Chance, end: Day, centre: number): Range => {
  const bound = (steps: number) => clamp((Math.round(centre / quote.step) + steps) * quote.step, quote.bounds)
  const least = Math.ceil(quote.reach / 3)
  const outer = [bound(-random.whole(least, quote.reach)), bound(random.whole(least, quote.reach))] as const
  const third = Math.floor((outer[1] - outer[0]) / quote.step / 3)
  const mostly = [
    outer[0] + quote.step * random.whole(0, third),
    outer[1] - quote.step * random.whole(0, third)
  ] as const
  return { end, outer, mostly: random.happens(quote.mostly) ? mostly : null }
}

/** A published range replaces the drawn one. If only the mostly range is known, the outer one is widened to contain it. */
const applyKnownRange = (range: Range, known: KnownRange | undefined): Range => {
  if (!known) return range
  const [low, high] = range.outer
  const outer = known.outer ?? [Math.min(low, known.mostly[0]), Math.max(high, known.mostly[1])]
  return { end: range.end, outer, mostly: known.mostly }
}

/** About every third report repeats the previous range. */
const drawRanges = (quote: Quote, known: ReadonlyMap<string, KnownRange>): ReadonlyArray<Range> => {
  const label = `quote ${quote.slug} ${JSON.stringify(quote.columns)}`
  const random = makeChance(label)
  const ends = listEnds(quote)
  const centres = addNoise(label, ends, quote.level, { size: quote.stray, memory: 0.8, floor: quote.bounds[0] })
  const ranges: Array<Range> = []
  for (const [index, end] of ends.entries()) {
    const before = ranges.at(-1)
    const fresh = drawRange(quote, random, end, getElement(centres, index))
    const published = quote.columns.quality === "Non-Edible" ? undefined : known.get(`${quote.slug} ${formatDay(end)}`)
    ranges.push(applyKnownRange(before && random.happens(0.35) ? { ...before, end } : fresh, published))
  }
  return ranges
}

/** Published the day before the period ends (butter two days), or earlier because of a holiday. */
const makePeriod = (quote: Quote, end: Day): Period => {
  const released = workdayUpTo(end - (quote.unit === "Basis Pricing" ? 2 : 1))
  // South America's period starts a week before the others', although its length is the same.
  const begin = end - (quote.columns.region === "South America" ? 11 : 4)
  return { begin, end, day: begin, published: makeStamp(quote.slug, released, end === newestEnd) }
}

/** Invented text with a price that is in no column: pipelines must not read prices from texts. */
const makeNarrative = (quote: Quote) =>
  quote.slug === 1053 ? "Sample text. WPC 80% is quoted apart from this table, at $12.00 to $12.50 per pound." : null

const toRow = (quote: Quote, { end, outer, mostly }: Range): MarsRow => {
  const number = quote.unit === "Dollars per Metric Ton" ? (value: number) => value : dollars
  return {
    ...makeMarsHead(quote.slug, makePeriod(quote, end)),
    ...quote.columns,
    ...(quote.gradeOn && { grade: quote.gradeOn(end) }),
    price_unit: quote.unit,
    price_min: number(outer[0]),
    price_max: number(outer[1]),
    mostly_low_price: mostly && number(mostly[0]),
    mostly_high_price: mostly && number(mostly[1]),
    report_narrative: makeNarrative(quote)
  }
}

export interface QuotedRanges {
  readonly quote: Quote
  readonly ranges: ReadonlyArray<Range>
}

export const regionalRanges = (survey: Surveys): ReadonlyArray<QuotedRanges> => {
  const known = marketNewsRanges()
  return quotes(survey).map((quote) => ({ quote, ranges: drawRanges(quote, known) }))
}

export function* regionalPayloads(quoted: ReadonlyArray<QuotedRanges>): Generator<Payload> {
  for (const slug of new Set(quoted.map(({ quote }) => quote.slug))) {
    const rows = quoted
      .filter(({ quote }) => quote.slug === slug)
      .flatMap(({ quote, ranges }) =>
        ranges.filter(({ end }) => !quote.silent?.has(end)).map((range) => ({ quote, range }))
      )
      .toSorted((a, b) => b.range.end - a.range.end)
    yield marsPayload(
      slug,
      rows.map(({ quote, range }) => toRow(quote, range))
    )
  }
}

/** Monthly means of the mid-points of a weekly or two-weekly range. */
const monthlyMeans = ({ ranges }: QuotedRanges): ReadonlyMap<string, number> => {
  const months = new Map<string, ReadonlyArray<number>>()
  for (const { end, outer } of ranges) {
    const month = getMonth(end)
    months.set(month, [...(months.get(month) ?? []), outer[0] + outer[1]])
  }
  return new Map(
    [...months].map(([month, sums]) => [
      month,
      divideHalfUp(
        sums.reduce((sum, twice) => sum + twice, 0),
        2 * sums.length
      )
    ])
  )
}

/** Other series of the monthly report than the spot market. Its buttermilk rows have an empty grade and category. */
export const otherMonthlySeries = (quoted: ReadonlyArray<QuotedRanges>): ReadonlyArray<MonthlySeries> => {
  const of = (slug: number) =>
    getElement(
      quoted.filter(({ quote }) => quote.slug === slug && quote.columns.commodity !== "Butteroil"),
      0
    )
  const buttermilk = (slug: number, region: string): MonthlySeries => ({
    section: "Dry Products Monthly Averages",
    columns: {
      category: "",
      community: "",
      commodity: "Buttermilk Powder",
      package: null,
      grade: "",
      lot_Desc: null,
      region,
      price_unit: "Dollars per Pound"
    },
    averages: monthlyMeans(of(slug)),
    scale: 10_000
  })
  const butter = (slug: number, region: string): MonthlySeries => ({
    section: "International Monthly Averages",
    columns: {
      category: "Soft Product",
      community: "Dairy",
      commodity: "Butter",
      package: null,
      grade: null,
      lot_Desc: "82% Butterfat",
      region,
      price_unit: "Dollars per Metric Ton"
    },
    averages: monthlyMeans(of(slug)),
    scale: 1
  })
  return [
    buttermilk(1044, "Central/East US"),
    buttermilk(1043, "West"),
    butter(1099, "Oceania"),
    butter(1098, "West Europe")
  ]
}
