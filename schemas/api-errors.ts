/**
 * What the API answers when it does not answer with data: one shape, `{ error: { type, message } }`, on every endpoint.
 * `type` is stable and for machines; `message` is for people, its wording may change. An error costs nothing.
 */
import { Schema } from "effect"

export interface ApiError {
  readonly status: number
  readonly type: ErrorType
  readonly message: string
}

export type ErrorType = (typeof errorTypes)[number]["type"]

/** Every status an endpoint can answer beside 200, in the order in which a request meets them. */
export const errorTypes = [
  {
    status: 401,
    type: "unauthorized",
    description: "The key is missing, malformed, unknown or revoked."
  },
  {
    status: 403,
    type: "forbidden",
    description: "The key is valid and lacks the endpoint's scope."
  },
  {
    status: 400,
    type: "invalid_request",
    description: "A parameter is missing, repeated, unknown, of the wrong form or out of range. The message names it."
  },
  {
    status: 402,
    type: "insufficient_balance",
    description:
      "The balance cannot cover the call, or the key's monthly budget is reached. Decided before any data is read."
  },
  { status: 404, type: "not_found", description: "No record has the id in the path, or no endpoint has the path." },
  {
    status: 500,
    type: "internal",
    description:
      "A fault of the server. The only answer worth retrying, with exponential back-off; 503 with `Retry-After` when the server is overloaded or its ledger is away."
  }
] as const

/** The body of every error. */
export const ErrorBody = Schema.Struct({
  error: Schema.Struct({
    type: Schema.Literals(errorTypes.map((e) => e.type)).annotate({ description: "Stable, for machines." }),
    message: Schema.String.annotate({ description: "For people; not to be parsed." })
  }).annotate({ description: "What kept the call from being answered." })
}).annotate({ identifier: "Error", description: "Every error of every endpoint. Costs nothing." })

export const invalidRequest = (message: string): ApiError => ({ status: 400, type: "invalid_request", message })
export const methodNotAllowed: ApiError = {
  status: 405,
  type: "invalid_request",
  message: "Only GET is served here"
}
export const malformedAuthorization: ApiError = {
  status: 401,
  type: "unauthorized",
  message: "Missing or malformed Authorization: Bearer header"
}
/** One message for unknown and revoked keys, so that it tells an attacker nothing. */
export const unknownKey: ApiError = { status: 401, type: "unauthorized", message: "Unknown or revoked API key" }
export const notScoped = (scope: string): ApiError => ({
  status: 403,
  type: "forbidden",
  message: `This key is not scoped to ${scope}`
})
export const insufficientBalance: ApiError = {
  status: 402,
  type: "insufficient_balance",
  message: "Insufficient balance"
}
export const spendCapReached: ApiError = {
  status: 402,
  type: "insufficient_balance",
  message: "Monthly spend cap reached"
}
export const notFound = (message: string): ApiError => ({ status: 404, type: "not_found", message })
export const noSuchEndpoint: ApiError = notFound("No such endpoint")
export const internal: ApiError = { status: 500, type: "internal", message: "An unexpected error occurred" }
/** Overloaded, or the ledger cannot be written: the same shape as every 5xx, to be retried. */
export const unavailable: ApiError = { ...internal, status: 503 }
/** A batch of calls is answered at once, so together its answers are bounded. */
export const tooLargeTogether: ApiError = invalidRequest(
  "The answers of one request take at most 8 MiB together: ask for fewer names or days, or in a request of its own"
)
/** The 404 of paths with an id. */
export const unknownRecord = (record: string, id: string): ApiError => notFound(`Unknown ${record}: ${id}`)
