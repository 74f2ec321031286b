/**
 * The secret of a key, shown only in the response to the form that created it, with examples ready to paste: for a
 * terminal, for TypeScript, and for assistants.
 */
import { endpoints, type Scope } from "@larder/schemas"
import type { NewKey } from "../../ledger/index.ts"
import { type Html, type HtmlPart, html, linkButton, notice, section } from "../web/html.ts"
import { permissionText } from "./key-form.ts"

interface KeyExample {
  readonly id: string
  readonly title: string
  readonly note: string | undefined
  readonly text: string
}

/** The example call of each scope. A required id is a placeholder in capitals. */
const exampleCalls: ReadonlyArray<readonly [Scope, path: string]> = [
  ["search-commodities", "/v1/commodities?commodity=butter"],
  ["get-commodity-prices", "/v1/commodities/prices?series=butter-sales-price-weekly&from=2026-01-01"],
  ["search-branded-foods", "/v1/branded-foods?name=cheddar&limit=2"],
  ["search-stores", "/v1/stores?limit=2"],
  ["get-branded-foods", "/v1/branded-foods/FOOD_ID"],
  ["get-store", "/v1/stores/STORE_ID"],
  ["get-store-products", "/v1/stores/STORE_ID/products"],
  ["get-store-collections", "/v1/stores/STORE_ID/collections"],
  ["get-product", "/v1/products/PRODUCT_ID"]
]

/** The first example in the docs for these scopes. */
const findDocumentedCall = (scopes: ReadonlyArray<Scope>): string => {
  const allowed = endpoints.filter(({ scope }) => scopes.includes(scope))
  const [first] = allowed.flatMap(({ examples }) => Object.values(examples))
  return first?.target ?? "/v1/commodities"
}

const placeholders: ReadonlyArray<readonly [name: string, record: string]> = [
  ["FOOD_ID", "a branded food"],
  ["STORE_ID", "a store"],
  ["PRODUCT_ID", "a product"]
]

/** Only a key without a search scope gets a call with a placeholder. */
const placeholderNote = (path: string): string | undefined => {
  const [name, record] = placeholders.find(([name]) => path.includes(name)) ?? []
  if (name === undefined) return undefined
  return `Replace ${name} with the id of ${record}. This key cannot search for one; use a key with a search scope.`
}

const formatTypescript = (key: string, url: string) => `// move the key to an environment variable once this works
const key = "${key}"

const headers = { Authorization: \`Bearer \${key}\` }
const response = await fetch("${url}", { headers })
if (!response.ok) throw new Error(\`\${response.status}: \${await response.text()}\`)
const { data } = await response.json()
console.log(data, "credits left:", response.headers.get("x-credits-remaining"))`

const formatConfiguration = (server: object) => JSON.stringify({ mcpServers: { larder: server } }, null, 2)

/** `mcp-remote` accepts plain HTTP only on this machine, unless it is told otherwise. */
const isPlainHttpElsewhere = (api: string) => /^http:\/\/(?!(?:localhost|127\.0\.0\.1)(?::|$))/.test(api)

const makeExamples = ({ key, scopes }: NewKey, api: string): ReadonlyArray<KeyExample> => {
  const path = exampleCalls.find(([scope]) => scopes.includes(scope))?.[1] ?? findDocumentedCall(scopes)
  const url = `${api}${path}`
  const note = placeholderNote(path)
  return [
    { id: "curl", title: "Terminal", note, text: `curl -H "Authorization: Bearer ${key}" \\\n  "${url}"` },
    { id: "typescript", title: "TypeScript", note, text: formatTypescript(key, url) },
    {
      id: "assistant",
      title: "Assistant by address (MCP over HTTP)",
      note: "For the configuration of most assistants.",
      text: formatConfiguration({ type: "http", url: `${api}/mcp`, headers: { Authorization: `Bearer ${key}` } })
    },
    {
      id: "local-assistant",
      title: "Assistant that starts a program (MCP over stdio)",
      note: "Only for assistants that cannot use an address. Needs Node.",
      text: formatConfiguration({
        command: "npx",
        args: [
          ...["-y", "mcp-remote@0.15.1", `${api}/mcp`, "--transport", "http-only"],
          ...["--header", `Authorization:\${LARDER_AUTHORIZATION}`], // without a blank: some assistants split there
          ...(isPlainHttpElsewhere(api) ? ["--allow-http"] : [])
        ],
        env: { LARDER_AUTHORIZATION: `Bearer ${key}` }
      })
    }
  ]
}

const copyButton = (id: string, label: HtmlPart, kind: "primary" | "plain" = "plain") =>
  html`<button type="button" class="button ${kind}" data-copy="${id}" hidden>${label}</button>`

const renderExample = ({ id, note, text, title }: KeyExample) => {
  const copyExample = copyButton(id, html`Copy<span class="hidden"> ${title}</span>`)
  return html`<div class="example"><div class="heading"><h3>${title}</h3>${copyExample}</div>
${note !== undefined && html`<p class="hint">${note}</p>`}
<pre tabindex="0"><code id="${id}">${text}</code></pre></div>`
}

/** `details` is further information to read before the key is used. */
export const renderSecret = (
  key: NewKey,
  api: string,
  details?: Html
) => html`<div data-replace-address="/keys" data-copy-before-leaving="new-key">
${notice("warning", html`<p><strong>Copy it now.</strong> This is the only time that the key is shown; it cannot be shown again. A person or program with this key can spend your credits.</p>`)}
<section aria-labelledby="key-name"><div class="heading"><h2 id="key-name">${key.name}</h2></div>
<p>${permissionText(key)}</p>
${details}
<code class="secret" id="new-key">${key.key}</code><div class="row">${copyButton("new-key", "Copy the key", "primary")}${linkButton("/keys", "Done, I have copied it", "primary")}</div></section>
${section(
  "Ready to use",
  makeExamples(key, api).map(renderExample),
  html`<a href="${api}/docs/assistants" target="_blank" rel="noopener">Guide to assistants<span class="hidden"> (in a new tab)</span></a>`
)}
</div>`
