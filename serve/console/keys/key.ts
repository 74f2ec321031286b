/** `/keys/:id` and its revocation. A key of another account gives 404. */
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/index.ts"
import { RequestLog } from "../../persistence/index.ts"
import { button, type Problems, postForm, summary } from "../web/form.ts"
import { facts, type Html, html, linkButton, moment, notice, section } from "../web/html.ts"
import { type Page, type PageContext, redirect, show } from "../web/page.ts"
import { todayOf } from "../web/period.ts"
import { changesOf, type ShownKey, shownIn, shownInputs, shownOf } from "./key-changes.ts"
import {
  budgetsOf,
  chosenIn,
  expiryPassed,
  fieldsIn,
  fieldsOf,
  type KeyFields,
  keyFieldset,
  permissionInWords,
  spentInWords
} from "./key-form.ts"
import { lastUsed, shownKey, stateBadge } from "./keys.ts"
import { isFormerAccepted, ownKey, wasRevoked } from "./own-key.ts"
import { scopesInWords, unbroken } from "./scope-groups.ts"

const spentIn = { month: "Spent this month", week: "Spent this week", day: "Spent today" }

const formerKey = ({ former_expires_at, former_last4 }: KeySummary) =>
  html`${shownKey({ last4: former_last4 ?? "" })}, accepted until ${moment(former_expires_at ?? "")}`

const aboutOf = Effect.fnUntraced(function* ({ account, now }: PageContext, key: KeySummary) {
  const today = todayOf(now)
  const uses = yield* RequestLog.use((log) => log.lastUses({ account_id: account.id, keys: [key.id], today }))
  return facts([
    ["Key", shownKey(key)],
    ...(isFormerAccepted(key, now) ? [["Former key", formerKey(key)] as const] : []),
    ["State", html`${stateBadge(key, now)} ${key.revoked_at && moment(key.revoked_at)}`],
    ["Created", moment(key.created_at)],
    ...(key.expires_at === null ? [] : [["Expires", moment(key.expires_at)] as const]),
    ["Last used", lastUsed(key, uses.get(key.id), today)],
    ["May read", unbroken(scopesInWords(key.scopes))],
    ...budgetsOf(key)
      .toReversed()
      .map(({ budget_usd, period, spent_usd }) => [spentIn[period], spentInWords(spent_usd, budget_usd)] as const),
    ["Key id", html`<code>${key.id}</code>`]
  ])
})

const links = (key: KeySummary) =>
  html`<p class="links small"><a href="/requests?key=${key.id}">Its latest requests</a> <a href="/keys">All keys</a></p>`

interface Editing {
  readonly about: Html
  readonly fields: KeyFields
  /** The saved values when the person began to edit. */
  readonly before: ShownKey
  readonly problems: Problems
}

const editing = (key: KeySummary, { about, before, fields, problems }: Editing) => html`${summary(problems)}
<div class="cards uneven">
${section("About", html`${about}${links(key)}`)}
${section(
  "Change",
  postForm({
    body: html`${shownInputs(before)}<p class="hint">The key itself stays the same. Changes count from the next call on.</p>
${keyFieldset(fields, problems)}<div class="row">${button("Save")}${linkButton("/keys", "Cancel")}</div>`
  })
)}
${section(
  "Replace or revoke",
  html`<p>A replaced key is followed by another one with the same budgets. Both are accepted for a time that you choose.</p><a class="button plain" href="/keys/${key.id}/rotate">Replace this key…</a>
<p>A revoked key is refused permanently, from its next call on.</p><a class="button plain bad" href="/keys/${key.id}/revoke">Revoke this key…</a>`
)}
</div>`

const asItIs = (key: KeySummary, about: Html) =>
  key.revoked_at === null
    ? editing(key, { about, fields: fieldsOf(key), before: shownOf(key), problems: {} })
    : section("About", html`${about}${links(key)}`)

/** With a prefix, because a key may be named “Billing” or “Sign out”. */
const titleOf = ({ name }: KeySummary) => `Key “${name}”`

export const keyPage: Page<Administration | RequestLog> = {
  path: "/keys/:id",
  get: Effect.fnUntraced(function* (context) {
    const key = yield* ownKey(context)
    return show(titleOf(key), asItIs(key, yield* aboutOf(context, key)))
  }),
  post: Effect.fnUntraced(function* (context) {
    const key = yield* ownKey(context)
    if (key.revoked_at !== null) return wasRevoked
    const typed = fieldsIn(context.form)
    const before = shownIn(context.form)
    const chosen = chosenIn(typed)
    if ("problems" in chosen) {
      const about = yield* aboutOf(context, key)
      return show(titleOf(key), editing(key, { about, fields: typed, before, problems: chosen.problems }), 422)
    }
    const { changed, fields, problems } = changesOf(key, before, chosen, typed)
    if (Object.keys(problems).length > 0) {
      const about = yield* aboutOf(context, key)
      return show(titleOf(key), editing(key, { about, fields, before: shownOf(key), problems }), 409)
    }
    return yield* Administration.use((ledger) => ledger.editKey({ key_id: key.id, ...changed })).pipe(
      Effect.map((saved) => redirect("/keys", `“${saved.name}” is saved. ${permissionInWords(saved)}`)),
      Effect.catchTags({
        KeyRevoked: () => Effect.succeed(wasRevoked),
        ExpiryPassed: () =>
          Effect.map(aboutOf(context, key), (about) =>
            show(titleOf(key), editing(key, { about, fields, before: shownOf(key), problems: expiryPassed }), 422)
          )
      })
    )
  })
}

const revoking = (key: KeySummary, about: Html) => html`${notice(
  "warning",
  html`<p>Programs that use “${key.name}” are refused from the next call on. This cannot be undone.</p>`
)}
${section("About", html`${about}${postForm({ body: html`<div class="row">${button("Revoke permanently", "danger")}${linkButton("/keys", "Keep it")}</div>` })}`)}`

export const revokeKeyPage: Page<Administration | RequestLog> = {
  path: "/keys/:id/revoke",
  get: Effect.fnUntraced(function* (context) {
    const key = yield* ownKey(context)
    if (key.revoked_at !== null) return wasRevoked
    return show(`Revoke “${key.name}”?`, revoking(key, yield* aboutOf(context, key)))
  }),
  post: Effect.fnUntraced(function* (context) {
    const key = yield* ownKey(context)
    return yield* Administration.use((ledger) => ledger.revokeKey({ key_id: key.id })).pipe(
      Effect.map(({ last4, name }) => redirect("/keys", `“${name}” (svc_data_…${last4}) is revoked.`)),
      Effect.catchTag("KeyRevoked", () => Effect.succeed(wasRevoked))
    )
  })
}
