/** `/`: what is left, what this month has cost, calls per day, and how long the balance lasts. */
import { daysBefore } from "@larder/schemas/dates.ts"
import { Effect } from "effect"
import { Billing, type BillingSettings } from "../../billing/billing.ts"
import { Administration } from "../../ledger/administration.ts"
import type { UsageSum } from "../../ledger/summed-usage.ts"
import { barChart } from "../chart.ts"
import {
  count,
  counted,
  credits,
  dayText,
  empty,
  type Html,
  html,
  linkButton,
  notice,
  pathCode,
  type Stat,
  section,
  shortDayText,
  stats,
  table,
  usd
} from "../html.ts"
import { type Page, show } from "../page.ts"
import { type Pace, paceOf } from "./pace.ts"
import { daysOf, type Period, todayOf } from "./period.ts"
import { total } from "./usage-sums.ts"

/** The longest month, so that the sums of these days are enough for the month so far. */
const shownDays = 31
/** A runway beyond it is no date that anybody plans with. */
const mostDaysLeft = 365

const runway = ({ credits_per_day, days, days_left }: Pace, today: string): Stat => {
  const label = "Lasts at this pace"
  if (days_left === undefined) return { label, value: "–", more: "No calls in the last 7 days." }
  const pace = `${usd(Math.round(credits_per_day))} a day, by ${days === 1 ? "today's calls" : `the last ${days} days`}`
  if (days_left > mostDaysLeft) return { label, value: "Over a year", more: pace }
  const until = days_left === 0 ? "used up within a day" : `until about ${dayText(daysBefore(today, -days_left))}`
  return { label, value: `About ${counted(days_left, "day")}`, more: html`${until}<br>${pace}` }
}

/** Where it went off by itself the warning leads on. */
const recharge = ({ recharge }: BillingSettings): Html => {
  if (recharge.is_on) return html`Auto-recharge is on below ${usd(recharge.trigger_credits)}.`
  return html`Auto-recharge is off.${recharge.off_reason === null && html` <a href="/billing">Set up</a>`}`
}

const warnings = (balance: number, { recharge }: BillingSettings): Html =>
  html`${
    recharge.off_reason !== null &&
    !recharge.is_on &&
    notice(
      "bad",
      html`<p>Auto-recharge was switched off. ${recharge.off_reason} <a href="/billing">Look at billing</a></p>`
    )
  }${
    balance < 0
      ? notice(
          "bad",
          html`<p>The balance is below zero, because money went back. Calls are refused until you add credits. <a href="/billing">Add credits</a></p>`
        )
      : balance < 100 &&
        notice(
          "warning",
          html`<p>The balance covers few calls or none any more. <a href="/billing">Add credits</a></p>`
        )
  }`

const callsChart = (byDay: ReadonlyArray<UsageSum>, period: Period) => {
  const callsOn = new Map(byDay.map(({ calls, name }) => [name, calls]))
  const bars = daysOf(period).map((day) => ({ label: shortDayText(day), value: callsOn.get(day) ?? 0 }))
  const busiest = bars.toSorted((a, b) => b.value - a.value)[0]
  const { calls } = total(byDay)
  return barChart({
    id: "calls",
    title: `Charged calls per day, last ${shownDays} days`,
    description: `${counted(calls, "call")} in ${shownDays} days; most of them on ${busiest?.label}: ${count(busiest?.value ?? 0)}.`,
    bars,
    say: (value) => counted(value, "call"),
    tick: count,
    columns: ["Day", "Calls"]
  })
}

const byEndpoint = (sums: ReadonlyArray<UsageSum>) =>
  table({
    caption: "Calls and cost by endpoint",
    columns: [{ label: "Endpoint" }, { label: "Calls", numeric: true }, { label: "Cost", numeric: true }],
    rows: sums.map(({ calls, credits, name }) => [pathCode(name), count(calls), usd(credits)])
  })

const firstSteps = empty(
  "No calls yet",
  "Create a key, call the API with it, and see here what it costs.",
  linkButton("/keys/new", "Create a key", "primary")
)

export const overviewPage: Page<Administration | Billing> = {
  path: "/",
  nav: "Overview",
  get: Effect.fnUntraced(function* ({ account, now }) {
    const today = todayOf(now)
    const month = `${today.slice(0, 8)}01`
    const period = { from: daysBefore(today, shownDays - 1), to: today }
    const administration = yield* Administration
    const billing = yield* Billing
    const { by_day, by_endpoint } = yield* administration.summedUsage({ account_id: account.id, ...period })
    const settings = yield* billing.settings(account.id)
    const spent = total(by_day.filter(({ name }) => name >= month))
    return show(
      "Overview",
      html`${warnings(account.balance_credits, settings)}
${stats([
  {
    label: "Balance",
    value: usd(account.balance_credits),
    more: html`${credits(account.balance_credits)}<br>${recharge(settings)}`
  },
  {
    label: "This month so far",
    value: usd(spent.credits),
    more: html`${counted(spent.calls, "charged call")}<br>since ${dayText(month)}`
  },
  runway(paceOf(by_day, account.balance_credits, today), today)
])}
${section("Calls", by_day.length === 0 ? firstSteps : callsChart(by_day, period), by_day.length > 0 && html`<a href="/usage">All usage</a>`)}
${by_endpoint.length > 0 && section(`Last ${shownDays} days by endpoint`, byEndpoint(by_endpoint))}`
    )
  })
}
