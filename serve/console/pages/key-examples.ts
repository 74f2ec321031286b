/** How a new key is used, ready to paste: in a terminal, in TypeScript, and by an assistant. */
import type { Scope } from "@larder/schemas/scopes.ts"

export interface Example {
  readonly id: string
  readonly title: string
  readonly text: string
}

/** A call for each scope; where an id is needed, a placeholder in capitals. */
const callOf: ReadonlyArray<readonly [Scope, path: string]> = [
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

const typescript = (key: string, url: string) => `// keep the key in the environment once this works
const key = "${key}"

const response = await fetch("${url}", { headers: { Authorization: \`Bearer \${key}\` } })
if (!response.ok) throw new Error(\`\${response.status}: \${await response.text()}\`)
const { data } = await response.json()
console.log(data, "credits left:", response.headers.get("x-credits-remaining"))`

const assistant = (key: string, api: string) => `You can read market data through an HTTP API that is paid by the call.
- Description of all endpoints (OpenAPI 3.1): ${api}/openapi.json
- Base address: ${api}/v1
- Send this header with every request: Authorization: Bearer ${key}
- Only GET. Successful calls cost credits; the header X-Credits-Remaining says what is left. Ask for many series in one call, it costs the same as for one.
- A 402 means that the balance or this key's monthly budget is used up: stop, and tell me. Repeat a call only after a 5xx.
- Never write the key into files, messages or logs.`

export const examplesFor = (
  { key, scopes }: { readonly key: string; readonly scopes: ReadonlyArray<Scope> },
  api: string
): ReadonlyArray<Example> => {
  const path = callOf.find(([scope]) => scopes.includes(scope))?.[1] ?? "/v1/commodities"
  const url = `${api}${path}`
  return [
    { id: "curl", title: "Terminal", text: `curl -H "Authorization: Bearer ${key}" \\\n  "${url}"` },
    { id: "typescript", title: "TypeScript", text: typescript(key, url) },
    { id: "assistant", title: "Instructions for an assistant", text: assistant(key, api) }
  ]
}
