/** The types of errors. A type never changes its meaning; an error also has a more specific code. */
import { Schema } from "effect"

export type ErrorType = (typeof errorTypes)[number]["type"]

/** Every error type with its usual status, in the order in which a request is checked for them. */
export const errorTypes = [
  {
    status: 401,
    type: "unauthorized",
    description: "The key is missing, malformed, unknown or revoked, or its account is suspended."
  },
  {
    status: 403,
    type: "forbidden",
    description: "The key is valid, but lacks the endpoint's scope."
  },
  {
    status: 400,
    type: "invalid_request",
    description: "A parameter is missing, repeated, unknown, in the wrong format or out of range. The message names it."
  },
  {
    status: 402,
    type: "insufficient_balance",
    description: "The balance does not cover the call, or the key has reached its monthly budget."
  },
  {
    status: 404,
    type: "not_found",
    description: "No record has the id in the path, or no endpoint exists at the path."
  },
  {
    status: 500,
    type: "internal",
    description:
      "A fault of the server. Only these errors are worth retrying, with exponential back-off. The status is 503, with `Retry-After`, if the server is overloaded or its ledger is unavailable."
  }
] as const

/** The body of every error. */
export const ErrorBody = Schema.Struct({
  error: Schema.Struct({
    type: Schema.Literals(errorTypes.map((e) => e.type)).annotate({ description: "Stable, for machines." }),
    message: Schema.String.annotate({ description: "For people; not to be parsed." })
  }).annotate({ description: "Why the call failed." })
}).annotate({ identifier: "Error", description: "The body of every error of every endpoint. Errors cost nothing." })
