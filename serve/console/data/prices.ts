/** Charts of prices: one series or metric, or two of the same unit, over a range of days. Read from memory. */
import { yearsBefore } from "@larder/schemas"
import type { CommodityModel, Points, SeriesModel } from "@larder/warehouse"
import { Effect } from "effect"
import { button, field, type OptionGroup, type Problems, searchForm, select } from "../web/form.ts"
import {
  badge,
  count,
  day,
  dayText,
  empty,
  type Html,
  html,
  month,
  notice,
  type Part,
  section,
  table
} from "../web/html.ts"
import { type Page, show } from "../web/page.ts"
import { problemsOfDays } from "../web/period.ts"
import { asked, askedOneOf, dataNavigation, named, pathWith } from "./pieces.ts"
import { priceChart } from "./price-chart.ts"
import { DataRead } from "./read.ts"
import { type Drawable, drawablesOf, mostPoints, readingsOf, summaryOf, thinned, titleOf } from "./readings.ts"
import { stoppedSeries } from "./stopped.ts"

const optionsOf = (drawables: ReadonlyMap<string, Drawable>, model: CommodityModel): ReadonlyArray<OptionGroup> => {
  const options = [...drawables.values()].map(({ name, title }) => ({ value: name, label: title }))
  const isSeries = ({ value }: { readonly value: string }) => model.series.has(value)
  return [
    { label: "Series", options: options.filter(isSeries) },
    { label: "Metrics", options: options.filter((option) => !isSeries(option)) }
  ]
}

/** Decimals in which prices of a unit are quoted; figures in one column should have the same number. */
const decimalsOf: Readonly<Record<string, number>> = { "USD/lb": 4, "USD/cwt": 2 }
const aligned = (text: string, unit: string) => {
  const [, decimals = ""] = text.split(".")
  return text && Number(text).toFixed(Math.max(decimals.length, decimalsOf[unit] ?? 0))
}

/** The period of a reading: its day, or the week or month that the day represents. */
const observed = (on: string, frequency: SeriesModel["record"]["frequency"]): Html => {
  if (frequency === "monthly") return month(on)
  return frequency === "weekly" ? html`week to ${day(on)}` : day(on)
}

/** The newest and the previous reading of each curated series. */
const seriesTable = (model: CommodityModel) => {
  const stopped = stoppedSeries(model)
  return table({
    caption: "The newest reading of each series",
    stacks: true,
    columns: [
      { label: "Series" },
      { label: "Newest", numeric: true },
      { label: "Previous", numeric: true },
      { label: "Unit" },
      { label: "Of" },
      { label: "Readings", numeric: true }
    ],
    rows: model.groups.flatMap(({ commodity, series }) =>
      series.map(({ points, record }): ReadonlyArray<Part> => {
        const [before, newest] = [points.days.at(-2), points.days.at(-1)]
        const on = (day: string | undefined) =>
          aligned((day && readingsOf(points, day, day)[0]?.text) ?? "", record.unit)
        return [
          html`<a href="${pathWith("/data/prices", { series: record.slug })}">${titleOf(commodity, record)}</a> <small>${named(record.slug)}</small>${
            newest !== undefined &&
            stopped.has(record.slug) &&
            html` ${badge(`no reading since ${dayText(newest)}`, "warning")}`
          }`,
          on(newest),
          on(before),
          record.unit,
          newest === undefined ? "none" : observed(newest, record.frequency),
          count(points.days.length)
        ]
      })
    )
  })
}

/** Links to the offered ranges; the current one is marked. */
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

interface Asked {
  readonly chosen: Drawable
  readonly beside: Drawable | undefined
  readonly from: string | undefined
  readonly to: string | undefined
}

const filters = (options: ReadonlyArray<OptionGroup>, { beside, chosen, from, to }: Asked, problems: Problems) =>
  searchForm(
    html`<div class="wide">${select({ name: "series", label: "Series or metric", options, value: chosen.name })}${select(
      {
        name: "beside",
        label: "Compare with",
        options: [{ value: "", label: "Nothing else" }, ...options],
        value: beside?.name ?? ""
      }
    )}</div>${field({ name: "from", label: "From", type: "date", hint: "Empty: from the first", value: from ?? "", error: problems.from })}${field(
      {
        name: "to",
        label: "To",
        type: "date",
        hint: "Empty: up to the newest",
        value: to ?? "",
        error: problems.to
      }
    )}${button("Show", "plain")}`
  )

const drawing = ({ beside, chosen, from, to }: Asked, mark: Part): Html => {
  const isSameUnit = beside === undefined || beside.unit === chosen.unit
  const drawables = [chosen, ...(beside !== undefined && isSameUnit && beside !== chosen ? [beside] : [])]
  const whole = drawables.map(({ points }) => readingsOf(points, from, to))
  const drawn = thinned(whole)
  const lines = drawables.map(({ title }, index) => ({ name: title, points: drawn.lines[index] ?? [] }))
  return html`${!isSameUnit && notice("warning", `${beside.title} is not drawn: it is in ${beside.unit}, not in ${chosen.unit}.`)}
${
  lines.every(({ points }) => points.length === 0)
    ? empty("No readings in these days", "Choose other days, or everything.")
    : html`<div class="card">${priceChart({
        id: "prices",
        title: lines.length > 1 ? `In ${chosen.unit}` : `${chosen.title}, in ${chosen.unit}`,
        description: drawables.map((drawable, index) => summaryOf(drawable, whole[index] ?? [])).join(" "),
        lines,
        unit: chosen.unit,
        mark
      })}</div>`
}
${drawn.step !== undefined && html`<p><small>A line with more than ${count(mostPoints)} readings shows the lowest and the highest of each ${drawn.step}, and the first and the last of all.</small></p>`}`
}

export const dataPricesPage: Page<DataRead> = {
  path: "/data/prices",
  operatorsOnly: true,
  get: ({ url }) =>
    Effect.gen(function* () {
      const data = yield* DataRead
      const model = data.commodities()
      const mark = data.provenances().Commodities.origin === "sample" && badge("sample data", "warning")
      const drawables = drawablesOf(model)
      const [fallback] = drawables.values()
      if (fallback === undefined) {
        const why = data.unserved().has("commodities")
          ? "The commodities cannot be served. The log of the server says why."
          : "The commodities are not loaded. Run: npx larder-ingest commodities"
        const nothing = empty("No prices", why)
        return show("Prices", html`${dataNavigation("/data/prices")}${nothing}`)
      }
      const options = optionsOf(drawables, model)
      const names = [...drawables.keys()]
      const chosen = drawables.get((yield* askedOneOf(url, "series", names)) ?? "") ?? fallback
      const beside = drawables.get((yield* askedOneOf(url, "beside", names)) ?? "")
      const typed = { from: asked(url, "from"), to: asked(url, "to") }
      const problems = problemsOfDays(typed.from, typed.to)
      if (Object.keys(problems).length > 0) {
        const form = filters(options, { chosen, beside, ...typed }, problems)
        return show("Prices", html`${dataNavigation("/data/prices")}${form}`, 422)
      }
      const { to } = typed
      const last = to ?? chosen.points.days.at(-1)
      const isOpen = last === undefined || url.searchParams.get("from") === ""
      const from = typed.from ?? (isOpen ? undefined : yearsBefore(last, 1))
      const wanted = { chosen, beside, from, to }
      const path = (from: string) => pathWith("/data/prices", { series: chosen.name, beside: beside?.name, from })
      const shown = to === undefined ? (from ?? chosen.points.days[0]) : undefined
      return show(
        "Prices",
        html`${dataNavigation("/data/prices")}
${filters(options, wanted, {})}
<p class="ranges">${rangesOf(chosen.points, shown, path)}</p>
${drawing(wanted, mark)}
${section("All series", html`<div class="series">${seriesTable(model)}</div>`, mark)}`
      )
    })
}
