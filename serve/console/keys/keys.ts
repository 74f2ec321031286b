/** `/keys`: the keys of the account, with the spending and the last use of each. */
import { daysBefore } from "@larder/schemas"
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/index.ts"
import { lastUseDays, RequestLog } from "../../persistence/index.ts"
import {
  actions,
  badge,
  countText,
  dayTag,
  empty,
  type Html,
  type HtmlPart,
  html,
  linkButton,
  momentTag,
  section,
  table,
  usdText
} from "../web/html.ts"
import { type Page, PageNotFound, show } from "../web/page.ts"
import { todayOf } from "../web/period.ts"
import { paging } from "../web/query.ts"
import { budgetRows, spentText } from "./key-form.ts"
import { isKeyExpired } from "./own-key.ts"
import { cheapestCall, scopesText, unbrokenList } from "./scope-groups.ts"

const perPage = 100

export const keyCode = ({ last4 }: { readonly last4: string }) => html`<code class="nowrap">svc_data_…${last4}</code>`

const unspentCredits = ({ budget_usd, spent_usd }: Pick<KeySummary, "budget_usd" | "spent_usd">) =>
  Math.round((budget_usd - spent_usd) * 1000)

/**
 * The spent budget with the longest period. A budget is spent once the unspent part does not cover the key's cheapest
 * call: then every call is refused.
 */
const findSpentBudget = (key: KeySummary) =>
  budgetRows(key).findLast((budget) => unspentCredits(budget) < cheapestCall(key.scopes))
const spentBadges = { month: "budget spent", week: "week’s budget spent", day: "day’s budget spent" }

/** Whether the next call of the key would be accepted. */
export const keyStateBadge = (key: KeySummary, now: number): Html => {
  if (key.revoked_at !== null) return badge("revoked", "bad")
  if (isKeyExpired(key, now)) return badge("expired", "bad")
  if (budgetRows(key).some(({ budget_usd }) => budget_usd === 0)) return badge("paused", "warning")
  const spent = findSpentBudget(key)
  return spent === undefined ? badge("active", "good") : badge(spentBadges[spent.period], "warning")
}

/** A bar that changes its colour also has a text. */
const spentCell = (key: KeySummary, now: number) => {
  const { budget_usd, name, spent_usd } = key
  const text = spentText(spent_usd, budget_usd)
  if (budget_usd === 0 || isKeyExpired(key, now)) return html`${text} ${keyStateBadge(key, now)}`
  const nearly = unspentCredits(key) * 5 <= budget_usd * 1000
  const left = html`<small class="muted nowrap">${usdText(unspentCredits(key))} left</small>`
  return html`${text} ${findSpentBudget(key) === undefined ? nearly && left : keyStateBadge(key, now)}<progress${
    nearly && html` class="warning"`
  } max="${budget_usd}" value="${Math.min(spent_usd, budget_usd)}" aria-label="Spent of the budget of ${name}"></progress>`
}

/** Shows only a day if the call itself is no longer kept. */
export const lastUsedText = ({ created_at }: KeySummary, lastUse: string | undefined, today: string) => {
  if (lastUse === undefined) {
    const isNew = created_at.slice(0, 10) >= daysBefore(today, lastUseDays)
    return html`<span class="muted">${isNew ? "not yet" : `not in ${lastUseDays} days`}</span>`
  }
  return lastUse.length === "2026-10-15".length ? dayTag(lastUse) : momentTag(lastUse)
}

const keysTable = (keys: ReadonlyArray<KeySummary>, lastUses: ReadonlyMap<string, string>, now: number) =>
  table({
    caption: "Your keys",
    stacks: true,
    columns: ["Name", "Key", "May read", "Spent this month", "Last used", actions("Actions")],
    rows: keys.map(
      (key): ReadonlyArray<HtmlPart> => [
        html`<a class="key-name" href="/keys/${key.id}"><strong>${key.name}</strong></a>`,
        html`${keyCode(key)}${key.expires_at !== null && html` <small class="muted">${isKeyExpired(key, now) ? "expired" : "expires"} ${momentTag(key.expires_at)}</small>`}`,
        unbrokenList(scopesText(key.scopes)),
        spentCell(key, now),
        lastUsedText(key, lastUses.get(key.id), todayOf(now)),
        html`<a class="bad" href="/keys/${key.id}/revoke" aria-label="Revoke ${key.name}">Revoke</a>`
      ]
    )
  })

const revokedTable = (keys: ReadonlyArray<KeySummary>) =>
  table({
    caption: "Revoked keys",
    stacks: true,
    columns: ["Name", "Key", "Spent this month", "Created", "Revoked"],
    rows: keys.map((key) => [
      html`<a class="key-name" href="/keys/${key.id}">${key.name}</a>`,
      keyCode(key),
      spentText(key.spent_usd, key.budget_usd),
      dayTag(key.created_at),
      key.revoked_at && momentTag(key.revoked_at)
    ])
  })

/** Revoked keys are behind a link, because there may be many more of them than of other keys. */
const revokedKeys = (count: number, { links, rows }: ListPage, isShown: boolean) => {
  if (count === 0) return false
  return isShown
    ? html`<div id="revoked">${section(`Revoked keys (${countText(count)})`, html`${revokedTable(rows)}${links}`, html`<a href="/keys">Hide</a>`)}</div>`
    : html`<p class="links"><a href="/keys?revoked=1#revoked">Revoked keys (${countText(count)})</a></p>`
}

const noKeys = (revoked: number) =>
  empty(
    revoked === 0 ? "No keys yet" : "All your keys are revoked",
    "A key lets a program read the data. It has its own budget, and you can revoke it at any time.",
    linkButton("/keys/new", "Create a key", "primary")
  )

type ListPage = Effect.Success<ReturnType<typeof readListPage>>

/** Page `number` of a list, from the address; defaults to the first. `to` returns the address of another page. */
const readListPage = Effect.fnUntraced(function* (
  keys: ReadonlyArray<KeySummary>,
  number: number,
  label: string,
  to: (number: number) => string
) {
  const last = Math.max(1, Math.ceil(keys.length / perPage))
  if (!Number.isInteger(number) || number < 1 || number > last) return yield* new PageNotFound()
  const links = paging({
    label,
    newer: number === 1 ? undefined : to(number - 1),
    older: number === last ? undefined : to(number + 1)
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
    const pageNumber = (name: string) => Number(url.searchParams.get(name) ?? "1")
    const { links, rows } = yield* readListPage(
      active,
      pageNumber("page"),
      "Pages of your keys",
      (number) => `/keys?page=${number}`
    )
    const revokedPage = yield* readListPage(
      revoked,
      pageNumber("revoked"),
      "Pages of revoked keys",
      (number) => `/keys?revoked=${number}#revoked`
    )
    const today = todayOf(now)
    const lastUses = yield* RequestLog.use((log) =>
      log.lastUses({ account_id: account.id, keys: rows.map(({ id }) => id), today })
    )
    const showsRevoked = url.searchParams.has("revoked")
    const revokedPart = revokedKeys(revoked.length, revokedPage, showsRevoked)
    return show(
      "Keys",
      html`${section(
        active.length === 0 ? "Your keys" : `Your keys (${countText(active.length)})`,
        html`${active.length === 0 ? noKeys(revoked.length) : keysTable(rows, lastUses, now)}${links}${!showsRevoked && revokedPart}`,
        active.length > 0 && linkButton("/keys/new", "Create a key", "primary")
      )}${showsRevoked && revokedPart}`
    )
  })
}
