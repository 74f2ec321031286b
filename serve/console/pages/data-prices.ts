/** Prices drawn as charts: one series or metric, or two of one unit, over a range of days. From memory. */
import { isDay, yearsBefore } from "@larder/schemas/dates.ts"
import type { CommodityModel, SeriesModel } from "@larder/warehouse/read-models/commodity.ts"
import { jsonOfRange, type Points } from "@larder/warehouse/read-models/points.ts"
import { Effect } from "effect"
import { type Line, lineChart } from "../chart.ts"
import { DataRead } from "../data-read.ts"
import { button, field, type Option, searchForm, select } from "../form.ts"
import { count, day, dayText, empty, html, notice, type Part, section, table } from "../html.ts"
import { type Page, show } from "../page.ts"
import { asked, dataNavigation, named, pathWith } from "./data-pieces.ts"

/** Something that can be drawn: one of the curated series, or a metric of the whole catalog. */
interface Drawable {
  readonly name: string
  readonly title: string
  readonly unit: string
  readonly points: Points
}

/** Units as people read them; what has no words of its own is shown as it is. */
const unitWords: Readonly<Record<string, string>> = {
  "USD/lb": "USD per lb",
  "USD/cwt": "USD per cwt",
  usd_per_lb: "USD per lb",
  usd_per_cwt: "USD per cwt",
  usd_per_metric_ton: "USD per metric ton",
  usd_per_lb_basis: "USD per lb above or below the exchange price"
}
const wordsOf = (unit: string) => unitWords[unit] ?? unit

/** What has no grade or package has a name in its report, such as `class_3_Price`. */
const titleOf = (commodity: string, { frequency, market, measure, spec }: SeriesModel["record"]) =>
  [commodity, spec ?? measure.replaceAll("_", " ").toLowerCase(), market, frequency].join(", ")

const drawablesOf = (model: CommodityModel): ReadonlyMap<string, Drawable> => {
  const series = model.groups.flatMap(({ commodity, series }) =>
    series.map(({ points, record }): Drawable => {
      return { name: record.slug, title: titleOf(commodity, record), unit: wordsOf(record.unit), points }
    })
  )
  const metrics = [...model.metrics].map(
    ([name, { points, unit }]): Drawable => ({
      name,
      title: name.replaceAll("_", " "),
      unit: wordsOf(unit),
      points
    })
  )
  return new Map([...series, ...metrics].map((drawable) => [drawable.name, drawable]))
}

interface Reading {
  readonly day: string
  readonly value: number
  /** The digits as published. */
  readonly text: string
}
const readingsOf = (points: Points, from: string | undefined, to: string | undefined): ReadonlyArray<Reading> =>
  [...jsonOfRange(points, from, to).matchAll(/"date":"([^"]+)","value":([^},]+)\}/g)].map(
    ([, day = "", text = ""]) => ({
      day,
      value: Number(text),
      text
    })
  )

/** More than this many points are no better to see, and no table that anybody reads. */
const mostPoints = 400
const millisOfDay = 86_400_000
const steps: ReadonlyArray<{ readonly name: string; readonly keyOf: (day: string) => string | number }> = [
  { name: "week", keyOf: (day) => Math.floor((Date.parse(day) / millisOfDay + 3) / 7) }, // the epoch began on a Thursday
  { name: "month", keyOf: (day) => day.slice(0, 7) },
  { name: "year", keyOf: (day) => day.slice(0, 4) }
]

/** At most `mostPoints`: the last reading of each week, month or year where there are more. */
const thinned = (readings: ReadonlyArray<Reading>) => {
  if (readings.length <= mostPoints) return { readings, step: undefined }
  const fewer = steps.map(({ keyOf, name }) => {
    const last = new Map(readings.map((reading) => [keyOf(reading.day), reading]))
    return { readings: [...last.values()], step: name }
  })
  const few = fewer.find((kept) => kept.readings.length <= mostPoints) ?? fewer.at(-1)
  return few ?? { readings, step: undefined }
}

const optionsOf = (drawables: ReadonlyMap<string, Drawable>): ReadonlyArray<Option> =>
  [...drawables.values()].map(({ name, title }) => ({ value: name, label: title }))

const summaryOf = ({ title, unit }: Drawable, readings: ReadonlyArray<Reading>): string => {
  const [first, last] = [readings[0], readings.at(-1)]
  if (first === undefined || last === undefined) return `${title}: no readings in these days.`
  const values = readings.map(({ value }) => value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return `${title}: ${first.text} on ${dayText(first.day)}, ${last.text} ${unit} on ${dayText(last.day)}; lowest ${low}, highest ${high}.`
}

/** Decimals that prices of a unit are quoted in: figures below each other are to have as many. */
const decimalsOf: Readonly<Record<string, number>> = { "USD/lb": 4, "USD/cwt": 2 }
const aligned = (text: string, unit: string) => {
  const [, decimals = ""] = text.split(".")
  return text && Number(text).toFixed(Math.max(decimals.length, decimalsOf[unit] ?? 0))
}

/** The newest reading of each curated series, and what it was before. */
const seriesTable = (model: CommodityModel) =>
  table({
    caption: "The newest reading of each series",
    stacks: true,
    columns: [
      { label: "Series" },
      { label: "Newest", numeric: true },
      { label: "Before", numeric: true },
      { label: "Unit" },
      { label: "Day" },
      { label: "Readings", numeric: true }
    ],
    rows: model.groups.flatMap(({ commodity, series }) =>
      series.map(({ points, record }): ReadonlyArray<Part> => {
        const [before, newest] = [points.days.at(-2), points.days.at(-1)]
        const on = (day: string | undefined) =>
          aligned((day && readingsOf(points, day, day)[0]?.text) ?? "", record.unit)
        return [
          html`<a href="${pathWith("/data/prices", { series: record.slug })}">${titleOf(commodity, record)}</a> <small>${named(record.slug)}</small>`,
          on(newest),
          on(before),
          record.unit,
          newest === undefined ? "none" : day(newest),
          count(points.days.length)
        ]
      })
    )
  })

/** Days to begin with that are offered, and the one that is shown marked. */
const rangesOf = ({ days }: Points, shown: string | undefined, to: (from: string) => string): Part => {
  const [first, newest] = [days[0], days.at(-1)]
  if (first === undefined || newest === undefined) return null
  const all = [
    [yearsBefore(newest, 1), "1 year"],
    [yearsBefore(newest, 5), "5 years"],
    [first, "Everything"]
  ] as const
  const current = all.find(([from]) => from === shown)
  return all.map(
    (range) => html`<a href="${to(range[0])}"${range === current && html` aria-current="true"`}>${range[1]}</a> `
  )
}

export const dataPricesPage: Page<DataRead> = {
  path: "/data/prices",
  operatorsOnly: true,
  get: ({ url }) =>
    Effect.gen(function* () {
      const model = (yield* DataRead).commodities()
      const drawables = drawablesOf(model)
      const [fallback] = drawables.values()
      if (fallback === undefined) {
        const nothing = empty("No prices yet", "The commodities are not loaded. Run: npx larder-ingest commodities")
        return show("Prices", html`${dataNavigation("/data/prices")}${nothing}`)
      }
      const chosen = drawables.get(asked(url, "series") ?? fallback.name) ?? fallback
      const beside = drawables.get(asked(url, "beside") ?? "")
      const isSameUnit = beside === undefined || beside.unit === chosen.unit
      const newest = chosen.points.days.at(-1)
      const askedDay = (name: string) => {
        const text = asked(url, name)
        return text !== undefined && isDay(text) ? text : undefined
      }
      const from =
        askedDay("from") ??
        (newest === undefined || url.searchParams.get("from") === "" ? undefined : yearsBefore(newest, 1))
      const to = askedDay("to")
      const drawn = [chosen, ...(beside !== undefined && isSameUnit && beside !== chosen ? [beside] : [])].map(
        (drawable) => ({ drawable, ...thinned(readingsOf(drawable.points, from, to)) })
      )
      const lines = drawn.map(({ drawable, readings }): Line => ({ name: drawable.title, points: readings }))
      const step = drawn.find((line) => line.step !== undefined)?.step
      const path = (from: string) => pathWith("/data/prices", { series: chosen.name, beside: beside?.name, from })
      const shown = to === undefined ? (from ?? chosen.points.days[0]) : undefined
      return show(
        "Prices",
        html`${dataNavigation("/data/prices")}
${searchForm(
  html`<div class="wide">${select({ name: "series", label: "Series or metric", options: optionsOf(drawables), value: chosen.name })}${select(
    {
      name: "beside",
      label: "Beside it",
      options: [{ value: "", label: "Nothing" }, ...optionsOf(drawables)],
      value: beside?.name ?? ""
    }
  )}</div>${field({ name: "from", label: "From", type: "date", value: from ?? "" })}${field({
    name: "to",
    label: "To",
    type: "date",
    value: to ?? ""
  })}${button("Show", "plain")}`
)}
<p class="ranges">${rangesOf(chosen.points, shown, path)}</p>
${!isSameUnit && beside !== undefined && notice("warning", `${beside.title} is not drawn: it is in ${beside.unit}, not in ${chosen.unit}.`)}
${
  lines.every(({ points }) => points.length === 0)
    ? empty("No readings in these days", "Choose other days, or everything.")
    : html`<div class="card">${lineChart({
        id: "prices",
        title: lines.length > 1 ? `In ${chosen.unit}` : `${chosen.title}, in ${chosen.unit}`,
        description: drawn.map(({ drawable, readings }) => summaryOf(drawable, readings)).join(" "),
        lines,
        say: (value) => `${value} ${chosen.unit}`,
        tick: (value, decimals) => value.toFixed(decimals)
      })}</div>`
}
${step !== undefined && html`<p><small>The last reading of each ${step} is drawn, because there are more than ${count(mostPoints)}.</small></p>`}
${section("All series", seriesTable(model))}`
      )
    })
}
