/**
 * Usage: the calls and the spending of an account, by day, key, endpoint and status. Charged calls and their credits
 * come from the ledger. The statuses of all calls come from the request log, which also counts refused calls.
 */
import { Effect } from "effect"
import { Administration, type SummedUsage, type UsageSum } from "../../ledger/index.ts"
import { type CallsByStatus, RequestLog } from "../../persistence/index.ts"
import { barChart } from "../web/bar-chart.ts"
import { field, searchForm } from "../web/form.ts"
import {
  countText,
  dayTag,
  type HtmlPart,
  html,
  keyFigures,
  linkButton,
  pathCode,
  pluralize,
  renderEmptyState,
  section,
  table,
  usdText
} from "../web/html.ts"
import { type Page, show } from "../web/page.ts"
import { countActiveDays, countDays, getToday, listPeriods, type Period, readPeriod } from "../web/period.ts"
import { makePath } from "../web/query.ts"
import { type CallsFilter, callsFilterFields, type Keys, keyNameTag, readCallsFilter } from "./calls-filter.ts"
import { statusBadge, statusMeaning } from "./statuses.ts"
import { usagePath as path, usageFiles } from "./usage-files.ts"
import { addUsage, callsPerDayText, duringText, makeBars, periodText, usdPerDayText } from "./usage-sums.ts"

/** On the 7th and the 31st, two of the periods have the same days; only the first one is marked. */
const periodLinks = (typed: Period, filter: CallsFilter, today: string) => {
  const periods = listPeriods(today)
  const current = periods.find(({ from, to }) => from === typed.from && to === typed.to)
  return html`<nav class="row" aria-label="Period">${periods.map((period) => {
    const { from, label, to } = period
    const href = makePath(path, { from, to, ...filter })
    return period === current
      ? html`<a class="button primary" aria-current="true" href="${href}">${label}</a>`
      : linkButton(href, label)
  })}</nav>`
}

const sumsTable = (caption: string, name: string, rows: ReadonlyArray<UsageSum>, cell: (name: string) => HtmlPart) =>
  table(caption, rows, [
    [name, (sum) => cell(sum.name)],
    ["Charged calls", ({ calls }) => countText(calls), "numeric"],
    ["Credits", ({ credits }) => countText(credits), "numeric"],
    ["Cost", ({ credits }) => usdText(credits), "numeric"]
  ])

const describeCsv = (file: string, rows: string) => ({
  hint: html`<p class="hint">The CSV has a row for every ${rows}.</p>`,
  link: html`<a class="button plain" href="${file}">Download CSV<span class="hidden"> by ${rows}</span></a>`
})

/** `days` is the number of days for the average. */
const renderFigures = ({ by_day }: SummedUsage, period: Period, days: number) => {
  const { calls, credits } = addUsage(by_day)
  const isShorter = days < countDays(period)
  return keyFigures([
    { label: "Charged calls", value: countText(calls), details: periodText(period) },
    { label: "Spent", value: usdText(credits), details: pluralize(credits, "credit") },
    {
      label: "A day on average",
      value: usdPerDayText(credits, days),
      details: `${callsPerDayText(calls, days)}${isShorter ? `, over ${pluralize(days, "day")}` : ""}`
    }
  ])
}

const renderChart = ({ by_day }: SummedUsage, period: Period) => {
  const { bars, unit } = makeBars(by_day, period)
  return barChart({
    id: "calls",
    title: `Charged calls per ${unit}`,
    description: `${pluralize(addUsage(by_day).calls, "charged call")}, ${periodText(period)}.`,
    bars,
    noun: "call",
    columns: [unit === "day" ? "Day" : "Month", "Charged calls"]
  })
}

const chargedSections = (usage: SummedUsage, period: Period, keys: Keys, file: string) => {
  const { hint, link } = describeCsv(file, "day, key and endpoint")
  return html`<div class="card">${renderChart(usage, period)}</div>
${section(
  "By key",
  sumsTable("Charged calls by key", "Key", usage.by_key, (name) => keyNameTag(keys, name))
)}
${section("By endpoint", sumsTable("Charged calls by endpoint", "Endpoint", usage.by_endpoint, pathCode))}
${section(
  "By day",
  html`${hint}${sumsTable("Charged calls by day, newest first", "Day", usage.by_day.toReversed(), dayTag)}`,
  link
)}`
}

const statusSection = (counts: ReadonlyArray<CallsByStatus>, file: string) => {
  const totalCalls = counts.reduce((sum, { calls }) => sum + calls, 0)
  if (totalCalls === 0) {
    return section(
      "By status",
      renderEmptyState(
        "No calls",
        "Calls are counted here as they are answered, including refused calls, which cost nothing."
      )
    )
  }
  const { hint, link } = describeCsv(file, "day, key, endpoint and status")
  const statuses = table("All calls by status", counts, [
    ["Status", ({ status }) => statusBadge(status)],
    ["Meaning", ({ status }) => statusMeaning(status)],
    ["All calls", ({ calls }) => countText(calls), "numeric"],
    ["Share", ({ calls }) => `${((100 * calls) / totalCalls).toFixed(1)}%`, "numeric"]
  ])
  return section(
    "By status",
    html`<p class="hint">Refused calls are also counted here; they cost nothing.</p>${hint}${statuses}`,
    link
  )
}

const usagePage: Page<Administration | RequestLog> = {
  path,
  nav: "Usage",
  get: Effect.fnUntraced(function* (context) {
    const { account, now, url } = context
    const { filter, keys, query } = yield* readCallsFilter(context)
    const { period, problems, typed } = readPeriod(url.searchParams, now)
    const today = getToday(now)
    const form = html`<div class="stack">
${periodLinks(typed, filter, today)}
${searchForm(html`
${field({ name: "from", label: "From", type: "date", value: typed.from, error: problems.from, required: true })}
${field({ name: "to", label: "To", type: "date", value: typed.to, error: problems.to, required: true })}
${callsFilterFields(filter, keys)}
`)}</div>`
    if (period === undefined) return show("Usage", form, 422)
    const usage = yield* Administration.use((ledger) => ledger.summedUsage({ ...query, ...period }))
    const statuses = yield* RequestLog.use((log) => log.byStatus({ ...query, ...period }))
    const fileLink = (file: string) => makePath(file, { ...period, ...filter })
    const days = countActiveDays(period, account.created_at.slice(0, 10), today)
    return show(
      "Usage",
      html`${form}<div class="sums">${renderFigures(usage, period, days)}
${
  usage.by_day.length === 0
    ? html`<div class="card">${renderEmptyState("No charged calls", `Nothing was charged ${duringText(period)}.`)}</div>`
    : chargedSections(usage, period, keys, fileLink(`${path}.csv`))
}
${statusSection(statuses, fileLink(`${path}/statuses.csv`))}</div>`
    )
  })
}

export const usagePages: ReadonlyArray<Page<Administration | RequestLog>> = [usagePage, ...usageFiles]
