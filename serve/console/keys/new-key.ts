/**
 * `/keys/new`. The new key is shown only in the answer to its form, never in an address or on another page. The form
 * carries a random text, so that it creates one key however often it is sent.
 */
import { Effect } from "effect"
import { Administration, maxKeys, randomText } from "../../ledger/index.ts"
import { button, type Problems, postForm, summary } from "../web/form.ts"
import { count, type Html, html, linkButton, notice } from "../web/html.ts"
import { type FormContext, type Page, show } from "../web/page.ts"
import { makeSentForms } from "../web/sent-forms.ts"
import {
  chosenIn,
  expiryPassed,
  fieldsIn,
  type KeyChoice,
  type KeyFields,
  keyFieldset,
  newKeyFields
} from "./key-form.ts"
import { shownSecret } from "./shown-secret.ts"

const sentForms = makeSentForms()

interface Asking {
  readonly fields: KeyFields
  readonly problems?: Problems
  /** Above the form. */
  readonly notice?: Html
}

/** A new form focuses its first field. A form with problems focuses their summary instead. */
const form = ({ fields, problems = {}, notice }: Asking) => html`${notice}${summary(problems)}
<section aria-label="The new key">${postForm({
  body: html`<input type="hidden" name="submission" value="${randomText(24)}">
${keyFieldset(fields, problems, fields === newKeyFields ? "name" : undefined)}<div class="row">${button("Create the key")}${linkButton("/keys", "Cancel")}</div>`
})}</section>`

const asked = (asking: Asking, status = 200) => show("Create a key", form(asking), status)

const tooMany = notice(
  "bad",
  html`<p>No key was created: the account already has ${count(maxKeys)} keys that are not revoked, which is the limit. <a href="/keys">Revoke one that is no longer needed</a>, and try again.</p>`
)

const createdBefore = ({ name }: KeyChoice) => html`${notice(
  "warning",
  html`<p>This form was sent twice. “${name}” was created the first time and is in the list; no second key was made.</p>`
)}
<p>The key itself was shown in the first answer, and cannot be shown again. If you have not copied it, revoke it in the list and create another one.</p>
<div class="row">${linkButton("/keys", "To the list", "primary")}${linkButton("/keys/new", "Create another key")}</div>`

/** A form without a random text always counts as sent for the first time. */
const firstTime = ({ account, form: sent, now }: FormContext, chosen: KeyChoice) => {
  const submission = sent.text("submission")
  return submission === "" ? { takeBack: () => {} } : sentForms.first([account.id, submission, chosen], now)
}

export const newKeyPage: Page<Administration> = {
  path: "/keys/new",
  get: () => Effect.sync(() => asked({ fields: newKeyFields })),
  post: Effect.fnUntraced(function* (context) {
    const { account, api, form: sent } = context
    const fields = fieldsIn(sent)
    const chosen = chosenIn(fields)
    if ("problems" in chosen) return asked({ fields, problems: chosen.problems }, 422)
    const first = firstTime(context, chosen)
    if (first === undefined) return show("Created already", createdBefore(chosen), 409)
    return yield* Administration.use((ledger) => ledger.createKey({ account_id: account.id, ...chosen })).pipe(
      Effect.onError(() => Effect.sync(first.takeBack)),
      Effect.map((key) => show("Your new key", shownSecret(key, api))),
      Effect.catchTags({
        TooManyKeys: () => Effect.succeed(asked({ fields, notice: tooMany }, 422)),
        ExpiryPassed: () => Effect.succeed(asked({ fields, problems: expiryPassed }, 422))
      })
    )
  })
}
