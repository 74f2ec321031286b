/**
 * Two people may have the form of one key open. The form carries what it showed, so that only what its person changed is
 * saved: a page that was opened before a colleague narrowed the key does not open it wide again.
 */
import { scopes as allScopes, type Scope } from "@larder/schemas/scopes.ts"
import { Struct } from "effect"
import type { KeySummary } from "../../ledger/administration.ts"
import type { Form, Problems } from "../form.ts"
import { type Html, html, momentText } from "../html.ts"
import { scopesInWords } from "../scope-groups.ts"
import { budgetInWords, fieldsOf, type KeyChoice, type KeyFields } from "./key-form.ts"

const settings = ["name", "scopes", "budget_credits", "expires_at"] as const

/** The settings of a key as texts: to be compared, and carried by a form. */
export type ShownKey = Readonly<Record<(typeof settings)[number], string>>

const textsOf = (of: {
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly budget_credits: number
  readonly expires_at: string | null
}): ShownKey => ({
  name: of.name,
  scopes: allScopes.filter((scope) => of.scopes.includes(scope)).join(" "),
  budget_credits: String(of.budget_credits),
  expires_at: of.expires_at ?? ""
})

export const shownOf = ({ budget_usd, expires_at, name, scopes }: KeySummary): ShownKey =>
  textsOf({ name, scopes, budget_credits: Math.round(budget_usd * 1000), expires_at })

export const shownInputs = (shown: ShownKey): ReadonlyArray<Html> =>
  settings.map((setting) => html`<input type="hidden" name="shown_${setting}" value="${shown[setting]}">`)

/** Where a form does not carry it, everything in it counts as changed. */
export const shownIn = (form: Form): ShownKey => ({
  name: form.exact("shown_name"),
  scopes: form.exact("shown_scopes"),
  budget_credits: form.exact("shown_budget_credits"),
  expires_at: form.exact("shown_expires_at")
})

interface Changes {
  readonly changed: Partial<KeyChoice>
  /** What somebody else has changed meanwhile to something else. */
  readonly problems: Problems
  /** The form to be shown anew: what the person changed, and all else as it is now. */
  readonly fields: KeyFields
}

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
      ...(isContested("expires_at") && {
        expires_at: `Changed meanwhile: the key ${key.expires_at === null ? "does not expire" : `expires at ${momentText(key.expires_at)}`} now. ${again}`
      })
    },
    fields: {
      name: changed.includes("name") ? typed.name : current.name,
      access,
      scopes,
      budget: changed.includes("budget_credits") ? typed.budget : current.budget,
      expires_at: changed.includes("expires_at") ? typed.expires_at : current.expires_at
    }
  }
}
