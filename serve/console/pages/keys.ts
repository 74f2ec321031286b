/** `/keys`: the keys of the account, with what is spent of each and when it was last used. */
import { daysBefore } from "@larder/schemas/dates.ts"
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/administration.ts"
import { lastUseDays, RequestLog } from "../../requests/request-log.ts"
import { badge, count, day, empty, type Html, html, linkButton, moment, type Part, section, table } from "../html.ts"
import { type Page, show } from "../page.ts"
import { cheapestCall, scopesInWords } from "../scope-groups.ts"
import { spentInWords } from "./key-form.ts"
import { todayOf } from "./period.ts"

export const shownKey = ({ last4 }: { readonly last4: string }) => html`<code class="nowrap">svc_data_…${last4}</code>`

/** A key is refused every call once the rest of its budget is less than its cheapest call costs. */
const isSpent = ({ budget_usd, scopes, spent_usd }: KeySummary) =>
  Math.round((budget_usd - spent_usd) * 1000) < cheapestCall(scopes)

/** What its next call would meet. */
export const stateBadge = (key: KeySummary): Html => {
  if (key.revoked_at !== null) return badge("revoked", "bad")
  if (key.budget_usd === 0) return badge("paused", "warning")
  return isSpent(key) ? badge("budget spent", "warning") : badge("valid", "good")
}

const spent = (key: KeySummary) => {
  const { budget_usd, name, spent_usd } = key
  if (budget_usd === 0) return stateBadge(key)
  const nearly = spent_usd >= 0.8 * budget_usd
  return html`${spentInWords(spent_usd, budget_usd)}${isSpent(key) && html` ${stateBadge(key)}`}<progress${
    nearly && html` class="warning"`
  } max="${budget_usd}" value="${Math.min(spent_usd, budget_usd)}" aria-label="Spent of the budget of ${name}"></progress>`
}

/** A day where the call itself is no longer kept. */
const lastUsed = ({ created_at }: KeySummary, used: string | undefined, today: string) => {
  if (used === undefined) {
    const isNew = created_at.slice(0, 10) >= daysBefore(today, lastUseDays)
    return html`<span class="muted">${isNew ? "not yet" : `not in ${lastUseDays} days`}</span>`
  }
  return used.length === "2026-10-15".length ? day(used) : moment(used)
}

const validKeys = (keys: ReadonlyArray<KeySummary>, lastUses: ReadonlyMap<string, string>, today: string) =>
  table({
    caption: "Valid keys",
    stacks: true,
    columns: [
      { label: "Name" },
      { label: "Key" },
      { label: "May read" },
      { label: "Spent this month" },
      { label: "Last used" },
      { label: "Actions", hidden: true }
    ],
    rows: keys.map(
      (key): ReadonlyArray<Part> => [
        html`<a href="/keys/${key.id}"><strong>${key.name}</strong></a>`,
        shownKey(key),
        scopesInWords(key.scopes),
        spent(key),
        lastUsed(key, lastUses.get(key.id), today),
        html`<a href="/keys/${key.id}/revoke" aria-label="Revoke ${key.name}">Revoke</a>`
      ]
    )
  })

/** There may be many more of them than of valid ones. */
const revokedLink = (keys: ReadonlyArray<KeySummary>) =>
  html`<p><a href="/keys?revoked=1#revoked">Revoked keys (${count(keys.length)})</a></p>`

const revokedKeys = (keys: ReadonlyArray<KeySummary>) =>
  html`<div id="revoked">${section(
    `Revoked keys (${count(keys.length)})`,
    table({
      caption: "Revoked keys",
      stacks: true,
      columns: [{ label: "Name" }, { label: "Key" }, { label: "Created" }, { label: "Revoked" }],
      rows: keys.map((key) => [
        html`<a href="/keys/${key.id}">${key.name}</a>`,
        shownKey(key),
        day(key.created_at),
        key.revoked_at && moment(key.revoked_at)
      ])
    }),
    html`<a href="/keys">Hide</a>`
  )}</div>`

const none = empty(
  "No keys yet",
  "A key lets a program read the data. It has its own budget, and you can revoke it at any time.",
  linkButton("/keys/new", "Create a key", "primary")
)

export const keysPage: Page<Administration | RequestLog> = {
  path: "/keys",
  nav: "Keys",
  get: Effect.fnUntraced(function* ({ account, now, url }) {
    const keys = yield* Administration.use((ledger) => ledger.listKeys({ account_id: account.id }))
    const newest = keys.toSorted((a, b) => b.created_at.localeCompare(a.created_at))
    const valid = newest.filter(({ revoked_at }) => revoked_at === null)
    const revoked = newest.filter(({ revoked_at }) => revoked_at !== null)
    const today = todayOf(now)
    const asked = { account_id: account.id, keys: valid.map(({ id }) => id), today }
    const uses = yield* RequestLog.use((log) => log.lastUses(asked))
    const shown = valid.length === 0 ? none : validKeys(valid, uses, today)
    const asksRevoked = url.searchParams.has("revoked") && revoked.length > 0
    return show(
      "Keys",
      html`${section(
        "Your keys",
        html`${shown}${!asksRevoked && revoked.length > 0 && revokedLink(revoked)}`,
        valid.length > 0 && linkButton("/keys/new", "Create a key", "primary")
      )}${asksRevoked && revokedKeys(revoked)}`
    )
  })
}
