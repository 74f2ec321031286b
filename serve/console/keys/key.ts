/** `/keys/:id` and its revocation. A key of another account returns 404. */
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/index.ts"
import { RequestLog } from "../../persistence/index.ts"
import { button, type Problems, postForm, problemSummary } from "../web/form.ts"
import { facts, html, linkButton, notice, section, timeTag } from "../web/html.ts"
import { type Page, type PageContext, redirect, show } from "../web/page.ts"
import { getToday } from "../web/period.ts"
import {
  compareChanges,
  hiddenInputs,
  readCurrentSettings,
  readShownSettings,
  type ShownSettings
} from "./key-changes.ts"
import {
  expiryPassed,
  fillKeyFields,
  type KeyFields,
  keyFieldset,
  parseKeyFields,
  permissionText,
  readKeyFields,
  spentText
} from "./key-form.ts"
import { alreadyRevoked, findOwnKey, isFormerKeyAccepted, keyCode, keyStateBadge, lastUsedText } from "./keys.ts"
import { scopesText, unbrokenList } from "./scope-groups.ts"

const renderFormerKey = ({ former_expires_at, former_last4 }: KeySummary) =>
  html`${keyCode({ last4: former_last4 ?? "" })}, accepted until ${timeTag(former_expires_at ?? "")}`

const readKeyFacts = Effect.fnUntraced(function* ({ account, now }: PageContext, key: KeySummary) {
  const today = getToday(now)
  const uses = yield* RequestLog.use((log) => log.lastUses({ account_id: account.id, keys: [key.id], today }))
  return facts([
    ["Key", keyCode(key)],
    isFormerKeyAccepted(key, now) && ["Former key", renderFormerKey(key)],
    ["State", html`${keyStateBadge(key, now)} ${key.revoked_at && timeTag(key.revoked_at)}`],
    ["Created", timeTag(key.created_at)],
    key.expires_at !== null && ["Expires", timeTag(key.expires_at)],
    ["Last used", lastUsedText(key, uses.get(key.id), today)],
    ["May read", unbrokenList(scopesText(key.scopes))],
    ["Spent this month", spentText(key.spent_usd, key.budget_usd)],
    ["Key id", html`<code>${key.id}</code>`]
  ])
})

const renderLinks = (key: KeySummary) =>
  html`<p class="links small"><a href="/requests?key=${key.id}">Its latest requests</a> <a href="/keys">All keys</a></p>`

interface Editing {
  readonly fields: KeyFields
  /** The saved values when the person began to edit. */
  readonly original: ShownSettings
  readonly problems: Problems
}

const showEditing = Effect.fnUntraced(function* (
  context: PageContext,
  key: KeySummary,
  editing: Editing,
  status = 200
) {
  const { fields, original, problems } = editing
  const about = section("About", html`${yield* readKeyFacts(context, key)}${renderLinks(key)}`)
  if (key.revoked_at !== null) return show(formatTitle(key), about)
  const form = postForm(
    context,
    html`${hiddenInputs(original)}<p class="hint">The key itself stays the same. Changes apply from the next call on.</p>
${keyFieldset(fields, problems)}<div class="row">${button("Save")}${linkButton("/keys", "Cancel")}</div>`
  )
  return show(
    formatTitle(key),
    html`${problemSummary(problems)}
<div class="cards uneven">
${about}
${section("Change", form)}
${section(
  "Replace or revoke",
  html`<p>Replacing creates a new key with the same budget. The old one is still accepted for a time that you choose.</p><a class="button plain" href="/keys/${key.id}/rotate">Replace this key…</a>
<p>A revoked key is refused permanently, from its next call on.</p><a class="button plain bad" href="/keys/${key.id}/revoke">Revoke this key…</a>`
)}
</div>`,
    status
  )
})

/** With a prefix, because a key may be named “Billing” or “Sign out”. */
const formatTitle = ({ name }: KeySummary) => `Key “${name}”`

export const keyPage: Page<Administration | RequestLog> = {
  path: "/keys/:id",
  get: Effect.fnUntraced(function* (context) {
    const key = yield* findOwnKey(context)
    return yield* showEditing(context, key, {
      fields: fillKeyFields(key),
      original: readCurrentSettings(key),
      problems: {}
    })
  }),
  post: Effect.fnUntraced(function* (context) {
    const key = yield* findOwnKey(context)
    if (key.revoked_at !== null) return alreadyRevoked
    const typed = readKeyFields(context.form)
    const original = readShownSettings(context.form)
    const chosen = parseKeyFields(typed)
    if ("problems" in chosen) {
      return yield* showEditing(context, key, { fields: typed, original, problems: chosen.problems }, 422)
    }
    const { changed, fields, problems } = compareChanges(key, original, chosen, typed)
    const current = { fields, original: readCurrentSettings(key) }
    if (Object.keys(problems).length > 0) return yield* showEditing(context, key, { ...current, problems }, 409)
    return yield* Administration.use((ledger) => ledger.editKey({ key_id: key.id, ...changed })).pipe(
      Effect.map((saved) => redirect("/keys", `“${saved.name}” is saved. ${permissionText(saved)}`)),
      Effect.catchTags({
        KeyRevoked: () => Effect.succeed(alreadyRevoked),
        ExpiryPassed: () => showEditing(context, key, { ...current, problems: expiryPassed }, 422)
      })
    )
  })
}

export const revokeKeyPage: Page<Administration | RequestLog> = {
  path: "/keys/:id/revoke",
  get: Effect.fnUntraced(function* (context) {
    const key = yield* findOwnKey(context)
    if (key.revoked_at !== null) return alreadyRevoked
    const form = postForm(
      context,
      html`<div class="row">${button("Revoke permanently", "danger")}${linkButton("/keys", "Keep it")}</div>`
    )
    return show(
      `Revoke “${key.name}”?`,
      html`${notice("warning", html`<p>Programs that use “${key.name}” are refused from the next call on. This cannot be undone.</p>`)}
${section("About", html`${yield* readKeyFacts(context, key)}${form}`)}`
    )
  }),
  post: Effect.fnUntraced(function* (context) {
    const key = yield* findOwnKey(context)
    return yield* Administration.use((ledger) => ledger.revokeKey({ key_id: key.id })).pipe(
      Effect.map(({ last4, name }) => redirect("/keys", `“${name}” (svc_data_…${last4}) is revoked.`)),
      Effect.catchTag("KeyRevoked", () => Effect.succeed(alreadyRevoked))
    )
  })
}
