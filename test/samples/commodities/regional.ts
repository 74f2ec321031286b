/** Rows of the regional and international dairy reports: a low and a high, often a mostly-low and a mostly-high, no average. */

import { type Day, dayOf, daysBetween, isoOf, monthOf, workdayUpTo } from "./calendar.ts"
import { halfUp } from "./decimal.ts"
import { type KnownRange, marketNewsRanges } from "./facts.ts"
import { at } from "./lookup.ts"
import { dollars, type MarsRow, marsHead, marsPayload, type Period, stampOf } from "./mars.ts"
import type { Payload } from "./mpr.ts"
import { wobble } from "./paths.ts"
import { type Quote, quotes } from "./quotes.ts"
import { type Chance, chance } from "./random.ts"
import type { MonthlySeries } from "./spot-reports.ts"
import type { Surveys } from "./survey.ts"

/** Friday of the newest report, from which biweekly ones are counted back. */
const newestEnd = dayOf("2026-09-25")
const oldest = dayOf("2021-01-04")

interface Range {
  readonly end: Day
  readonly outer: readonly [low: number, high: number]
  readonly mostly: null | readonly [low: number, high: number]
}

const endsOf = (quote: Quote) =>
  daysBetween(0, newestEnd - oldest - 4, 7 * quote.every)
    .map((back) => newestEnd - back)
    .toReversed()

const within = (value: number, [low, high]: readonly [number, number]) => Math.min(high, Math.max(low, value))

const drawn = (quote: Quote, random: Chance, end: Day, centre: number): Range => {
  const bound = (steps: number) => within((Math.round(centre / quote.step) + steps) * quote.step, quote.bounds)
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
const corrected = (range: Range, known: KnownRange | undefined): Range => {
  if (!known) return range
  const [low, high] = range.outer
  const outer = known.outer ?? [Math.min(low, known.mostly[0]), Math.max(high, known.mostly[1])]
  return { end: range.end, outer, mostly: known.mostly }
}

/** About every third report repeats the previous range. */
const rangesOf = (quote: Quote, known: ReadonlyMap<string, KnownRange>): ReadonlyArray<Range> => {
  const label = `quote ${quote.slug} ${JSON.stringify(quote.columns)}`
  const random = chance(label)
  const ends = endsOf(quote)
  const centres = wobble(label, ends, quote.level, { size: quote.stray, memory: 0.8, floor: quote.bounds[0] })
  const ranges: Array<Range> = []
  for (const [index, end] of ends.entries()) {
    const before = ranges.at(-1)
    const fresh = drawn(quote, random, end, at(centres, index))
    const published = quote.columns.quality === "Non-Edible" ? undefined : known.get(`${quote.slug} ${isoOf(end)}`)
    ranges.push(corrected(before && random.happens(0.35) ? { ...before, end } : fresh, published))
  }
  return ranges
}

/** Published the day before the period ends (butter two days), or earlier because of a holiday. */
const periodOf = (quote: Quote, end: Day): Period => {
  const released = workdayUpTo(end - (quote.unit === "Basis Pricing" ? 2 : 1))
  // South America's period starts a week before the others', although its length is the same.
  const begin = end - (quote.columns.region === "South America" ? 11 : 4)
  return { begin, end, day: begin, published: stampOf(quote.slug, released, end === newestEnd) }
}

/** Invented text with a price that is in no column: pipelines must not read prices from texts. */
const narrativeOf = (quote: Quote) =>
  quote.slug === 1053 ? "Sample text. WPC 80% is quoted apart from this table, at $12.00 to $12.50 per pound." : null

const rowOf = (quote: Quote, { end, outer, mostly }: Range): MarsRow => {
  const number = quote.unit === "Dollars per Metric Ton" ? (value: number) => value : dollars
  return {
    ...marsHead(quote.slug, periodOf(quote, end)),
    ...quote.columns,
    ...(quote.gradeOn && { grade: quote.gradeOn(end) }),
    price_unit: quote.unit,
    price_min: number(outer[0]),
    price_max: number(outer[1]),
    mostly_low_price: mostly && number(mostly[0]),
    mostly_high_price: mostly && number(mostly[1]),
    report_narrative: narrativeOf(quote)
  }
}

export interface QuotedRanges {
  readonly quote: Quote
  readonly ranges: ReadonlyArray<Range>
}

export const regionalRanges = (survey: Surveys): ReadonlyArray<QuotedRanges> => {
  const known = marketNewsRanges()
  return quotes(survey).map((quote) => ({ quote, ranges: rangesOf(quote, known) }))
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
      rows.map(({ quote, range }) => rowOf(quote, range))
    )
  }
}

/** Monthly means of the mid-points of a weekly or two-weekly range. */
const monthlyMeans = ({ ranges }: QuotedRanges): ReadonlyMap<string, number> => {
  const months = new Map<string, ReadonlyArray<number>>()
  for (const { end, outer } of ranges) {
    const month = monthOf(end)
    months.set(month, [...(months.get(month) ?? []), outer[0] + outer[1]])
  }
  return new Map(
    [...months].map(([month, sums]) => [
      month,
      halfUp(
        sums.reduce((sum, twice) => sum + twice, 0),
        2 * sums.length
      )
    ])
  )
}

/** Other series of the monthly report than the spot market. Its buttermilk rows have an empty grade and category. */
export const otherMonthlySeries = (quoted: ReadonlyArray<QuotedRanges>): ReadonlyArray<MonthlySeries> => {
  const of = (slug: number) =>
    at(
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
