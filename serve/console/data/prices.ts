/**
 * The page of prices: a chart of one series or metric, or of two with the same unit, and a table of all series. Reads
 * only from memory.
 */
import { yearsBefore } from "@larder/schemas"
import type { CommodityModel, FreshnessRow, Points, SeriesModel } from "@larder/warehouse"
import { Effect } from "effect"
import { field, type OptionGroup, type Problems, searchForm, select } from "../web/form.ts"
import {
  badge,
  countText,
  dayTag,
  type Html,
  type HtmlPart,
  html,
  monthTag,
  nameCode,
  notice,
  renderEmptyState,
  section,
  stackedTable
} from "../web/html.ts"
import { show } from "../web/page.ts"
import { checkDays } from "../web/period.ts"
import { makePath, readChoice, readParameter } from "../web/query.ts"
import { stateBadge } from "./freshness.ts"
import type { DataPage } from "./pieces.ts"
import { priceChart } from "./price-chart.ts"
import { DataRead } from "./read.ts"
import { type Drawable, listDrawables, maxPoints, readRange, summarizeLine, thinLines } from "./readings.ts"

const path = "/data/prices"

const makeOptions = (drawables: ReadonlyMap<string, Drawable>, model: CommodityModel): ReadonlyArray<OptionGroup> => {
  const options = [...drawables.values()].map(({ name, title }) => ({ value: name, label: title }))
  const isSeries = ({ value }: { readonly value: string }) => model.series.has(value)
  return [
    { label: "Series", options: options.filter(isSeries) },
    { label: "Metrics", options: options.filter((option) => !isSeries(option)) }
  ]
}

/** Decimals in which prices of a unit are quoted; figures in one column should have the same number. */
const usualDecimals: Readonly<Record<string, number>> = { "USD/lb": 4, "USD/cwt": 2 }
const alignDecimals = (text: string, unit: string) => {
  const [, decimals = ""] = text.split(".")
  return text && Number(text).toFixed(Math.max(decimals.length, usualDecimals[unit] ?? 0))
}

/** The period of a reading: its day, or the week or month that the day represents. */
const observationPeriod = (on: string, frequency: SeriesModel["record"]["frequency"]): Html => {
  if (frequency === "monthly") return monthTag(on)
  return frequency === "weekly" ? html`week to ${dayTag(on)}` : dayTag(on)
}

/** The newest and the previous reading of each curated series. */
const seriesTable = (model: CommodityModel, freshness: ReadonlyArray<FreshnessRow>) => {
  const states = new Map(freshness.flatMap(({ kind, state, subject }) => (kind === "metric" ? [[subject, state]] : [])))
  const rows = [...model.series.values()].map(({ metric: { points, title }, record }) => ({
    ...record,
    title,
    points,
    newest: points.days.at(-1)
  }))
  const valueOn = ({ points, unit }: (typeof rows)[number], day: string | undefined) =>
    alignDecimals((day && readRange(points, day, day)[0]?.digits) ?? "", unit)
  return stackedTable("The newest reading of each series", rows, [
    [
      "Series",
      ({ slug, title }) => {
        const state = states.get(slug.replaceAll("-", "_")) // the name of the metric with the same values
        return html`<a href="${makePath(path, { series: slug })}">${title}</a> <small>${nameCode(slug)}</small>${
          (state === "late" || state === "ended" || state === "not_read") && html` ${stateBadge(state)}`
        }`
      }
    ],
    ["Newest", (row) => valueOn(row, row.newest), "numeric"],
    ["Previous", (row) => valueOn(row, row.points.days.at(-2)), "numeric"],
    ["Unit", ({ unit }) => unit],
    ["Of", ({ frequency, newest }) => (newest === undefined ? "none" : observationPeriod(newest, frequency))],
    ["Readings", ({ points }) => countText(points.days.length), "numeric"]
  ])
}

/** Links to the offered ranges; the current one is marked. */
const rangeLinks = ({ days }: Points, shown: string | undefined, makeLink: (from: string) => string): HtmlPart => {
  const [first, newest] = [days[0], days.at(-1)]
  if (first === undefined || newest === undefined) return null
  const ranges = [
    [yearsBefore(newest, 1), "1 year"],
    [yearsBefore(newest, 5), "5 years"],
    [first, "Everything"]
  ] as const
  const current = ranges.find(([from]) => from === shown)
  return ranges.map(
    (range) => html`<a href="${makeLink(range[0])}"${range === current && html` aria-current="true"`}>${range[1]}</a> `
  )
}

interface Chart {
  readonly chosen: Drawable
  readonly compared: Drawable | undefined
  readonly from: string | undefined
  readonly to: string | undefined
}

const filterForm = (options: ReadonlyArray<OptionGroup>, { chosen, compared, from, to }: Chart, problems: Problems) => {
  const dayField = (name: "from" | "to", label: string, hint: string, value = "") =>
    field({ name, label, type: "date", hint, value, error: problems[name] })
  return searchForm(
    html`<div class="wide">${select({ name: "series", label: "Series or metric", options, value: chosen.name })}${select(
      {
        name: "beside",
        label: "Compare with",
        allLabel: "Nothing else",
        options,
        value: compared?.name
      }
    )}</div>${dayField("from", "From", "Empty: from the first", from)}${dayField("to", "To", "Empty: up to the newest", to)}`
  )
}

const chartCard = ({ chosen, compared, from, to }: Chart, sampleBadge: HtmlPart): Html => {
  const isSameUnit = compared === undefined || compared.unit === chosen.unit
  const drawables = [chosen, ...(compared !== undefined && isSameUnit && compared !== chosen ? [compared] : [])]
  const readings = drawables.map(({ points }) => readRange(points, from, to))
  const thinned = thinLines(readings)
  const lines = drawables.map(({ title }, index) => ({ name: title, points: thinned.lines[index] ?? [] }))
  return html`${!isSameUnit && notice("warning", `${compared.title} is not drawn: it is in ${compared.unit}, not in ${chosen.unit}.`)}
${
  lines.every(({ points }) => points.length === 0)
    ? renderEmptyState("No readings in these days", "Choose other days, or everything.")
    : html`<div class="card">${priceChart({
        id: "prices",
        title: lines.length > 1 ? `In ${chosen.unit}` : `${chosen.title}, in ${chosen.unit}`,
        description: drawables.map((drawable, index) => summarizeLine(drawable, readings[index] ?? [])).join(" "),
        lines,
        unit: chosen.unit,
        badge: sampleBadge
      })}</div>`
}
${thinned.step !== undefined && html`<p><small>A line with more than ${countText(maxPoints)} readings shows the lowest and the highest of each ${thinned.step}, and the first and the last of all.</small></p>`}`
}

export const dataPricesPage: DataPage = {
  path,
  get: Effect.fnUntraced(function* ({ url }) {
    const data = yield* DataRead
    const model = data.commodities()
    const sampleBadge = data.provenances().Commodities.origin === "sample" && badge("sample data", "warning")
    const drawables = listDrawables(model)
    const [fallback] = drawables.values()
    if (fallback === undefined) {
      const reason = data.unserved().has("commodities")
        ? "The commodities cannot be served. See the server's log for the reason."
        : "The commodities are not loaded. Run: npx larder-ingest commodities"
      return show("Prices", renderEmptyState("No prices", reason))
    }
    const options = makeOptions(drawables, model)
    const names = [...drawables.keys()]
    const chosen = drawables.get((yield* readChoice(url, "series", names)) ?? "") ?? fallback
    const compared = drawables.get((yield* readChoice(url, "beside", names)) ?? "")
    const typed = { from: readParameter(url, "from"), to: readParameter(url, "to") }
    const problems = checkDays(typed.from, typed.to)
    if (Object.keys(problems).length > 0) {
      return show("Prices", filterForm(options, { chosen, compared, ...typed }, problems), 422)
    }
    const { to } = typed
    const last = to ?? chosen.points.days.at(-1)
    const hasNoStart = last === undefined || url.searchParams.get("from") === ""
    const from = typed.from ?? (hasNoStart ? undefined : yearsBefore(last, 1))
    const chart = { chosen, compared, from, to }
    const makeLink = (from: string) => makePath(path, { series: chosen.name, beside: compared?.name, from })
    const shownFrom = to === undefined ? (from ?? chosen.points.days[0]) : undefined
    return show(
      "Prices",
      html`${filterForm(options, chart, {})}
<p class="ranges">${rangeLinks(chosen.points, shownFrom, makeLink)}</p>
${chartCard(chart, sampleBadge)}
${section("All series", html`<div class="series">${seriesTable(model, data.freshness().freshness)}</div>`, sampleBadge)}`
    )
  })
}
