/** `/keys/new`. The new key is shown in the answer to its form and never again, in no address and no other page. */
import { Effect } from "effect"
import { Administration, type NewKey } from "../../ledger/administration.ts"
import { mostKeys } from "../../ledger/decisions.ts"
import { button, type Problems, postForm, summary } from "../form.ts"
import { count, type Html, html, linkButton, notice, section } from "../html.ts"
import { type Page, show } from "../page.ts"
import { type Example, examplesFor } from "./key-examples.ts"
import { chosenIn, fieldsIn, type KeyFields, keyFieldset, newKeyFields } from "./key-form.ts"

const form = (
  fields: KeyFields,
  problems: Problems = {},
  refusal: Html | false = false
) => html`${refusal}${summary(problems)}
<section aria-label="The new key">${postForm({
  body: html`${keyFieldset(fields, problems)}<div class="row">${button("Create the key")}${linkButton("/keys", "Cancel")}</div>`
})}</section>`

const copy = (id: string, what: string, kind: "primary" | "plain" = "plain") =>
  html`<button type="button" class="button ${kind}" data-copy="${id}" hidden>Copy<span class="hidden"> ${what}</span></button>`

const shownExample = ({
  id,
  note,
  text,
  title
}: Example) => html`<div class="example"><div class="heading"><h3>${title}</h3>${copy(id, title)}</div>
${note !== undefined && html`<p class="hint">${note}</p>`}
<pre tabindex="0"><code id="${id}">${text}</code></pre></div>`

const created = (key: NewKey, api: string) => html`<div data-address="/keys">
${notice("warning", html`<p><strong>Copy it now.</strong> This is the only time that the key is shown; nobody can look it up later. Whoever has it spends your credits.</p>`)}
<section aria-labelledby="key-name"><div class="heading"><h2 id="key-name">${key.name}</h2></div>
<code class="secret" id="new-key">${key.key}</code><div class="row">${copy("new-key", "the key", "primary")}${linkButton("/keys", "Done, I have copied it", "primary")}</div></section>
${section("Ready to use", examplesFor(key, api).map(shownExample))}
</div>`

const tooMany = notice(
  "bad",
  html`<p>No key was created: there are ${count(mostKeys)} valid keys, which is the most. <a href="/keys">Revoke one that is no longer needed</a>, and try again.</p>`
)

export const newKeyPage: Page<Administration> = {
  path: "/keys/new",
  get: () => Effect.succeed(show("Create a key", form(newKeyFields))),
  post: Effect.fnUntraced(function* ({ account, api, form: sent }) {
    const fields = fieldsIn(sent)
    const chosen = chosenIn(fields)
    if ("problems" in chosen) return show("Create a key", form(fields, chosen.problems), 422)
    return yield* Administration.use((ledger) => ledger.createKey({ account_id: account.id, ...chosen })).pipe(
      Effect.map((key) => show("Your new key", created(key, api))),
      Effect.catchTag("TooManyKeys", () => Effect.succeed(show("Create a key", form(fields, {}, tooMany), 422)))
    )
  })
}
