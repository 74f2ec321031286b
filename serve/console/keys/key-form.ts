/** The form of a new or existing key: name, scopes by preset or one by one, budgets and expiry. */
import { scopes as allScopes, type Scope } from "@larder/schemas"
import { Schema } from "effect"
import {
  type BudgetCredits,
  type KeySummary,
  PrintableText,
  parseTypedTimestamp,
  type Scopes
} from "../../ledger/index.ts"
import { choices, creditsTyped, type Form, field, isVisible, type Problems } from "../web/form.ts"
import { type Html, html, pathCode, usd } from "../web/html.ts"
import {
  chosenOneByOne,
  everything,
  presetOf,
  priceInWords,
  scopeGroups,
  scopesInWords,
  scopesOfPreset,
  unbroken
} from "./scope-groups.ts"

/** The values of the form's fields. */
export interface KeyFields {
  readonly name: string
  readonly access: string
  readonly scopes: ReadonlyArray<string>
  readonly budget: string
  /** Empty for no budget. The next two fields are also optional. */
  readonly daily_budget: string
  readonly weekly_budget: string
  readonly expires_at: string
}

export interface KeyChoice {
  readonly name: string
  readonly scopes: typeof Scopes.Type
  readonly budget_credits: typeof BudgetCredits.Type
  readonly daily_budget_credits: typeof BudgetCredits.Type | null
  readonly weekly_budget_credits: typeof BudgetCredits.Type | null
  readonly expires_at: string | null
}

export const newKeyFields: KeyFields = {
  name: "",
  access: everything,
  scopes: [],
  budget: "25.00",
  daily_budget: "",
  weekly_budget: "",
  expires_at: ""
}

const dollars = (budgetUsd: number) => budgetInWords(budgetUsd).replace("$", "")
const dollarsOrNothing = (budgetUsd: number | null) => (budgetUsd === null ? "" : dollars(budgetUsd))

export const fieldsOf = (key: {
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly budget_usd: number
  readonly daily_budget_usd: number | null
  readonly weekly_budget_usd: number | null
  readonly expires_at: string | null
}): KeyFields => ({
  name: key.name,
  access: presetOf(key.scopes),
  scopes: key.scopes,
  budget: dollars(key.budget_usd),
  daily_budget: dollarsOrNothing(key.daily_budget_usd),
  weekly_budget: dollarsOrNothing(key.weekly_budget_usd),
  expires_at: (key.expires_at ?? "").replace("T", " ").replace(/(:00)?\.000Z$/, "")
})

export const fieldsIn = (form: Form): KeyFields => ({
  name: form.text("name"),
  access: form.text("access"),
  scopes: form.all("scopes"),
  budget: form.text("budget"),
  daily_budget: form.text("daily_budget"),
  weekly_budget: form.text("weekly_budget"),
  expires_at: form.text("expires_at")
})

const isLine = Schema.is(PrintableText)
/** An invisible name would be an invisible link. */
const isName = (text: string) => isLine(text) && isVisible(text)

const creditsOrNothing = (text: string) => (text === "" ? null : creditsTyped(text))
const noBudget = "Give a budget in dollars, such as 25 or 12.50, or nothing."

/** The chosen settings, or the problems with them. */
export const chosenIn = (fields: KeyFields): KeyChoice | { readonly problems: Problems } => {
  const [first, ...rest] = scopesOfPreset(fields.access) ?? allScopes.filter((scope) => fields.scopes.includes(scope)) // each once
  const budget_credits = creditsTyped(fields.budget)
  const daily_budget_credits = creditsOrNothing(fields.daily_budget)
  const weekly_budget_credits = creditsOrNothing(fields.weekly_budget)
  const expires_at = fields.expires_at === "" ? null : parseTypedTimestamp(fields.expires_at)
  if (
    isName(fields.name) &&
    first !== undefined &&
    budget_credits !== undefined &&
    daily_budget_credits !== undefined &&
    weekly_budget_credits !== undefined &&
    expires_at !== undefined
  ) {
    const budgets = { budget_credits, daily_budget_credits, weekly_budget_credits }
    return { name: fields.name, scopes: [first, ...rest], ...budgets, expires_at }
  }
  return {
    problems: {
      ...(!isName(fields.name) && { name: "Give the key a name of 1 to 200 characters." }),
      ...(first === undefined && { access: "Choose at least one scope." }),
      ...(budget_credits === undefined && {
        budget: "Give a budget in dollars, such as 25 or 12.50; 0\u00a0pauses the key."
      }),
      ...(daily_budget_credits === undefined && { daily_budget: noBudget }),
      ...(weekly_budget_credits === undefined && { weekly_budget: noBudget }),
      ...(expires_at === undefined && { expires_at: "Give a moment such as 2027-01-31 00:00, or nothing." })
    }
  }
}

const presets = [
  { value: everything, label: "Everything", hint: `All data sets – ${priceInWords(allScopes)}` },
  ...scopeGroups.map(({ dataSet, preset, scopes }) => {
    const names = scopes.map(({ scope }) => scope)
    return { value: preset, label: dataSet, hint: html`${unbroken(names.join(", "))}– ${priceInWords(names)}` }
  }),
  { value: chosenOneByOne, label: "Choose scopes one by one" }
]

export const keyFieldset = (fields: KeyFields, problems: Problems, focus?: "name"): Html => html`${field({
  name: "name",
  label: "Name",
  value: fields.name,
  hint: "For you: where the key is used, such as “price dashboard”.",
  error: problems.name,
  required: true,
  maxlength: 200,
  autofocus: focus === "name"
})}
${choices({ type: "radio", name: "access", legend: "May read", options: presets, chosen: [fields.access], error: problems.access })}
<div class="scope-groups">${scopeGroups.map((group) =>
  choices({
    type: "checkbox",
    name: "scopes",
    id: `scopes-${group.preset}`,
    legend: group.dataSet,
    options: group.scopes.map(({ paths, scope }) => ({
      value: scope,
      label: scope,
      hint: html`${paths.map((path, index) => html`${index > 0 && ", "}${pathCode(path)}`)} – ${priceInWords([scope])}`
    })),
    chosen: fields.scopes
  })
)}</div>
${field({
  name: "budget",
  label: "Budget per month, in US dollars",
  value: fields.budget,
  hint: "The key spends no more than this in a calendar month (UTC). 0\u00a0pauses it.",
  error: problems.budget,
  inputmode: "decimal",
  prefix: "$",
  required: true
})}
${field({
  name: "weekly_budget",
  label: "Budget per week, in US dollars",
  value: fields.weekly_budget,
  hint: "From Monday to Sunday (UTC). Leave it empty where the month alone counts.",
  error: problems.weekly_budget,
  inputmode: "decimal",
  prefix: "$"
})}
${field({
  name: "daily_budget",
  label: "Budget per day, in US dollars",
  value: fields.daily_budget,
  hint: "From midnight to midnight (UTC). Leave it empty where longer budgets alone count.",
  error: problems.daily_budget,
  inputmode: "decimal",
  prefix: "$"
})}
${field({
  name: "expires_at",
  label: "Expires, in UTC",
  value: fields.expires_at,
  hint: "From this moment on the key is refused, such as 2027-01-31 00:00. Leave it empty for a key that does not expire.",
  error: problems.expires_at
})}`

export const expiryPassed: Problems = { expires_at: "This moment has passed. Give one in the future, or nothing." }

/** A budget in words, from a number of USD such as `12.5`. */
export const budgetInWords = (budgetUsd: number): string => usd(Math.round(budgetUsd * 1000))
export const spentInWords = (spentUsd: number, budgetUsd: number): string =>
  `${usd(Math.round(spentUsd * 1000))} of ${budgetInWords(budgetUsd)}`

/** A budget of a key, and the spent part. */
export interface BudgetSpent {
  readonly period: "day" | "week" | "month"
  readonly budget_usd: number
  readonly spent_usd: number
}

type Budgets = Pick<
  KeySummary,
  "budget_usd" | "spent_usd" | "daily_budget_usd" | "spent_today_usd" | "weekly_budget_usd" | "spent_this_week_usd"
>

/** The shortest period first. */
export const budgetsOf = (key: Budgets): ReadonlyArray<BudgetSpent> => {
  const { daily_budget_usd, spent_this_week_usd, spent_today_usd, weekly_budget_usd } = key
  const budgets: Array<BudgetSpent> = []
  if (daily_budget_usd !== null) {
    budgets.push({ period: "day", budget_usd: daily_budget_usd, spent_usd: spent_today_usd ?? 0 })
  }
  if (weekly_budget_usd !== null) {
    budgets.push({ period: "week", budget_usd: weekly_budget_usd, spent_usd: spent_this_week_usd ?? 0 })
  }
  return [...budgets, { period: "month", budget_usd: key.budget_usd, spent_usd: key.spent_usd }]
}

const listed = (parts: ReadonlyArray<string>) =>
  parts.length === 1 ? parts.join() : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`

/** What a key may do, in whole sentences. */
export const permissionInWords = (key: Budgets & { readonly scopes: ReadonlyArray<Scope> }): string => {
  const read = presetOf(key.scopes) === everything ? "everything" : scopesInWords(key.scopes)
  const budgets = budgetsOf(key)
  if (budgets.some(({ budget_usd }) => budget_usd === 0)) return `It may read ${read}. It is paused: its budget is 0.`
  const limits = budgets.map(({ budget_usd, period }) => `${budgetInWords(budget_usd)} a ${period}`)
  const may = `It may read ${read}. It may spend up to ${listed(limits)}`
  const used = budgets.findLast(({ budget_usd, spent_usd }) => spent_usd >= budget_usd)
  if (used === undefined) return `${may}.`
  return `${may}, and has spent ${budgetInWords(used.spent_usd)}: its calls are refused until the next ${used.period}.`
}
