/** `/`: the balance, the cost of this month, calls per day, and how long the balance lasts. */
import { addDays } from "@larder/schemas"
import { Effect } from "effect"
import { Billing, type BillingSettings } from "../../billing/index.ts"
import { Administration, type UsageSum } from "../../ledger/index.ts"
import { limitText, rechargePath } from "../billing/auto-recharge.ts"
import { addUsage, makeBars } from "../usage/usage-sums.ts"
import { barChart } from "../web/bar-chart.ts"
import {
  centsText,
  countText,
  creditsText,
  dayText,
  type Html,
  html,
  type KeyFigure,
  keyFigures,
  linkButton,
  notice,
  pathCode,
  pluralize,
  renderEmptyState,
  section,
  table,
  usdText
} from "../web/html.ts"
import { type Page, show } from "../web/page.ts"
import { defaultDays, getToday, type Period } from "../web/period.ts"
import { calculateSpendingRate, type SpendingRate } from "./spending-rate.ts"

/** A later date would not help with planning. */
const maxDaysLeft = 365
/** Below this the page warns, so that a person can act before a weekend is over. */
const minDaysLeft = 3

const daysLeftFigure = (
  { credits_per_day, days, days_left }: SpendingRate,
  balance: number,
  today: string
): KeyFigure => {
  const label = "Lasts at this rate"
  if (balance <= 0) return { label, value: "Used up", details: "Calls are refused until you add credits." }
  if (days_left === undefined) return { label, value: "–", details: "No calls in the last 7 days." }
  const rate = `${usdText(Math.round(credits_per_day))} a day, by ${days === 1 ? "today's calls so far" : `the last ${days} days`}`
  if (days_left > maxDaysLeft) return { label, value: "Over a year", details: rate }
  const until = days_left === 0 ? "used up within a day" : `until about ${dayText(addDays(today, days_left))}`
  return { label, value: `About ${pluralize(days_left, "day")}`, details: html`${until}<br>${rate}` }
}

/** False if auto-recharge was stopped: a notice on every page states it. */
const rechargeText = ({ recharge }: BillingSettings): Html | false => {
  const { cents, is_configured, is_on, limit, off_reason, trigger_credits } = recharge
  if (is_on) return html`Auto-recharge adds ${centsText(cents)} below ${usdText(trigger_credits)}. ${limitText(limit)}`
  const lead = is_configured ? "Switch on" : "Set up"
  return off_reason === null && html`Auto-recharge is off. <a href="${rechargePath}">${lead}</a>`
}

const balanceWarning = (balance: number, { recharge }: BillingSettings, { days_left }: SpendingRate): Html | false => {
  const addLink = html`<a href="/billing">Add credits</a>`
  if (balance < 0) {
    const refusal =
      "The balance is below zero, because a payment was returned or credits were deducted. Calls are refused until you add credits."
    return notice("bad", html`<p>${refusal} ${addLink}</p>`)
  }
  if (balance < 100) return notice("warning", html`<p>The balance covers few calls, or none. ${addLink}</p>`)
  const isAtCeiling = recharge.limit !== undefined && recharge.limit.by !== "pause"
  if ((recharge.is_on && !isAtCeiling) || days_left === undefined || days_left >= minDaysLeft) return false
  const remainingTime = days_left === 0 ? "less than a day" : `about ${pluralize(days_left, "day")}`
  return notice(
    "warning",
    html`<p>At this rate the balance lasts ${remainingTime}, and auto-recharge is ${recharge.is_on ? "at its ceiling" : "off"}. ${addLink}, or <a href="${rechargePath}">${recharge.is_on ? "raise the ceiling" : "set up auto-recharge"}</a></p>`
  )
}

const callsChart = (byDay: ReadonlyArray<UsageSum>, period: Period) => {
  const { bars } = makeBars(byDay, period)
  const busiest = bars.toSorted((a, b) => b.value - a.value)[0]
  const { calls } = addUsage(byDay)
  return barChart({
    id: "calls",
    title: `Charged calls per day, last ${defaultDays} days`,
    description: `${pluralize(calls, "call")} in ${defaultDays} days; most of them on ${busiest?.label}: ${countText(busiest?.value ?? 0)}.`,
    bars,
    noun: "call",
    columns: ["Day", "Charged calls"]
  })
}

const endpointTable = (sums: ReadonlyArray<UsageSum>) =>
  table("Calls and cost by endpoint", sums, [
    ["Endpoint", ({ name }) => pathCode(name)],
    ["Charged calls", ({ calls }) => countText(calls), "numeric"],
    ["Cost", ({ credits }) => usdText(credits), "numeric"]
  ])

const noCalls = (hasKeys: boolean, createdOn: string, period: Period): Html => {
  if (createdOn < period.from) {
    const text = "Earlier calls and what they cost are under Usage."
    return renderEmptyState(
      `No calls in the last ${defaultDays} days`,
      text,
      linkButton("/usage", "All usage", "plain")
    )
  }
  if (hasKeys) {
    const text = "Call the API with one of your keys, and see here what it costs."
    return renderEmptyState("No calls yet", text, linkButton("/keys", "Your keys", "plain"))
  }
  const text = "Create a key, call the API with it, and see here what it costs."
  return renderEmptyState("No calls yet", text, linkButton("/keys/new", "Create a key", "primary"))
}

export const overviewPage: Page<Administration | Billing> = {
  path: "/",
  nav: "Overview",
  showsSampleNotice: true,
  get: Effect.fnUntraced(function* ({ account, now }) {
    const today = getToday(now)
    const month = `${today.slice(0, 8)}01`
    const period = { from: addDays(today, 1 - defaultDays), to: today }
    const administration = yield* Administration
    const billing = yield* Billing
    const { by_day, by_endpoint } = yield* administration.summedUsage({ account_id: account.id, ...period })
    const settings = yield* billing.settings(account.id)
    const keys = by_day.length === 0 ? yield* administration.listKeys({ account_id: account.id }) : []
    const spent = addUsage(by_day.filter(({ name }) => name >= month))
    const rate = calculateSpendingRate(by_day, account.balance_credits, now)
    return show(
      "Overview",
      html`${balanceWarning(account.balance_credits, settings, rate)}
${keyFigures([
  {
    label: "Balance",
    value: usdText(account.balance_credits),
    details: html`${creditsText(account.balance_credits)}<br>${rechargeText(settings)}`
  },
  {
    label: "Spent this month",
    value: usdText(spent.credits),
    details: html`${pluralize(spent.calls, "charged call")}<br>since ${dayText(month)}`
  },
  daysLeftFigure(rate, account.balance_credits, today)
])}
${section(
  "Calls",
  by_day.length === 0
    ? noCalls(
        keys.some(({ revoked_at }) => revoked_at === null),
        account.created_at.slice(0, 10),
        period
      )
    : callsChart(by_day, period),
  by_day.length > 0 && html`<a href="/usage">All usage</a>`
)}
${by_endpoint.length > 0 && section(`Last ${defaultDays} days by endpoint`, endpointTable(by_endpoint))}`
    )
  })
}
