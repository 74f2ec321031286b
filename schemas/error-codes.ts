/**
 * All error codes, in the order in which a request is checked for them. A code is more specific than its `error.type`
 * and never changes its meaning; new codes may be added. It is sent in the header `X-Error-Code` and explained in the
 * guide on errors.
 */
import type { ErrorType } from "./api-errors.ts"

const define = (status: number, type: ErrorType) => (meaning: string, advice: string) => ({
  status,
  type,
  meaning,
  advice
})
const invalid = define(400, "invalid_request")
const unauthorized = define(401, "unauthorized")
const unpaid = define(402, "insufficient_balance")
const forbidden = define(403, "forbidden")
const unknown = define(404, "not_found")
const unavailable = define(503, "internal")

export const errorCodes = {
  unreadable_request: invalid("The request is not readable HTTP.", "Send it with an HTTP client."),
  unencoded_address: invalid(
    "The address contains a space, a control character or a character outside of ASCII, or its query contains a `#`.",
    'Percent-encode them as UTF-8. `curl --get --data-urlencode "name=PIÑA"` does so, like most HTTP clients.'
  ),
  unclear_host: invalid(
    "The request names no host, more than one, or one that cannot be parsed.",
    "Send one `Host` header with a name or an address, as HTTP clients do by default."
  ),
  headers_too_large: define(431, "invalid_request")(
    "The request line and headers are larger than 16 KiB.",
    "Request fewer names per call, and leave out headers that the API does not need."
  ),
  request_timeout: define(408, "invalid_request")(
    "The request did not arrive in time.",
    "Send it again, and check the network."
  ),
  no_such_endpoint: unknown(
    "No endpoint exists at this path. A path with a trailing slash is a different path.",
    "Use a path exactly as it is in the reference."
  ),
  method_not_allowed: define(405, "invalid_request")(
    "The path accepts another method: GET, or POST at `/mcp` and `/register`. `Allow` lists the accepted methods.",
    "Use a method that `Allow` lists. HEAD is not served."
  ),
  oauth_not_supported: invalid(
    "At `/register`: an OAuth client tried to register. Clients do so by themselves after `/mcp` has refused a key.",
    "Send a valid key to `/mcp`, as `Authorization: Bearer <key>`. There is no sign-in with OAuth."
  ),
  origin_not_allowed: forbidden(
    "A web page of another origin called `/mcp`.",
    "Call the API from a server, or have the operator set the address of the page's origin."
  ),
  authorization_missing: unauthorized(
    "The request has no `Authorization` header.",
    "Send `Authorization: Bearer <key>`. Many HTTP clients drop the header when they follow a redirect to another host."
  ),
  authorization_malformed: unauthorized(
    "The `Authorization` header was sent more than once, or is not `Bearer` followed by text in the format of an API key.",
    "Send it once, as `Authorization: Bearer <key>`. A key is `svc_data_` and 64 letters and digits."
  ),
  unknown_key: unauthorized(
    "The key has the right format, but no such key exists, or it was revoked.",
    "Check whether the key was copied completely, or use another key."
  ),
  account_suspended: unauthorized(
    "The operator has suspended the account of the key: all its calls are refused.",
    "Ask the operator. Another key of the account is refused, too."
  ),
  scope_missing: forbidden(
    "The key lacks the scope of this endpoint; the message names it.",
    "Add the scope to the key in the console, or use a key that has it."
  ),
  unknown_parameter: invalid(
    "The endpoint has no parameter with this name. Names are case-sensitive.",
    "Correct the name; the message suggests the nearest one. Leave out parameters that the endpoint does not have."
  ),
  repeated_parameter: invalid(
    "A parameter was given more than once.",
    "Give it once. Names of series and metrics are separated by commas."
  ),
  missing_parameter: invalid("A required parameter is absent or empty.", "Add the parameter that the message names."),
  invalid_parameter: invalid(
    "The value of a parameter does not have the required format.",
    "Correct the value; the message states the required format."
  ),
  limit_too_large: invalid(
    "`limit` is above the maximum of this endpoint.",
    "Request smaller pages, and follow `next_cursor`."
  ),
  too_many_names: invalid("More than 100 names were given in one call.", "Split the names among several calls."),
  from_after_to: invalid("`from` is a later day than `to`.", "Swap them, or leave one out."),
  parameters_conflict: invalid(
    "Two parameters were given that select different responses.",
    "Leave one of them out, even if it is empty; the message names both."
  ),
  cursor_damaged: invalid(
    "The cursor was changed or truncated, or belongs to another endpoint, id or set of filters.",
    "Pass `next_cursor` unchanged, with the filters of the page that returned it, or start again without a cursor."
  ),
  unknown_series: invalid(
    "No series has this slug.",
    "Use slugs from `GET /v1/commodities?commodity=`; they are case-sensitive."
  ),
  unknown_metrics: invalid(
    "No metrics have these names; the message lists all of them.",
    "Use names from `GET /v1/commodities?category=`; they are case-sensitive."
  ),
  answers_too_large: invalid(
    "At `/mcp`: the total size of the results of one request exceeds what the server sends at once.",
    "Request fewer names or days, or split the request."
  ),
  protocol_error: invalid(
    "At `/mcp`: the request is not a message of the Model Context Protocol that the server accepts. Another status below 500 is possible; the body is a JSON-RPC error with the details.",
    "Use a client of the protocol, and read the message of the error."
  ),
  insufficient_balance: unpaid(
    "The balance of the account does not cover the call.",
    "Add credits in the console, or turn on auto-recharge."
  ),
  monthly_spend_cap_reached: unpaid(
    "The key has spent its monthly budget, or the rest of it does not cover the call.",
    "Raise the key's monthly budget in the console, or wait for the first of the month (UTC)."
  ),
  unknown_branded_food: unknown(
    "No branded food has the id in the path.",
    "Use ids from the branded-food search, and percent-encode them."
  ),
  unknown_store: unknown("No store has the id in the path.", "Use ids from the store search, and percent-encode them."),
  unknown_product: unknown(
    "No product has the id in the path. It may have been withdrawn by its store.",
    "Use ids from a store's products, and percent-encode them."
  ),
  internal: define(500, "internal")(
    "A fault of the server. The operator is notified.",
    "Try again with exponential back-off. If the error persists, report it with the `X-Request-Id`."
  ),
  overloaded: unavailable(
    "More calls are in progress than the server can handle at the same time.",
    "Wait for the seconds in `Retry-After`, then try again with exponential back-off."
  ),
  too_many_in_flight: unavailable(
    "The call waited five seconds for capacity: too many calls, or too many bytes of responses, are in progress for the same key or account or, less often, for all callers together.",
    "Make fewer concurrent calls, and read their responses faster. Wait for the seconds in `Retry-After`, then try again."
  ),
  ledger_unavailable: unavailable(
    "The server cannot read or write the ledger at the moment, so it can neither check keys nor charge calls.",
    "Wait for the seconds in `Retry-After`, then try again with exponential back-off."
  )
}

export type ErrorCode = keyof typeof errorCodes

export const codeNames = Object.keys(errorCodes) as ReadonlyArray<ErrorCode> // Object.keys loses the literal types
