/** General texts of the OpenAPI document: keys, money, pages and errors. Each data set has its own texts. */
import { internal, methodNotAllowed, noSuchEndpoint } from "../api-errors.ts"
import { dataSets } from "../data-sets.ts"
import type { Endpoint } from "../endpoint.ts"
import { versionNotes, versions } from "./versions.ts"

const contents = new Intl.ListFormat("en-GB").format(dataSets.map(({ contents }) => contents))
const contentsTitle = contents.charAt(0).toUpperCase() + contents.slice(1)

export const info = {
  title: "Larder",
  license: { name: "MIT", identifier: "MIT" },
  summary: `${contentsTitle}: a read-only API, paid per call.`,
  version: versions[0].version,
  description: `${contentsTitle}: read-only, every call a GET, every body JSON with snake_case names.

**Keys.** Every call carries \`Authorization: Bearer <key>\`. A key has scopes; each endpoint requires one of them. Keys are created, limited and revoked in the console, and a change takes effect with the next call.

**Money.** Calls are paid for from a prepaid balance of credits; 1,000 credits are 1.00 USD. Only a 200 is charged, at the endpoint's price, regardless of the size of the response; \`X-Credits-Charged\` and \`X-Credits-Remaining\` show the amounts on each response. A call is refused with 402, before any data is read, if the balance or the key's budget for the month (UTC) does not cover it. Calls from a try-out page or an assistant are charged like all others.

**Parameters.** Each may be given once. Names and values are percent-encoded UTF-8, and \`+\` is a space. An empty text filter, \`country\` or \`cursor\` equals an absent one; an empty \`series\`, \`metrics\`, \`limit\`, \`from\` or \`to\` is an error, and so is \`from\` after \`to\`. A filter that "contains" a text matches it anywhere, literally, ignoring case.

**Pages.** A paged response has \`next_cursor\`. Pass it unchanged as \`cursor\`, with the same filters, to get the next page; null means that there is none. Every page is a call. A row that exists throughout is returned exactly once, even if the data is updated between two pages.

**Errors.** \`{ "error": { "type", "message" } }\`. \`type\` is stable, and so is the more specific code in \`X-Error-Code\`, which each example of an error below shows; \`Link\` leads to its explanation. \`message\` is for people, and its wording may change. Retry only 5xx, with exponential back-off: every other error repeats until the request or the account changes. Unknown and repeated query parameters are errors; for an unknown one, the message names the nearest known parameter. In the messages below, words in angle brackets stand for what was sent.

**Other paths.** The guides and the reference below \`/docs\` (\`/\` redirects there), \`/llms.txt\` and this document at \`/openapi.json\` need no key and cost nothing; assistants POST to \`/mcp\`. Any other path returns 404 \`not_found\`, "${noSuchEndpoint.message}", with or without a key; a path with a trailing slash is a different path. A method other than GET returns 405 \`invalid_request\`, "${methodNotAllowed.message}", with \`Allow: GET, OPTIONS\`; so does HEAD. Only \`/mcp\` accepts POST instead of GET, and \`/register\`, which tells OAuth clients that their key was refused. OPTIONS responds to a browser's preflight with 204, without a key, and allows the headers that the browser asks for. A request that is not readable HTTP, or whose address is not percent-encoded, gets 400, and one whose request line and headers are larger than 16 KiB gets 431, both as \`invalid_request\`. A request that does not arrive in time gets 408. The message of a 5xx is always "${internal.message}". There is no rate limit and no 429.

**Values.** Days are \`YYYY-MM-DD\`, times ISO 8601 in UTC with milliseconds. Every field that is listed as required is present in every record; a value that the source does not state is null, or an empty list, never "" or 0. Three fields use words instead: \`freight\` is \`not_stated\`, and \`category\` and \`sub_category\` of products and stores are \`uncategorized\`. Objects whose keys differ from record to record, such as \`nutrition\`, lack the key. Prices of commodities are JSON numbers with the digits that were published, including trailing zeros.

**Data.** Each response comes from one generation of the data; a new generation appears as a whole. \`X-Data-Version\` names the newest generation that changed the requested data set. \`X-Data-Origin\` is \`sample\` if that data set contains bundled samples, most of which are generated; otherwise \`live\`. Data sets that a server has not loaded return empty lists.

**Changes.** New fields, parameters, endpoints, error codes and messages may be added at any time, so ignore unknown ones. Any change that could break a client is announced here with a new version.

${versionNotes}`
}

export const idSources: Readonly<Record<NonNullable<Endpoint["record"]>, string>> = {
  "branded food": "as the branded-food search returns it",
  store: "as the store search returns it",
  product: "as a store's products return it"
}

export const securityScheme = {
  type: "http",
  scheme: "bearer", // lower case: some tools treat "Bearer" as Basic
  bearerFormat: "svc_data_…",
  description: "An API key: `svc_data_` and 64 letters and digits, sent as `Authorization: Bearer <key>`."
}
