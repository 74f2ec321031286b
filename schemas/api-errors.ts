/**
 * The error responses of the API. All have the body `{ error: { type, message } }`. Programs use `type` and the more
 * specific `code`, which is sent in a header; both are stable. `message` is for people, and its wording may change.
 * Errors are not charged.
 */
import { type ErrorCode, errorCodes } from "./error-codes.ts"
import type { ErrorType } from "./error-types.ts"

export interface ApiError {
  readonly status: number
  readonly type: ErrorType
  readonly code: ErrorCode
  readonly message: string
}

const makeApiError = (code: ErrorCode, message: string): ApiError => {
  const { status, type } = errorCodes[code]
  return { status, type, code, message }
}

/** The message and code of a 400: what is wrong with the parameters of a call. */
export interface Invalid {
  readonly invalid: string
  readonly code: ErrorCode
}
export const invalid = (code: ErrorCode, message: string): Invalid => ({ invalid: message, code })
export const invalidRequest = ({ code, invalid }: Invalid): ApiError => makeApiError(code, invalid)

export const unreadableRequest = makeApiError("unreadable_request", "The request is not readable HTTP")
export const unencodedText = makeApiError(
  "unencoded_address",
  "The address has characters outside of ASCII: percent-encode them as UTF-8, such as %C3%91 for Ñ"
)
export const unencodedSpace = makeApiError("unencoded_address", "The address has a space: percent-encode it as %20")
export const unencodedHash = makeApiError("unencoded_address", "The query has a #: percent-encode it as %23")
export const unencodedControl = makeApiError(
  "unencoded_address",
  "The address has a control character: leave it out, or percent-encode it, such as %09 for a tab"
)
export const unclearHost = makeApiError("unclear_host", "The request must name one host, such as api.example.com:8080")
export const headersTooLarge = makeApiError("headers_too_large", "Request line and headers take at most 16 KiB")
export const requestTimeout = makeApiError("request_timeout", "The request did not arrive in time")
export const noSuchEndpoint = makeApiError("no_such_endpoint", "No such endpoint")
export const methodNotAllowed = makeApiError("method_not_allowed", "Only GET is served here")
/** Read by a person whose client tried OAuth, because `/mcp` has refused the key. */
export const oauthNotSupported = makeApiError(
  "oauth_not_supported",
  "The API key is missing, malformed, unknown or revoked. Send a valid key in the header Authorization: Bearer svc_data_…; OAuth is not supported"
)
export const originNotAllowed = makeApiError("origin_not_allowed", "Pages of this origin may not call this server")
const noBearerMessage = "Missing or malformed Authorization: Bearer header"
export const missingAuthorization = makeApiError("authorization_missing", noBearerMessage)
export const malformedAuthorization = makeApiError("authorization_malformed", noBearerMessage)
/** One message for unknown and revoked keys, so that an attacker cannot distinguish them. */
export const unknownKey = makeApiError("unknown_key", "Unknown or revoked API key")
export const accountSuspended = makeApiError("account_suspended", "This account is suspended")
export const missingScope = (scope: string): ApiError =>
  makeApiError("scope_missing", `This key is not scoped to ${scope}`)
export const insufficientBalance = makeApiError("insufficient_balance", "Insufficient balance")
export const monthlySpendCapReached = makeApiError("monthly_spend_cap_reached", "Monthly spend cap reached")

const unexpected = "An unexpected error occurred"
export const internal = makeApiError("internal", unexpected)
export const overloaded = makeApiError("overloaded", unexpected)
/** The call reached the time limit while it waited for capacity. */
export const tooManyInFlight = makeApiError("too_many_in_flight", unexpected)
/** The server cannot look up keys, or cannot record charges. */
export const ledgerUnavailable = makeApiError("ledger_unavailable", unexpected)
const unknownRecords = {
  "branded food": "unknown_branded_food",
  store: "unknown_store",
  product: "unknown_product"
} as const satisfies Readonly<Record<string, ErrorCode>>
/** The kinds of record that the id in a path can name. */
export type RecordName = keyof typeof unknownRecords
/** The 404 of paths with an id. */
export const unknownRecord = (record: RecordName, id: string): ApiError =>
  makeApiError(unknownRecords[record], `Unknown ${record}: ${id}`)
