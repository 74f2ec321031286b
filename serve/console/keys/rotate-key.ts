/** `/keys/:id/rotate`: a new secret for the same key. The form creates only one, even if it is sent again. */
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/index.ts"
import { button, choices, postForm } from "../web/form.ts"
import { type Html, html, linkButton, notice, section, timeTag } from "../web/html.ts"
import { type Page, type PageContext, redirect, show } from "../web/page.ts"
import { makeSentForms, submissionInput } from "../web/sent-forms.ts"
import { alreadyRevoked, findOwnKey, isFormerKeyAccepted, isKeyExpired } from "./keys.ts"
import { renderSecret } from "./shown-secret.ts"

const sentForms = makeSentForms()

const overlaps = [
  { value: "1", label: "for one more hour" },
  { value: "24", label: "for one more day" },
  { value: "168", label: "for one more week" },
  { value: "0", label: "no longer", hint: "Right for a key that others may know." }
]

const showForm = (context: PageContext, key: KeySummary, problem?: string) => {
  const form = postForm(
    context,
    html`${submissionInput()}
${choices({ type: "radio", name: "overlap", legend: "The former key is accepted", options: overlaps, chosen: ["24"], error: problem })}
<div class="row">${button("Replace the key")}${linkButton(`/keys/${key.id}`, "Cancel")}</div>`
  )
  const alreadyReplaced =
    isFormerKeyAccepted(key, context.now) &&
    notice(
      "warning",
      html`<p>This key was already replaced: svc_data_…${key.former_last4} is accepted until ${timeTag(key.former_expires_at ?? "")}. If you replace it again, that former key stops working immediately.</p>`
    )
  const body = html`${alreadyReplaced}
${section(
  "Replace the key",
  html`<p>You get another key with the same name, scopes and budget. Put it into your programs while the former one is still accepted.</p>
${form}`
)}`
  return show(`Replace “${key.name}”?`, body, problem === undefined ? 200 : 422)
}

const formerKeyText = ({ former_expires_at, former_last4 }: KeySummary): Html =>
  former_expires_at === null
    ? html`<p>The former key is refused from now on.</p>`
    : html`<p>The former key, svc_data_…${former_last4}, is accepted until ${timeTag(former_expires_at)}. Both spend the same budget.</p>`

const sentTwice = notice(
  "warning",
  html`<p>This form was sent twice. The key was replaced the first time, and the new one was shown then; it cannot be shown again. If you have not copied it, replace the key once more.</p>`
)

/** A new secret of an expired key would also be refused. */
const expired = redirect(
  "/keys",
  "This key has expired, so nothing was changed. Give it a later expiry first, or create another one.",
  "warning"
)

export const rotateKeyPage: Page<Administration> = {
  path: "/keys/:id/rotate",
  get: Effect.fnUntraced(function* (context) {
    const key = yield* findOwnKey(context)
    if (key.revoked_at !== null) return alreadyRevoked
    return isKeyExpired(key, context.now) ? expired : showForm(context, key)
  }),
  post: Effect.fnUntraced(function* (context) {
    const { api, form } = context
    const key = yield* findOwnKey(context)
    const overlap = overlaps.find(({ value }) => value === form.text("overlap"))
    if (overlap === undefined) return showForm(context, key, "Choose how long.")
    const submission = sentForms.recordFirst(context, key.id)
    if (submission === undefined) return show("Already replaced", sentTwice, 409)
    const rotation = { key_id: key.id, overlap_hours: Number(overlap.value) }
    return yield* Administration.use((ledger) => ledger.rotateKey(rotation)).pipe(
      Effect.onError(() => Effect.sync(submission.undo)),
      Effect.map((rotated) => show("Your new key", renderSecret(rotated, api, formerKeyText(rotated)))),
      Effect.catchTags({
        KeyRevoked: () => Effect.succeed(alreadyRevoked),
        KeyExpired: () => Effect.succeed(expired)
      })
    )
  })
}
