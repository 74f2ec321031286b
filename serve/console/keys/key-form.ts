/** The form of a new or existing key: name, scopes by preset or one by one, budget and expiry. */
import { scopes as allScopes, type Scope } from "@larder/schemas"
import { Record, Schema, Struct } from "effect"
import { type Administration, type KeySummary, PrintableText, parseTypedTimestamp } from "../../ledger/index.ts"
import { choices, dollarField, field, isVisible, type Problems, parseCredits, type SentForm } from "../web/form.ts"
import { type Html, html, pathCode, usdText } from "../web/html.ts"
import {
  customPreset,
  everythingPreset,
  findPreset,
  findPresetScopes,
  priceText,
  scopeGroups,
  scopesText,
  unbrokenList
} from "./scope-groups.ts"

/** Initial values of the form, except scopes. The expiry may be empty. */
const initialTexts = {
  name: "",
  access: everythingPreset,
  budget: "25.00",
  expires_at: ""
}

export interface KeyFields extends Readonly<typeof initialTexts> {
  readonly scopes: ReadonlyArray<string>
}

export type KeyChoice = Required<Omit<Parameters<Administration["Service"]["createKey"]>[0], "account_id">>

export const newKeyFields: KeyFields = { ...initialTexts, scopes: [] }

export const fillKeyFields = (key: KeySummary): KeyFields => ({
  name: key.name,
  access: findPreset(key.scopes),
  scopes: key.scopes,
  budget: budgetText(key.budget_usd).replace("$", ""),
  expires_at: (key.expires_at ?? "").replace("T", " ").replace(/(:00)?\.000Z$/, "")
})

export const readKeyFields = (form: SentForm): KeyFields => ({
  ...Record.map(initialTexts, (_, name) => form.text(name)),
  scopes: form.all("scopes")
})

const isPrintable = Schema.is(PrintableText)
/** The name is a link, so it must be visible. */
const isName = (text: string) => isPrintable(text) && isVisible(text)

/** The field of each setting, and the problem if its value is not valid. */
export const settings = {
  name: { field: "name", problem: "Give the key a name of 1 to 200 characters." },
  scopes: { field: "access", problem: "Choose at least one scope." },
  budget_credits: {
    field: "budget",
    problem: "Give a budget in dollars, such as 25 or 12.50; 0\u00a0pauses the key."
  },
  expires_at: { field: "expires_at", problem: "Give a time such as 2027-01-31 00:00, or leave it empty." }
} as const

type Parsed = { readonly [Setting in keyof KeyChoice]: KeyChoice[Setting] | undefined }
const isComplete = (parsed: Parsed): parsed is KeyChoice => Object.values(parsed).every((value) => value !== undefined)

/** The chosen settings, or the problems with them. */
export const parseKeyFields = (fields: KeyFields): KeyChoice | { readonly problems: Problems } => {
  // a form may name a scope twice
  const chosen = allScopes.filter((scope) => fields.scopes.includes(scope))
  const [first, ...rest] = findPresetScopes(fields.access) ?? chosen
  const parsed: Parsed = {
    name: isName(fields.name) ? fields.name : undefined,
    scopes: first && [first, ...rest],
    budget_credits: parseCredits(fields.budget),
    expires_at: fields.expires_at === "" ? null : parseTypedTimestamp(fields.expires_at)
  }
  if (isComplete(parsed)) return parsed
  const invalid = Struct.keys(settings).filter((setting) => parsed[setting] === undefined)
  return { problems: Object.fromEntries(invalid.map((name) => [settings[name].field, settings[name].problem])) }
}

const presetOptions = [
  { value: everythingPreset, label: "Everything", hint: `All data sets – ${priceText(allScopes)}` },
  ...scopeGroups.map(({ dataSet, preset, scopes }) => {
    const names = scopes.map(({ scope }) => scope)
    return { value: preset, label: dataSet, hint: html`${unbrokenList(names.join(", "))}– ${priceText(names)}` }
  }),
  { value: customPreset, label: "Choose scopes one by one" }
]

export const keyFieldset = (fields: KeyFields, problems: Problems, isFocused = false): Html => html`${field({
  name: "name",
  label: "Name",
  value: fields.name,
  hint: "For you: where the key is used, such as “price dashboard”.",
  error: problems.name,
  required: true,
  maxlength: 200,
  autofocus: isFocused
})}
${choices({ type: "radio", name: "access", legend: "May read", options: presetOptions, chosen: [fields.access], error: problems.access })}
<div class="scope-groups">${scopeGroups.map((group) =>
  choices({
    type: "checkbox",
    name: "scopes",
    id: `scopes-${group.preset}`,
    legend: group.dataSet,
    options: group.scopes.map(({ paths, scope }) => ({
      value: scope,
      label: scope,
      hint: html`${paths.map((path, index) => html`${index > 0 && ", "}${pathCode(path)}`)} – ${priceText([scope])}`
    })),
    chosen: fields.scopes
  })
)}</div>
${dollarField({
  name: "budget",
  label: "Budget per month, in US dollars",
  value: fields.budget,
  hint: "The key spends no more than this in a calendar month (UTC). 0\u00a0pauses it.",
  error: problems.budget,
  required: true
})}
${field({
  name: "expires_at",
  label: "Expires, in UTC",
  value: fields.expires_at,
  hint: "The key is refused from this time on, such as 2027-01-31 00:00. Leave it empty for a key that does not expire.",
  error: problems.expires_at
})}`

export const expiryPassed: Problems = {
  expires_at: "This time has passed. Give one in the future, or leave it empty."
}

/** `$12.50`, from an amount in USD. */
export const budgetText = (budgetUsd: number): string => usdText(Math.round(budgetUsd * 1000))
export const spentText = (spentUsd: number, budgetUsd: number): string =>
  `${budgetText(spentUsd)} of ${budgetText(budgetUsd)}`

/** What a key may do, in whole sentences. */
export const permissionText = ({
  budget_usd,
  scopes,
  spent_usd
}: Pick<KeySummary, "budget_usd" | "spent_usd"> & { readonly scopes: ReadonlyArray<Scope> }): string => {
  const allowed = findPreset(scopes) === everythingPreset ? "everything" : scopesText(scopes)
  if (budget_usd === 0) return `It may read ${allowed}. It is paused: its budget is 0.`
  const text = `It may read ${allowed}. It may spend up to ${budgetText(budget_usd)} a month`
  return spent_usd < budget_usd
    ? `${text}.`
    : `${text}, and has spent ${budgetText(spent_usd)}: its calls are refused until the next month.`
}
