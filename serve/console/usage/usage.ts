/**
 * Usage: the calls and the spending of an account, by day, key, endpoint and status. Charged calls and their credits
 * come from the ledger. The statuses of all calls come from the request log, which also counts refused calls.
 */
import { Effect } from "effect"
import { Administration, type SummedUsage, type UsageSum } from "../../ledger/index.ts"
import { type CallsByStatus, RequestLog } from "../../persistence/index.ts"
import { barChart } from "../web/bar-chart.ts"
import { button, field, searchForm } from "../web/form.ts"
import {
  count,
  counted,
  day,
  empty,
  html,
  linkButton,
  type Part,
  pathCode,
  section,
  stats,
  table,
  usd
} from "../web/html.ts"
import { type Page, type PageContext, show } from "../web/page.ts"
import { daysWithin, lengthOf, offered, type Period, type PeriodAsked, periodAsked, todayOf } from "../web/period.ts"
import {
  type CallsAsked,
  callFields,
  callsAsked,
  callsOf,
  type Keys,
  keysOf,
  linkTo,
  shownName
} from "./calls-asked.ts"
import { meaningOf, statusBadge } from "./statuses.ts"
import { usagePath as path, usageFiles } from "./usage-files.ts"
import { barsOf, callsADay, duringText, periodText, total, usdADay } from "./usage-sums.ts"

/** On the 7th of a month two of the periods have the same days; only the first one is marked. */
const periods = (typed: Period, asked: CallsAsked, today: string) => {
  const all = offered(today)
  const shown = all.find(({ from, to }) => from === typed.from && to === typed.to)
  return html`<nav class="row" aria-label="Period">${all.map((period) => {
    const { from, label, to } = period
    const href = linkTo(path, { from, to, ...asked })
    return period === shown
      ? html`<a class="button primary" aria-current="true" href="${href}">${label}</a>`
      : linkButton(href, label)
  })}</nav>`
}

const filters = (
  { problems, typed }: PeriodAsked,
  asked: CallsAsked,
  keys: Keys,
  now: number
) => html`<div class="stack">
${periods(typed, asked, todayOf(now))}
${searchForm(html`
${field({ name: "from", label: "From", type: "date", value: typed.from, error: problems.from, required: true })}
${field({ name: "to", label: "To", type: "date", value: typed.to, error: problems.to, required: true })}
${callFields(asked, keys)}
${button("Show", "plain")}`)}</div>`

const sums = (caption: string, name: string, rows: ReadonlyArray<UsageSum>, cell: (name: string) => Part) =>
  table({
    caption,
    columns: [
      { label: name },
      { label: "Charged calls", numeric: true },
      { label: "Credits", numeric: true },
      { label: "Cost", numeric: true }
    ],
    rows: rows.map((sum) => [cell(sum.name), count(sum.calls), count(sum.credits), usd(sum.credits)])
  })

const csv = (file: string, rows: string) => ({
  hint: html`<p class="hint">The CSV has a row for every ${rows}.</p>`,
  link: html`<a class="button plain" href="${file}">Download CSV<span class="hidden"> by ${rows}</span></a>`
})

/** `days` is the number of days that the average is taken over. */
const numbers = ({ by_day }: SummedUsage, period: Period, days: number) => {
  const { calls, credits } = total(by_day)
  const isCut = days < lengthOf(period)
  return stats([
    { label: "Charged calls", value: count(calls), more: periodText(period) },
    { label: "Spent", value: usd(credits), more: counted(credits, "credit") },
    {
      label: "A day on average",
      value: usdADay(credits, days),
      more: `${callsADay(calls, days)}${isCut ? `, over ${counted(days, "day")}` : ""}`
    }
  ])
}

const chart = ({ by_day }: SummedUsage, period: Period) => {
  const { bars, unit } = barsOf(by_day, period)
  return barChart({
    id: "calls",
    title: `Charged calls per ${unit}`,
    description: `${counted(total(by_day).calls, "charged call")}, ${periodText(period)}.`,
    bars,
    say: (value) => counted(value, "call"),
    tick: count,
    columns: [unit === "day" ? "Day" : "Month", "Charged calls"]
  })
}

const charged = (usage: SummedUsage, period: Period, keys: Keys, file: string) => {
  const { hint, link } = csv(file, "day, key and endpoint")
  return html`<div class="card">${chart(usage, period)}</div>
${section(
  "By key",
  sums("Charged calls by key", "Key", usage.by_key, (name) => shownName(keys, name))
)}
${section("By endpoint", sums("Charged calls by endpoint", "Endpoint", usage.by_endpoint, pathCode))}
${section(
  "By day",
  html`${hint}${sums("Charged calls by day, newest first", "Day", usage.by_day.toReversed(), day)}`,
  link
)}`
}

const byStatus = (answered: ReadonlyArray<CallsByStatus>, file: string) => {
  const all = answered.reduce((sum, { calls }) => sum + calls, 0)
  if (all === 0) {
    return section(
      "By status",
      empty("No calls", "Calls are counted here as they are answered, also those that were refused and cost nothing.")
    )
  }
  const { hint, link } = csv(file, "day, key, endpoint and status")
  const statuses = table({
    caption: "All calls by status",
    columns: [
      { label: "Status" },
      { label: "Meaning" },
      { label: "All calls", numeric: true },
      { label: "Share", numeric: true }
    ],
    rows: answered.map(({ calls, status }) => [
      statusBadge(status),
      meaningOf(status),
      count(calls),
      `${((100 * calls) / all).toFixed(1)}%`
    ])
  })
  return section(
    "By status",
    html`<p class="hint">Refused calls are also counted here; they cost nothing.</p>${hint}${statuses}`,
    link
  )
}

const shown = Effect.fnUntraced(function* (
  { account, now }: PageContext,
  period: Period,
  asked: CallsAsked,
  keys: Keys
) {
  const wanted = { ...callsOf(account.id, asked), ...period }
  const usage = yield* Administration.use((ledger) => ledger.summedUsage(wanted))
  const statuses = yield* RequestLog.use((log) => log.byStatus(wanted))
  const link = (file: string) => linkTo(file, { ...period, ...asked })
  const days = daysWithin(period, account.created_at.slice(0, 10), todayOf(now))
  return html`<div class="sums">${numbers(usage, period, days)}
${
  usage.by_day.length === 0
    ? html`<div class="card">${empty("No charged calls", `Nothing was charged ${duringText(period)}.`)}</div>`
    : charged(usage, period, keys, link(`${path}.csv`))
}
${byStatus(statuses, link(`${path}/statuses.csv`))}</div>`
})

const usagePage: Page<Administration | RequestLog> = {
  path,
  nav: "Usage",
  get: Effect.fnUntraced(function* (context) {
    const keys = yield* keysOf(context.account.id)
    const asked = yield* callsAsked(context.url.searchParams, keys)
    const when = periodAsked(context.url.searchParams, context.now)
    const head = filters(when, asked, keys, context.now)
    if (when.period === undefined) return show("Usage", head, 422)
    return show("Usage", html`${head}${yield* shown(context, when.period, asked, keys)}`)
  })
}

export const usagePages: ReadonlyArray<Page<Administration | RequestLog>> = [usagePage, ...usageFiles]
