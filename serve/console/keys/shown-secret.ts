/** The secret of a key, shown only in the response to the form that created it. */
import type { NewKey } from "../../ledger/index.ts"
import { type Html, type HtmlPart, html, linkButton, notice, section } from "../web/html.ts"
import { type KeyExample, makeExamples } from "./key-examples.ts"
import { permissionText } from "./key-form.ts"

const copyButton = (id: string, label: HtmlPart, kind: "primary" | "plain" = "plain") =>
  html`<button type="button" class="button ${kind}" data-copy="${id}" hidden>${label}</button>`

const renderExample = ({ id, note, text, title }: KeyExample) => {
  const copyExample = copyButton(id, html`Copy<span class="hidden"> ${title}</span>`)
  return html`<div class="example"><div class="heading"><h3>${title}</h3>${copyExample}</div>
${note !== undefined && html`<p class="hint">${note}</p>`}
<pre tabindex="0"><code id="${id}">${text}</code></pre></div>`
}

/** `more` is further information to read before the key is used. */
export const newSecret = (key: NewKey, api: string, more?: Html) => html`<div data-address="/keys" data-leave="new-key">
${notice("warning", html`<p><strong>Copy it now.</strong> This is the only time that the key is shown; it cannot be shown again. A person or program with this key can spend your credits.</p>`)}
<section aria-labelledby="key-name"><div class="heading"><h2 id="key-name">${key.name}</h2></div>
<p>${permissionText(key)}</p>
${more}
<code class="secret" id="new-key">${key.key}</code><div class="row">${copyButton("new-key", "Copy the key", "primary")}${linkButton("/keys", "Done, I have copied it", "primary")}</div></section>
${section(
  "Ready to use",
  makeExamples(key, api).map(renderExample),
  html`<a href="${api}/docs/assistants" target="_blank" rel="noopener">Guide to assistants<span class="hidden"> (in a new tab)</span></a>`
)}
</div>`
