/** What the OpenAPI document says beyond the endpoints: how keys, money, pages and errors work. */
import type { Endpoint } from "../endpoint.ts"

export const info = {
  title: "Larder",
  description: `Commodity prices, packaged-food labels and storefront products: read-only, every call a GET, every body JSON.

**Keys.** Every call carries \`Authorization: Bearer <key>\`. A key holds scopes; each endpoint needs one.

**Money.** Calls are paid for from a prepaid balance of credits; 1,000 credits are 1.00 USD. Only a 200 is charged, at the endpoint's price whatever its size. A call that the balance or the key's monthly budget (UTC) cannot cover is refused with 402 before any data is read. Calls from a try-out page or an assistant are charged like all others.

**Pages.** A paged answer has \`next_cursor\`. Pass it back unchanged as \`cursor\` for the next page; null means that there is none. Every page is a call.

**Errors.** \`{ "error": { "type", "message" } }\`. \`type\` is stable; \`message\` is for people. Retry 5xx with exponential back-off, nothing else: every other error repeats until the request or the account changes. Unknown and repeated query parameters are errors.

**Values.** Days are \`YYYY-MM-DD\`, times ISO 8601 in UTC with milliseconds. A missing value is null. Prices of commodities carry the digits that were published, trailing zeros included.`
}

export const tags: Readonly<Record<Endpoint["tag"], string>> = {
  Commodities: "Dairy prices that US government reports publish, as curated series and as the full list of metrics.",
  "Branded foods": "Labels of packaged foods from USDA FoodData Central: ingredients, nutrition, barcodes.",
  Storefronts: "Shops on the web, their products and collections, read from the feeds that they publish."
}

/** Where the id in a path comes from. */
export const idSources: Readonly<Record<NonNullable<Endpoint["record"]>, string>> = {
  "branded food": "as the branded-food search returns it",
  store: "as the store search returns it",
  product: "as a store's products return it"
}

export const key = {
  type: "http",
  scheme: "bearer", // lower case: some readers take "Bearer" for Basic
  bearerFormat: "svc_data_…",
  description: "An API key: `svc_data_` and 64 letters and digits, sent as `Authorization: Bearer <key>`."
}
