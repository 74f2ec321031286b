/**
 * `/keys`: the keys of the account, with the spending and the last use of each. Also finds one key and its state for other
 * pages.
 */
import { addDays } from "@larder/schemas"
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/index.ts"
import { lastUseDays, RequestLog } from "../../persistence/index.ts"
import {
  badge,
  countText,
  dayTag,
  type Html,
  html,
  linkButton,
  renderEmptyState,
  section,
  stackedTable,
  timeTag,
  usdText
} from "../web/html.ts"
import { type Page, type PageContext, PageNotFound, redirect, show } from "../web/page.ts"
import { getToday } from "../web/period.ts"
import { paging } from "../web/query.ts"
import { spentText } from "./key-form.ts"
import { findCheapestPrice, scopesText, unbrokenList } from "./scope-groups.ts"

const perPage = 100

/** Call this before changing a key: it checks that the key belongs to the account. */
export const findOwnKey = Effect.fnUntraced(function* ({ account, params }: PageContext) {
  const keys = yield* Administration.use((ledger) => ledger.listKeys({ account_id: account.id }))
  const key = keys.find(({ id }) => id === params.id)
  return key ?? (yield* new PageNotFound())
})

/** Whether the most recently replaced secret is still accepted. */
export const isFormerKeyAccepted = ({ former_expires_at, revoked_at }: KeySummary, now: number) =>
  revoked_at === null && former_expires_at !== null && Date.parse(former_expires_at) > now

export const isKeyExpired = ({ expires_at }: KeySummary, now: number) =>
  expires_at !== null && Date.parse(expires_at) <= now

export const alreadyRevoked = redirect("/keys", "This key was already revoked, so nothing was changed.", "warning")

export const keyCode = ({ last4 }: { readonly last4: string }) => html`<code class="nowrap">svc_data_…${last4}</code>`

const countUnspentCredits = ({ budget_usd, spent_usd }: Pick<KeySummary, "budget_usd" | "spent_usd">) =>
  Math.round((budget_usd - spent_usd) * 1000)

/** A budget is spent once the unspent part does not cover the key's cheapest call: then every call is refused. */
const isBudgetSpent = (key: KeySummary) => countUnspentCredits(key) < findCheapestPrice(key.scopes)

/** The state of a key, regardless of the balance of its account. */
export const keyStateBadge = (key: KeySummary, now: number): Html => {
  if (key.revoked_at !== null) return badge("revoked", "bad")
  if (isKeyExpired(key, now)) return badge("expired", "bad")
  if (key.budget_usd === 0) return badge("paused", "warning")
  return isBudgetSpent(key) ? badge("budget spent", "warning") : badge("active", "good")
}

/** A bar that changes its colour also has a text. */
const spentCell = (key: KeySummary, now: number) => {
  const { budget_usd, name, spent_usd } = key
  const text = spentText(spent_usd, budget_usd)
  if (budget_usd === 0 || isKeyExpired(key, now)) return html`${text} ${keyStateBadge(key, now)}`
  const isNearlySpent = countUnspentCredits(key) * 5 <= budget_usd * 1000
  const remainder = html`<small class="muted nowrap">${usdText(countUnspentCredits(key))} left</small>`
  return html`${text} ${isBudgetSpent(key) ? keyStateBadge(key, now) : isNearlySpent && remainder}<progress${
    isNearlySpent && html` class="warning"`
  } max="${budget_usd}" value="${Math.min(spent_usd, budget_usd)}" aria-label="Spent of the budget of ${name}"></progress>`
}

/** Shows only a day if the call itself is no longer kept. */
export const lastUsedText = ({ created_at }: KeySummary, lastUse: string | undefined, today: string) => {
  if (lastUse === undefined) {
    const isNew = created_at.slice(0, 10) >= addDays(today, -lastUseDays)
    return html`<span class="muted">${isNew ? "not yet" : `not in ${lastUseDays} days`}</span>`
  }
  return lastUse.length === "2026-10-15".length ? dayTag(lastUse) : timeTag(lastUse)
}

const keysTable = (keys: ReadonlyArray<KeySummary>, lastUses: ReadonlyMap<string, string>, now: number) =>
  stackedTable("Your keys", keys, [
    ["Name", ({ id, name }) => html`<a class="key-name" href="/keys/${id}"><strong>${name}</strong></a>`],
    [
      "Key",
      (key) =>
        html`${keyCode(key)}${key.expires_at !== null && html` <small class="muted">${isKeyExpired(key, now) ? "expired" : "expires"} ${timeTag(key.expires_at)}</small>`}`
    ],
    ["May read", ({ scopes }) => unbrokenList(scopesText(scopes))],
    ["Spent this month", (key) => spentCell(key, now)],
    ["Last used", (key) => lastUsedText(key, lastUses.get(key.id), getToday(now))],
    [
      "Actions",
      ({ id, name }) => html`<a class="bad" href="/keys/${id}/revoke" aria-label="Revoke ${name}">Revoke</a>`,
      "action"
    ]
  ])

const revokedTable = (keys: ReadonlyArray<KeySummary>) =>
  stackedTable("Revoked keys", keys, [
    ["Name", ({ id, name }) => html`<a class="key-name" href="/keys/${id}">${name}</a>`],
    ["Key", keyCode],
    ["Spent this month", ({ budget_usd, spent_usd }) => spentText(spent_usd, budget_usd)],
    ["Created", ({ created_at }) => dayTag(created_at)],
    ["Revoked", ({ revoked_at }) => revoked_at && timeTag(revoked_at)]
  ])

/** Revoked keys are behind a link, because there may be many more of them than of other keys. */
const renderRevokedKeys = (count: number, { links, rows }: ListPage, isShown: boolean) => {
  if (count === 0) return false
  return isShown
    ? html`<div id="revoked">${section(`Revoked keys (${countText(count)})`, html`${revokedTable(rows)}${links}`, html`<a href="/keys">Hide</a>`)}</div>`
    : html`<p class="links"><a href="/keys?revoked=1#revoked">Revoked keys (${countText(count)})</a></p>`
}

const noKeys = (revoked: number) =>
  renderEmptyState(
    revoked === 0 ? "No keys yet" : "All your keys are revoked",
    "A key lets a program read the data. It has its own budget, and you can revoke it at any time.",
    linkButton("/keys/new", "Create a key", "primary")
  )

type ListPage = Effect.Success<ReturnType<typeof readListPage>>

/** By name of the parameter that contains the number of the page. */
const lists = {
  page: { label: "Pages of your keys", anchor: "" },
  revoked: { label: "Pages of revoked keys", anchor: "#revoked" }
}

/** The requested page of a list, or the first one. */
const readListPage = Effect.fnUntraced(function* (
  url: URL,
  parameter: keyof typeof lists,
  keys: ReadonlyArray<KeySummary>
) {
  const { anchor, label } = lists[parameter]
  const number = Number(url.searchParams.get(parameter) ?? "1")
  const lastPage = Math.max(1, Math.ceil(keys.length / perPage))
  const makeLink = (number: number) => `/keys?${parameter}=${number}${anchor}`
  if (!Number.isInteger(number) || number < 1 || number > lastPage) return yield* new PageNotFound()
  const links = paging({
    label,
    newer: number === 1 ? undefined : makeLink(number - 1),
    older: number === lastPage ? undefined : makeLink(number + 1)
  })
  return { rows: keys.slice((number - 1) * perPage, number * perPage), links }
})

export const keysPage: Page<Administration | RequestLog> = {
  path: "/keys",
  nav: "Keys",
  get: Effect.fnUntraced(function* ({ account, now, url }) {
    const keys = yield* Administration.use((ledger) => ledger.listKeys({ account_id: account.id }))
    const newest = keys.toSorted((a, b) => b.created_at.localeCompare(a.created_at))
    const active = newest.filter(({ revoked_at }) => revoked_at === null)
    const revoked = newest.filter(({ revoked_at }) => revoked_at !== null)
    const { links, rows } = yield* readListPage(url, "page", active)
    const revokedPage = yield* readListPage(url, "revoked", revoked)
    const today = getToday(now)
    const lastUses = yield* RequestLog.use((log) =>
      log.lastUses({ account_id: account.id, keys: rows.map(({ id }) => id), today })
    )
    const showsRevoked = url.searchParams.has("revoked")
    const revokedKeys = renderRevokedKeys(revoked.length, revokedPage, showsRevoked)
    return show(
      "Keys",
      html`${section(
        active.length === 0 ? "Your keys" : `Your keys (${countText(active.length)})`,
        html`${active.length === 0 ? noKeys(revoked.length) : keysTable(rows, lastUses, now)}${links}${!showsRevoked && revokedKeys}`,
        active.length > 0 && linkButton("/keys/new", "Create a key", "primary")
      )}${showsRevoked && revokedKeys}`
    )
  })
}
