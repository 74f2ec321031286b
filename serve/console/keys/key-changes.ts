/**
 * Two people may have the form of one key open. The form carries the values that it showed, so that only the person's
 * own changes are saved: a page opened before a colleague narrowed the key does not widen it again.
 */
import { scopes as allScopes, type Scope } from "@larder/schemas"
import { Struct } from "effect"
import type { KeySummary } from "../../ledger/index.ts"
import type { Form, Problems } from "../web/form.ts"
import { type Html, html, momentText } from "../web/html.ts"
import { budgetInWords, fieldsOf, type KeyChoice, type KeyFields } from "./key-form.ts"
import { scopesInWords } from "./scope-groups.ts"

const settings = [
  "name",
  "scopes",
  "budget_credits",
  "daily_budget_credits",
  "weekly_budget_credits",
  "expires_at"
] as const

/** The settings of a key as text, for comparison and for a form. */
export type ShownKey = Readonly<Record<(typeof settings)[number], string>>

const textsOf = (of: {
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly budget_credits: number
  readonly daily_budget_credits: number | null
  readonly weekly_budget_credits: number | null
  readonly expires_at: string | null
}): ShownKey => ({
  name: of.name,
  scopes: allScopes.filter((scope) => of.scopes.includes(scope)).join(" "),
  budget_credits: String(of.budget_credits),
  daily_budget_credits: String(of.daily_budget_credits ?? ""),
  weekly_budget_credits: String(of.weekly_budget_credits ?? ""),
  expires_at: of.expires_at ?? ""
})

const creditsOf = (usd: number) => Math.round(usd * 1000)
const creditsOrNull = (usd: number | null) => (usd === null ? null : creditsOf(usd))

export const shownOf = ({ budget_usd, daily_budget_usd, weekly_budget_usd, ...key }: KeySummary): ShownKey =>
  textsOf({
    ...key,
    budget_credits: creditsOf(budget_usd),
    daily_budget_credits: creditsOrNull(daily_budget_usd),
    weekly_budget_credits: creditsOrNull(weekly_budget_usd)
  })

export const shownInputs = (shown: ShownKey): ReadonlyArray<Html> =>
  settings.map((setting) => html`<input type="hidden" name="shown_${setting}" value="${shown[setting]}">`)

/** If a form does not carry the shown values, all its fields count as changed. */
export const shownIn = (form: Form): ShownKey => ({
  name: form.exact("shown_name"),
  scopes: form.exact("shown_scopes"),
  budget_credits: form.exact("shown_budget_credits"),
  daily_budget_credits: form.exact("shown_daily_budget_credits"),
  weekly_budget_credits: form.exact("shown_weekly_budget_credits"),
  expires_at: form.exact("shown_expires_at")
})

interface Changes {
  readonly changed: Partial<KeyChoice>
  /** Settings that another person has changed to a different value in the meantime. */
  readonly problems: Problems
  /** Fields for showing the form again: the person's changes, and the current value of every other field. */
  readonly fields: KeyFields
}

const budgetNow = (budgetUsd: number | null, period: string) =>
  budgetUsd === null ? `there is no budget per ${period}` : `the budget is ${budgetInWords(budgetUsd)} a ${period}`

export const changesOf = (key: KeySummary, shown: ShownKey, chosen: KeyChoice, typed: KeyFields): Changes => {
  const [now, wanted, current] = [shownOf(key), textsOf(chosen), fieldsOf(key)]
  const changed = settings.filter((setting) => wanted[setting] !== shown[setting])
  const isContested = (setting: (typeof settings)[number]) =>
    changed.includes(setting) && now[setting] !== shown[setting] && now[setting] !== wanted[setting]
  const { access, scopes } = changed.includes("scopes") ? typed : current
  const again = "Save again to put your choice in its place."
  return {
    changed: Struct.pick(chosen, changed),
    problems: {
      ...(isContested("name") && { name: `Changed meanwhile: the name is “${key.name}” now. ${again}` }),
      ...(isContested("scopes") && {
        access: `Changed meanwhile: the key may read this now: ${scopesInWords(key.scopes)}. ${again}`
      }),
      ...(isContested("budget_credits") && {
        budget: `Changed meanwhile: the budget is ${budgetInWords(key.budget_usd)} a month now. ${again}`
      }),
      ...(isContested("daily_budget_credits") && {
        daily_budget: `Changed meanwhile: ${budgetNow(key.daily_budget_usd, "day")} now. ${again}`
      }),
      ...(isContested("weekly_budget_credits") && {
        weekly_budget: `Changed meanwhile: ${budgetNow(key.weekly_budget_usd, "week")} now. ${again}`
      }),
      ...(isContested("expires_at") && {
        expires_at: `Changed meanwhile: the key ${key.expires_at === null ? "does not expire" : `expires at ${momentText(key.expires_at)}`} now. ${again}`
      })
    },
    fields: {
      name: changed.includes("name") ? typed.name : current.name,
      access,
      scopes,
      budget: changed.includes("budget_credits") ? typed.budget : current.budget,
      daily_budget: changed.includes("daily_budget_credits") ? typed.daily_budget : current.daily_budget,
      weekly_budget: changed.includes("weekly_budget_credits") ? typed.weekly_budget : current.weekly_budget,
      expires_at: changed.includes("expires_at") ? typed.expires_at : current.expires_at
    }
  }
}
