/** `/keys/:id/rotate`: another secret for the same key. The form creates one secret, however often it is sent. */
import { Effect } from "effect"
import { Administration, type KeySummary, randomText } from "../../ledger/index.ts"
import { button, choices, type Form, postForm } from "../web/form.ts"
import { type Html, html, linkButton, moment, notice, section } from "../web/html.ts"
import { type Page, redirect, show } from "../web/page.ts"
import { makeSentForms } from "../web/sent-forms.ts"
import { isExpired, isFormerAccepted, ownKey, wasRevoked } from "./own-key.ts"
import { shownSecret } from "./shown-secret.ts"

const sentForms = makeSentForms()

const overlaps = [
  { value: "1", label: "one hour more" },
  { value: "24", label: "one day more" },
  { value: "168", label: "one week more" },
  { value: "0", label: "no longer", hint: "Right for a key that others may know." }
]
const overlapIn = (form: Form) => overlaps.find(({ value }) => value === form.text("overlap"))

const asking = (key: KeySummary, now: number, problem?: string) => html`${
  isFormerAccepted(key, now) &&
  notice(
    "warning",
    html`<p>This key was replaced before: svc_data_…${key.former_last4} is accepted until ${moment(key.former_expires_at ?? "")}. If you replace it again, that one stops working immediately.</p>`
  )
}
${section(
  "Replace the key",
  html`<p>You get another key with the same name, scopes and budgets. Put it into your programs while the former one is still accepted.</p>
${postForm({
  body: html`<input type="hidden" name="submission" value="${randomText(24)}">
${choices({ type: "radio", name: "overlap", legend: "The former key is accepted", options: overlaps, chosen: ["24"], error: problem })}
<div class="row">${button("Replace the key")}${linkButton(`/keys/${key.id}`, "Cancel")}</div>`
})}`
)}`

const formerInWords = ({ former_expires_at, former_last4 }: KeySummary): Html =>
  former_expires_at === null
    ? html`<p>The former key is refused from now on.</p>`
    : html`<p>The former key, svc_data_…${former_last4}, is accepted until ${moment(former_expires_at)}. Both spend the same budgets.</p>`

const replacedBefore = notice(
  "warning",
  html`<p>This form was sent twice. The key was replaced the first time, and the new one was shown in that answer; it cannot be shown again. If you have not copied it, replace the key once more.</p>`
)

/** Another secret would be refused as well. */
const expired = redirect(
  "/keys",
  "This key has expired, so nothing was changed. Give it a later end first, or create another one.",
  "warning"
)

export const rotateKeyPage: Page<Administration> = {
  path: "/keys/:id/rotate",
  get: Effect.fnUntraced(function* (context) {
    const key = yield* ownKey(context)
    if (key.revoked_at !== null) return wasRevoked
    return isExpired(key, context.now) ? expired : show(`Replace “${key.name}”?`, asking(key, context.now))
  }),
  post: Effect.fnUntraced(function* (context) {
    const { account, api, form, now } = context
    const key = yield* ownKey(context)
    const overlap = overlapIn(form)
    if (overlap === undefined) return show(`Replace “${key.name}”?`, asking(key, now, "Choose how long."), 422)
    const submission = form.text("submission")
    const first = submission === "" ? { takeBack: () => {} } : sentForms.first([account.id, submission, key.id], now)
    if (first === undefined) return show("Replaced already", replacedBefore, 409)
    const asked = { key_id: key.id, overlap_hours: Number(overlap.value) }
    return yield* Administration.use((ledger) => ledger.rotateKey(asked)).pipe(
      Effect.onError(() => Effect.sync(first.takeBack)),
      Effect.map((rotated) => show("Your new key", shownSecret(rotated, api, formerInWords(rotated)))),
      Effect.catchTags({
        KeyRevoked: () => Effect.succeed(wasRevoked),
        KeyExpired: () => Effect.succeed(expired)
      })
    )
  })
}
