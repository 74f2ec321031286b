/** Texts of the OpenAPI document besides those of the endpoints: keys, money, pages and errors. Those of the data are in each data set. */
import { internal, methodNotAllowed, noSuchEndpoint } from "../api-errors.ts"
import { dataSets } from "../data-sets.ts"
import type { Endpoint } from "../endpoint.ts"
import { versions, versionsInWords } from "./versions.ts"

const inWords = new Intl.ListFormat("en-GB").format(dataSets.map(({ holds }) => holds))
const kinds = inWords.charAt(0).toUpperCase() + inWords.slice(1)

export const info = {
  title: "Larder",
  license: { name: "MIT", identifier: "MIT" },
  summary: `${kinds}: a read-only API that is paid per call.`,
  version: versions[0].version,
  description: `${kinds}: read-only, every call a GET, every body JSON with snake_case names.

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
