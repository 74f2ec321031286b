/** Rows of the regional and international dairy reports: a low and a high, often a mostly-low and a mostly-high, no average. */

import { type Day, findWorkdayUpTo, formatDay, getMonth, listDays, parseDay } from "./calendar.ts"
import { divideHalfUp } from "./decimal.ts"
import { type KnownRange, readMarketNewsRanges } from "./facts.ts"
import { getElement } from "./lookup.ts"
import { type MarsRow, makeMarsHead, makeMarsPayload, makeStamp, type Period, toDollars } from "./mars.ts"
import type { Payload } from "./mpr.ts"
import { addNoise } from "./paths.ts"
import { listQuotes, type Quote } from "./quotes.ts"
import { makeRandomStream, type RandomStream } from "./random.ts"
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

const drawRange = (quote: Quote, random: RandomStream, end: Day, centre: number): Range => {
  const bound = (steps: number) => clamp((Math.round(centre / quote.step) + steps) * quote.step, quote.bounds)
  const minSteps = Math.ceil(quote.reach / 3)
  const outer = [bound(-random.whole(minSteps, quote.reach)), bound(random.whole(minSteps, quote.reach))] as const
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
  const random = makeRandomStream(label)
  const ends = listEnds(quote)
  const centres = addNoise(label, ends, quote.level, { size: quote.noise, memory: 0.8, floor: quote.bounds[0] })
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
  const released = findWorkdayUpTo(end - (quote.unit === "Basis Pricing" ? 2 : 1))
  // The period of South America begins a week before those of the others.
  const begin = end - (quote.columns.region === "South America" ? 11 : 4)
  return { begin, end, day: begin, published: makeStamp(quote.slug, released, end === newestEnd) }
}

/** Invented text with a price that is in no column: pipelines must not read prices from texts. */
const makeNarrative = (quote: Quote) =>
  quote.slug === 1053 ? "Sample text. WPC 80% is quoted apart from this table, at $12.00 to $12.50 per pound." : null

const toRow = (quote: Quote, { end, outer, mostly }: Range): MarsRow => {
  const number = quote.unit === "Dollars per Metric Ton" ? (value: number) => value : toDollars
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

export const drawRegionalRanges = (survey: Surveys): ReadonlyArray<QuotedRanges> => {
  const known = readMarketNewsRanges()
  return listQuotes(survey).map((quote) => ({ quote, ranges: drawRanges(quote, known) }))
}

export function* makeRegionalPayloads(quoted: ReadonlyArray<QuotedRanges>): Generator<Payload> {
  for (const slug of new Set(quoted.map(({ quote }) => quote.slug))) {
    const rows = quoted
      .filter(({ quote }) => quote.slug === slug)
      .flatMap(({ quote, ranges }) =>
        ranges.filter(({ end }) => !quote.silentWeeks?.has(end)).map((range) => ({ quote, range }))
      )
      .toSorted((a, b) => b.range.end - a.range.end)
    yield makeMarsPayload(
      slug,
      rows.map(({ quote, range }) => toRow(quote, range))
    )
  }
}

/** Monthly means of the mid-points of a weekly or two-weekly range. */
const computeMonthlyMeans = ({ ranges }: QuotedRanges): ReadonlyMap<string, number> => {
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

/** The series of the monthly report, except the spot market. Its buttermilk rows have an empty grade and category. */
export const makeOtherMonthlySeries = (quoted: ReadonlyArray<QuotedRanges>): ReadonlyArray<MonthlySeries> => {
  const findQuoted = (slug: number) =>
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
    averages: computeMonthlyMeans(findQuoted(slug)),
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
    averages: computeMonthlyMeans(findQuoted(slug)),
    scale: 1
  })
  return [
    buttermilk(1044, "Central/East US"),
    buttermilk(1043, "West"),
    butter(1099, "Oceania"),
    butter(1098, "West Europe")
  ]
}
