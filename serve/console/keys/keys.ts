/** `/keys`: the keys of the account, with the spending and the last use of each. */
import { daysBefore } from "@larder/schemas"
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/index.ts"
import { lastUseDays, RequestLog } from "../../persistence/index.ts"
import {
  badge,
  count,
  day,
  empty,
  type Html,
  html,
  linkButton,
  moment,
  type Part,
  paging,
  section,
  table,
  usd
} from "../web/html.ts"
import { type Page, PageNotFound, show } from "../web/page.ts"
import { todayOf } from "../web/period.ts"
import { type BudgetSpent, budgetsOf, spentInWords } from "./key-form.ts"
import { isExpired } from "./own-key.ts"
import { cheapestCall, scopesInWords, unbroken } from "./scope-groups.ts"

const perPage = 100

export const shownKey = ({ last4 }: { readonly last4: string }) => html`<code class="nowrap">svc_data_…${last4}</code>`

/** The unspent part of the budget, in credits. */
const leftOf = ({ budget_usd, spent_usd }: Omit<BudgetSpent, "period">) => Math.round((budget_usd - spent_usd) * 1000)

/**
 * The spent budget with the longest period. A budget is spent once the unspent part does not cover the key's cheapest
 * call: then every call is refused.
 */
const spentBudget = (key: KeySummary) => budgetsOf(key).findLast((budget) => leftOf(budget) < cheapestCall(key.scopes))
const spentBadges = { month: "budget spent", week: "week’s budget spent", day: "day’s budget spent" }

/** The state that the key's next call would meet. */
export const stateBadge = (key: KeySummary, now: number): Html => {
  if (key.revoked_at !== null) return badge("revoked", "bad")
  if (isExpired(key, now)) return badge("expired", "bad")
  if (budgetsOf(key).some(({ budget_usd }) => budget_usd === 0)) return badge("paused", "warning")
  const spent = spentBudget(key)
  return spent === undefined ? badge("active", "good") : badge(spentBadges[spent.period], "warning")
}

/** False for a key that does not expire. */
export const expiry = (key: KeySummary, now: number): Part =>
  key.expires_at !== null && html`${isExpired(key, now) ? "expired" : "expires"} ${moment(key.expires_at)}`

/** A bar that changes its colour also has a text. */
const spent = (key: KeySummary, now: number) => {
  const { budget_usd, name, spent_usd } = key
  const text = spentInWords(spent_usd, budget_usd)
  if (budget_usd === 0 || isExpired(key, now)) return html`${text} ${stateBadge(key, now)}`
  const nearly = leftOf(key) * 5 <= budget_usd * 1000
  const left = html`<small class="muted nowrap">${usd(leftOf(key))} left</small>`
  return html`${text} ${spentBudget(key) === undefined ? nearly && left : stateBadge(key, now)}<progress${
    nearly && html` class="warning"`
  } max="${budget_usd}" value="${Math.min(spent_usd, budget_usd)}" aria-label="Spent of the budget of ${name}"></progress>`
}

/** Only a day if the call itself is no longer kept. */
export const lastUsed = ({ created_at }: KeySummary, used: string | undefined, today: string) => {
  if (used === undefined) {
    const isNew = created_at.slice(0, 10) >= daysBefore(today, lastUseDays)
    return html`<span class="muted">${isNew ? "not yet" : `not in ${lastUseDays} days`}</span>`
  }
  return used.length === "2026-10-15".length ? day(used) : moment(used)
}

const yourKeys = (keys: ReadonlyArray<KeySummary>, lastUses: ReadonlyMap<string, string>, now: number) =>
  table({
    caption: "Your keys",
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
        html`<a class="key-name" href="/keys/${key.id}"><strong>${key.name}</strong></a>`,
        html`${shownKey(key)}${key.expires_at !== null && html` <small class="muted">${expiry(key, now)}</small>`}`,
        unbroken(scopesInWords(key.scopes)),
        spent(key, now),
        lastUsed(key, lastUses.get(key.id), todayOf(now)),
        html`<a class="bad" href="/keys/${key.id}/revoke" aria-label="Revoke ${key.name}">Revoke</a>`
      ]
    )
  })

/** Revoked keys are behind a link, because there may be many more of them than of other keys. */
const revokedLink = (keys: ReadonlyArray<KeySummary>) =>
  html`<p class="links"><a href="/keys?revoked=1#revoked">Revoked keys (${count(keys.length)})</a></p>`

const revokedTable = (keys: ReadonlyArray<KeySummary>) =>
  table({
    caption: "Revoked keys",
    stacks: true,
    columns: [
      { label: "Name" },
      { label: "Key" },
      { label: "Spent this month" },
      { label: "Created" },
      { label: "Revoked" }
    ],
    rows: keys.map((key) => [
      html`<a class="key-name" href="/keys/${key.id}">${key.name}</a>`,
      shownKey(key),
      spentInWords(key.spent_usd, key.budget_usd),
      day(key.created_at),
      key.revoked_at && moment(key.revoked_at)
    ])
  })

const revokedKeys = ({ keys, links, of }: Shown) =>
  html`<div id="revoked">${section(
    `Revoked keys (${count(of)})`,
    html`${revokedTable(keys)}${links}`,
    html`<a href="/keys">Hide</a>`
  )}</div>`

const none = (revoked: number) =>
  empty(
    revoked === 0 ? "No keys yet" : "All your keys are revoked",
    "A key lets a program read the data. It has its own budget, and you can revoke it at any time.",
    linkButton("/keys/new", "Create a key", "primary")
  )

/** One page of a list, with links to the previous and next pages. */
interface Shown {
  readonly keys: ReadonlyArray<KeySummary>
  readonly links: Html | null
  /** Length of the whole list. */
  readonly of: number
}

interface Paged {
  /** Number of the page in the address; defaults to the first. */
  readonly asked: string | null
  /** Address of another page. */
  readonly to: (number: number) => string
  readonly label: string
}

const pageOf = Effect.fnUntraced(function* (list: ReadonlyArray<KeySummary>, { asked, label, to }: Paged) {
  const number = Number(asked ?? "1")
  const last = Math.max(1, Math.ceil(list.length / perPage))
  if (!Number.isInteger(number) || number < 1 || number > last) return yield* new PageNotFound()
  const links = paging({
    label,
    newer: number === 1 ? undefined : to(number - 1),
    older: number === last ? undefined : to(number + 1)
  })
  const shown: Shown = { keys: list.slice((number - 1) * perPage, number * perPage), links, of: list.length }
  return shown
})

export const keysPage: Page<Administration | RequestLog> = {
  path: "/keys",
  nav: "Keys",
  get: Effect.fnUntraced(function* ({ account, now, url }) {
    const keys = yield* Administration.use((ledger) => ledger.listKeys({ account_id: account.id }))
    const newest = keys.toSorted((a, b) => b.created_at.localeCompare(a.created_at))
    const yours = newest.filter(({ revoked_at }) => revoked_at === null)
    const revoked = newest.filter(({ revoked_at }) => revoked_at !== null)
    const query = url.searchParams
    const { keys: shown, links } = yield* pageOf(yours, {
      asked: query.get("page"),
      to: (number) => `/keys?page=${number}`,
      label: "Pages of your keys"
    })
    const shownRevoked = yield* pageOf(revoked, {
      asked: query.get("revoked"),
      to: (number) => `/keys?revoked=${number}#revoked`,
      label: "Pages of revoked keys"
    })
    const asked = { account_id: account.id, keys: shown.map(({ id }) => id), today: todayOf(now) }
    const uses = yield* RequestLog.use((log) => log.lastUses(asked))
    const asksRevoked = query.has("revoked") && revoked.length > 0
    return show(
      "Keys",
      html`${section(
        yours.length === 0 ? "Your keys" : `Your keys (${count(yours.length)})`,
        html`${yours.length === 0 ? none(revoked.length) : yourKeys(shown, uses, now)}${links}${
          !asksRevoked && revoked.length > 0 && revokedLink(revoked)
        }`,
        yours.length > 0 && linkButton("/keys/new", "Create a key", "primary")
      )}${asksRevoked && revokedKeys(shownRevoked)}`
    )
  })
}
