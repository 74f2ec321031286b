/**
 * Finds what a person changed in the form of a key, because only that is saved. The form contains the values that it
 * showed: a form that was opened before a colleague narrowed the key does not widen it again.
 */
import { scopes as allScopes, type Scope } from "@larder/schemas"
import { Record, Struct } from "effect"
import type { KeySummary } from "../../ledger/index.ts"
import { hiddenInput, type Problems, type SentForm } from "../web/form.ts"
import { type Html, timeText } from "../web/html.ts"
import { budgetText, fillKeyFields, type KeyChoice, type KeyFields, settings } from "./key-form.ts"
import { scopesText } from "./scope-groups.ts"

type Setting = keyof typeof settings
const settingNames = Struct.keys(settings)

/** The settings of a key as strings, for comparison and for a form. */
export type ShownSettings = Readonly<Record<Setting, string>>

const settingTexts = (
  choice: Omit<KeyChoice, "scopes"> & { readonly scopes: ReadonlyArray<Scope> }
): ShownSettings => ({
  ...Record.map(settings, (_, setting) => String(choice[setting] ?? "")),
  scopes: allScopes.filter((scope) => choice.scopes.includes(scope)).join(" ")
})

export const readCurrentSettings = (key: KeySummary): ShownSettings =>
  settingTexts({ ...key, budget_credits: Math.round(key.budget_usd * 1000) })

export const hiddenInputs = (shown: ShownSettings): ReadonlyArray<Html> =>
  settingNames.map((setting) => hiddenInput(`shown_${setting}`, shown[setting]))

/** If a form does not contain the shown values, all its fields with a value count as changed. */
export const readShownSettings = (form: SentForm): ShownSettings =>
  Record.map(settings, (_, setting) => form.exact(`shown_${setting}`))

interface Changes {
  readonly changed: Partial<KeyChoice>
  /** Settings that another person has changed to a different value in the meantime. */
  readonly problems: Problems
  /** Fields for showing the form again: the person's changes, and the current value of every other field. */
  readonly fields: KeyFields
}

const currentTexts = (key: KeySummary): Readonly<Record<Setting, string>> => ({
  name: `the name is “${key.name}” now`,
  scopes: `the key may read this now: ${scopesText(key.scopes)}`,
  budget_credits: `the budget is ${budgetText(key.budget_usd)} a month now`,
  expires_at: `the key ${key.expires_at === null ? "does not expire" : `expires at ${timeText(key.expires_at)}`} now`
})

export const compareChanges = (key: KeySummary, shown: ShownSettings, chosen: KeyChoice, typed: KeyFields): Changes => {
  const [current, chosenTexts, texts] = [readCurrentSettings(key), settingTexts(chosen), currentTexts(key)]
  const changed = settingNames.filter((setting) => chosenTexts[setting] !== shown[setting])
  const conflicting = changed.filter(
    (setting) => current[setting] !== shown[setting] && current[setting] !== chosenTexts[setting]
  )
  const changedFields = [
    ...changed.map((setting) => settings[setting].field),
    ...(changed.includes("scopes") ? ["scopes" as const] : [])
  ]
  return {
    changed: Struct.pick(chosen, changed),
    problems: Object.fromEntries(
      conflicting.map((setting) => [
        settings[setting].field,
        `Changed since you opened this page: ${texts[setting]}. Save again to use your value instead.`
      ])
    ),
    fields: { ...fillKeyFields(key), ...Struct.pick(typed, changedFields) }
  }
}
