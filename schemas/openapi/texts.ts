/** Texts of the OpenAPI document besides those of the endpoints: keys, money, pages, errors, and the data. */
import { internal, methodNotAllowed, noSuchEndpoint } from "../api-errors.ts"
import type { Endpoint } from "../endpoint.ts"
import { versions, versionsInWords } from "./versions.ts"

export const info = {
  title: "Larder",
  license: { name: "MIT", identifier: "MIT" },
  summary: "Commodity prices, packaged-food labels and storefront products: a read-only API that is paid per call.",
  version: versions[0].version,
  description: `Commodity prices, packaged-food labels and storefront products: read-only, every call a GET, every body JSON with snake_case names.

**Keys.** Every call carries \`Authorization: Bearer <key>\`. A key holds scopes; each endpoint needs one of them. Keys are made, limited and revoked in the console, and a change counts from the next call on.

**Money.** Calls are paid for from a prepaid balance of credits; 1,000 credits are 1.00 USD. Only a 200 is charged, at the endpoint's price whatever its size; \`X-Credits-Charged\` and \`X-Credits-Remaining\` say so on each answer. A call that the balance or a budget of the key, per month, week or day (UTC), cannot cover is refused with 402 before any data is read. Calls from a try-out page or an assistant are charged like all others.

**Parameters.** Each may be given once. Names and values are percent-encoded UTF-8, and \`+\` is a blank. An empty text filter, \`country\` or \`cursor\` equals an absent one; an empty \`series\`, \`metrics\`, \`limit\`, \`from\` or \`to\` is an error, and so is \`from\` after \`to\`. Texts that "contain" match anywhere, literally, ignoring case.

**Pages.** A paged answer has \`next_cursor\`. Pass it back unchanged as \`cursor\`, with the same filters, for the next page; null means that there is none. Every page is a call. A row that is there all the while comes exactly once, also when the data are renewed in between.

**Errors.** \`{ "error": { "type", "message" } }\`. \`type\` is stable, and so is the finer code in \`X-Error-Code\`, which each example of an error below names; \`Link\` leads to its explanation. \`message\` is for people, and its wording may change. Retry 5xx with exponential back-off, nothing else: every other error repeats until the request or the account changes. Unknown and repeated query parameters are errors; the message names the known parameter that is nearest. Texts in angle brackets in the messages below stand for what was sent.

**Beside the operations.** The guides and the reference below \`/docs\` (\`/\` leads there), \`/llms.txt\` and this document at \`/openapi.json\` are read without a key and cost nothing; assistants POST to \`/mcp\`. Any other path that is none of the operations answers 404 \`not_found\`, "${noSuchEndpoint.message}", key or not; a trailing slash is another path. A method other than GET answers 405 \`invalid_request\`, "${methodNotAllowed.message}", with \`Allow: GET, OPTIONS\`; HEAD does so, too, and only \`/mcp\` takes POST instead of GET. OPTIONS answers a browser's preflight with 204, without a key. What is not readable HTTP is 400, and a request line with headers above 16 kB is 431, both as \`invalid_request\`. What does not arrive in time is 408. A 5xx always says "${internal.message}". There is no rate limit and no 429.

**Values.** Days are \`YYYY-MM-DD\`, times ISO 8601 in UTC with milliseconds. Every field that is listed as required is there, in every record; what the source does not say is null, or an empty list, never "" or 0. Three things have words for it: \`freight\` is \`not_stated\`, and \`category\` and \`sub_category\` of products and stores are \`uncategorized\`. Objects whose keys differ from record to record, such as \`nutrition\`, are without the key. Prices of commodities are JSON numbers with the digits that were published, trailing zeros included.

**Data.** Each answer comes from one generation of the data; a new one appears as a whole. \`X-Data-Version\` names the newest one that changed the data set that was asked. \`X-Data-Origin\` is \`sample\` where that data set holds rows of the bundled samples, most of which are generated, else \`live\`. Data sets that a server has not loaded answer empty lists.

**Changes.** New fields, parameters, endpoints, error codes and messages may be added at any time: ignore what you do not know. Anything that could break a client is announced here with a new version.

${versionsInWords}`
}

export const tags: Readonly<Record<Endpoint["tag"], string>> = {
  Commodities: `Dairy prices that US government reports publish: butter, cheese, nonfat dry milk, dry whey and the milk classes as 24 curated series, and these and the regional and international reports as metrics.

Source: the US Department of Agriculture, through My Market News (\`gov-mars\`) and Datamart (\`gov-mpr\`). Spot prices are published every trading day, survey and regional reports every week or two, milk classes every month. Reports restate earlier weeks: a revised number replaces the old one here. Days without a reading are left out, never filled. A \`usd_per_lb_basis\` is a difference to the exchange price, not a price.`,
  "Branded foods": `Labels of packaged foods: names, brands, barcodes, ingredients, nutrition per serving, and every published nutrient per 100 g or ml.

Source: USDA FoodData Central, branded foods (\`gov-fdc\`, public domain), about two releases a year. The labels are the suppliers' own: much is missing, some is plainly wrong, and amounts are published as they are. Texts are only tidied (blanks, doubled quotes, double brackets), a serving size of 1.7999999523 is 1.8, and a serving unit of \`MC\`, \`MG\` or \`IU\` is read as g or ml in \`serving_size_unit_normalized\`. A record is one version of a label, with its own \`fdc_id\`; search and categories cover the current version of each product, which is a data source and a barcode, so that one barcode can be found twice; older versions stay readable by id.`,
  Storefronts: `Shops on the web, their products and collections, read from the feeds that they publish themselves.

Source: each store's own feed (\`platform\`): Shopify, product CSV, Google Merchant or WooCommerce. \`fetched_at\` says how old a store's rows are, and \`fetch_status\` how far its last read came; only a complete read withdraws products. Prices are in the store's \`currency\`, and never converted. Texts and pictures belong to the stores.`
}

/** Where the id in a path comes from. */
export const idSources: Readonly<Record<NonNullable<Endpoint["record"]>, string>> = {
  "branded food": "as the branded-food search returns it",
  store: "as the store search returns it",
  product: "as a store's products return it"
}

export const key = {
  type: "http",
  scheme: "bearer", // lower case: some tools take "Bearer" for Basic
  bearerFormat: "svc_data_…",
  description: "An API key: `svc_data_` and 64 letters and digits, sent as `Authorization: Bearer <key>`."
}
