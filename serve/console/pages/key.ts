/** `/keys/:id` and its revocation. A key of another account is no key at all. */
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/administration.ts"
import { button, type Problems, postForm, summary } from "../form.ts"
import { day, facts, html, linkButton, moment, notice, section } from "../html.ts"
import { type Page, type PageContext, PageNotFound, redirect, show } from "../page.ts"
import { scopesInWords } from "../scope-groups.ts"
import { budgetInWords, chosenIn, fieldsIn, fieldsOf, type KeyFields, keyFieldset, spentInWords } from "./key-form.ts"
import { shownKey, stateBadge } from "./keys.ts"

/** Asked before anything is done to it. */
const ownKey = Effect.fnUntraced(function* ({ account, params }: PageContext) {
  const keys = yield* Administration.use((ledger) => ledger.listKeys({ account_id: account.id }))
  const key = keys.find(({ id }) => id === params.id)
  return key ?? (yield* new PageNotFound())
})

const about = (key: KeySummary) =>
  facts([
    ["Key", shownKey(key)],
    ["State", html`${stateBadge(key)} ${key.revoked_at && moment(key.revoked_at)}`],
    ["Created", day(key.created_at)],
    ["May read", scopesInWords(key.scopes)],
    [
      "Spent this month",
      key.budget_usd === 0 ? "paused: its budget is 0" : spentInWords(key.spent_usd, key.budget_usd)
    ],
    ["Key id", html`<code>${key.id}</code>`]
  ])

const links = (key: KeySummary) => html`<p class="small"><a href="/requests?key=${key.id}">Its latest requests</a></p>`

const editing = (key: KeySummary, fields: KeyFields, problems: Problems = {}) => html`${summary(problems)}
<div class="cards uneven">
${section("About", html`${about(key)}${links(key)}`)}
${section(
  "Change",
  postForm({
    body: html`<p class="hint">The key itself stays the same. Changes count from the next call on.</p>
${keyFieldset(fields, problems)}<div class="row">${button("Save")}${linkButton("/keys", "Cancel")}</div>`
  })
)}
${section("Revoke", html`<p>A revoked key is refused at once and for good.</p>${linkButton(`/keys/${key.id}/revoke`, "Revoke this key…")}`)}
</div>`

const shown = (key: KeySummary, fields: KeyFields, problems?: Problems, status?: number) =>
  show(
    key.name,
    key.revoked_at === null ? editing(key, fields, problems) : section("About", html`${about(key)}${links(key)}`),
    status
  )

const wasRevoked = () =>
  Effect.succeed(redirect("/keys", "This key was revoked before, so nothing was changed.", "warning"))

export const keyPage: Page<Administration> = {
  path: "/keys/:id",
  get: (context) => Effect.map(ownKey(context), (key) => shown(key, fieldsOf(key))),
  post: Effect.fnUntraced(function* (context) {
    const key = yield* ownKey(context)
    const fields = fieldsIn(context.form)
    const chosen = chosenIn(fields)
    if ("problems" in chosen) return shown(key, fields, chosen.problems, 422)
    return yield* Administration.use((ledger) => ledger.editKey({ key_id: key.id, ...chosen })).pipe(
      Effect.map(({ budget_usd, name }) =>
        redirect("/keys", `“${name}” is saved: ${scopesInWords(chosen.scopes)}, ${budgetInWords(budget_usd)} a month.`)
      ),
      Effect.catchTag("KeyRevoked", wasRevoked)
    )
  })
}

const revoking = (key: KeySummary) => html`${notice(
  "warning",
  html`<p>Programs that use “${key.name}” are refused from the next call on. This cannot be undone.</p>`
)}
${section("Revoke it?", html`${about(key)}${postForm({ body: html`<div class="row">${button("Revoke for good", "danger")}${linkButton("/keys", "Keep it")}</div>` })}`)}`

export const revokeKeyPage: Page<Administration> = {
  path: "/keys/:id/revoke",
  get: Effect.fnUntraced(function* (context) {
    const key = yield* ownKey(context)
    return key.revoked_at === null ? show(`Revoke ${key.name}`, revoking(key)) : yield* wasRevoked()
  }),
  post: Effect.fnUntraced(function* (context) {
    const key = yield* ownKey(context)
    return yield* Administration.use((ledger) => ledger.revokeKey({ key_id: key.id })).pipe(
      Effect.map(({ last4, name }) => redirect("/keys", `“${name}” (svc_data_…${last4}) is revoked.`)),
      Effect.catchTag("KeyRevoked", wasRevoked)
    )
  })
}
