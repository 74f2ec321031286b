/**
 * `/keys/new`. The new key is shown only in the response to its form, never in an address or on another page. The form
 * creates only one key, even if it is sent again.
 */
import { Effect } from "effect"
import { Administration, maxKeys } from "../../ledger/index.ts"
import { button, type Problems, postForm, problemSummary } from "../web/form.ts"
import { countText, type Html, html, linkButton, notice } from "../web/html.ts"
import { type Page, type PageContext, show } from "../web/page.ts"
import { makeSentForms, submissionInput } from "../web/sent-forms.ts"
import {
  expiryPassed,
  type KeyChoice,
  type KeyFields,
  keyFieldset,
  newKeyFields,
  parseKeyFields,
  readKeyFields
} from "./key-form.ts"
import { renderSecret } from "./shown-secret.ts"

const sentForms = makeSentForms()

interface FormContent {
  readonly fields: KeyFields
  readonly problems?: Problems
  /** Above the form. */
  readonly notice?: Html
}

/** A new form focuses its first field. A form with problems focuses their summary instead. */
const showForm = (context: PageContext, { fields, notice, problems = {} }: FormContent, status = 200) => {
  const form = postForm(
    context,
    html`${submissionInput()}
${keyFieldset(fields, problems, fields === newKeyFields)}<div class="row">${button("Create the key")}${linkButton("/keys", "Cancel")}</div>`
  )
  const body = html`${notice}${problemSummary(problems)}
<section aria-label="The new key">${form}</section>`
  return show("Create a key", body, status)
}

const tooManyKeys = notice(
  "bad",
  html`<p>No key was created: the account already has ${countText(maxKeys)} keys that are not revoked, which is the limit. <a href="/keys">Revoke one that is no longer needed</a>, and try again.</p>`
)

const renderAlreadyCreated = ({ name }: KeyChoice) => html`${notice(
  "warning",
  html`<p>This form was sent twice. “${name}” was created the first time and is in the list; no second key was created.</p>`
)}
<p>The key itself was shown the first time, and cannot be shown again. If you have not copied it, revoke it in the list and create another one.</p>
<div class="row">${linkButton("/keys", "Back to the list", "primary")}${linkButton("/keys/new", "Create another key")}</div>`

export const newKeyPage: Page<Administration> = {
  path: "/keys/new",
  get: (context) => Effect.sync(() => showForm(context, { fields: newKeyFields })),
  post: Effect.fnUntraced(function* (context) {
    const { account, api, form } = context
    const fields = readKeyFields(form)
    const chosen = parseKeyFields(fields)
    if ("problems" in chosen) return showForm(context, { fields, problems: chosen.problems }, 422)
    const submission = sentForms.recordFirst(context, chosen)
    if (submission === undefined) return show("Already created", renderAlreadyCreated(chosen), 409)
    return yield* Administration.use((ledger) => ledger.createKey({ account_id: account.id, ...chosen })).pipe(
      Effect.onError(() => Effect.sync(submission.undo)),
      Effect.map((key) => show("Your new key", renderSecret(key, api))),
      Effect.catchTags({
        TooManyKeys: () => Effect.succeed(showForm(context, { fields, notice: tooManyKeys }, 422)),
        ExpiryPassed: () => Effect.succeed(showForm(context, { fields, problems: expiryPassed }, 422))
      })
    )
  })
}
