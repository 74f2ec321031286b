/**
 * The errors of a call: one class for each `error.type` of the API, one for responses that are not the API's, and one for
 * a missing response. Use `type` where several copies of the client are loaded and `instanceof` does not work.
 */
import type { ErrorType } from "../error-types.ts"
import type { CallCost } from "./cost.ts"

interface FailureContext {
  /** Undefined if no response arrived. */
  readonly cost?: CallCost | undefined
  /** How many attempts were made, if `cost` is undefined. */
  readonly attempts?: number
  readonly cause?: unknown
}

export abstract class LarderError extends Error {
  abstract readonly type: ErrorType | "unknown_answer" | "no_answer"
  readonly cost: CallCost | undefined
  /** How many attempts were made. */
  readonly attempts: number

  constructor(message: string, { attempts, cause, cost }: FailureContext = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.cost = cost
    this.attempts = attempts ?? cost?.attempts ?? 1
  }
  /** The status of the response; undefined if none arrived. */
  get status(): number | undefined {
    return this.cost?.status
  }
  /** More specific than `type`, such as `monthly_spend_cap_reached`. Undefined if the API did not respond. */
  get code(): string | undefined {
    return this.cost?.errorCode
  }
  get requestId(): string | undefined {
    return this.cost?.requestId
  }
}

/** 400: a parameter is missing, unknown, in the wrong format or out of range; the message names it. */
export class InvalidRequest extends LarderError {
  override readonly name = "InvalidRequest"
  readonly type = "invalid_request"
}
/** 401: the key is unknown or revoked. */
export class Unauthorized extends LarderError {
  override readonly name = "Unauthorized"
  readonly type = "unauthorized"
}
/** 402: the balance cannot cover the call, or the key's monthly budget is reached. */
export class InsufficientBalance extends LarderError {
  override readonly name = "InsufficientBalance"
  readonly type = "insufficient_balance"
}
/** 403: the key lacks the endpoint's scope; the message names it. */
export class Forbidden extends LarderError {
  override readonly name = "Forbidden"
  readonly type = "forbidden"
}
/** 404: no record has the id, or the API has no endpoint at this address. */
export class NotFound extends LarderError {
  override readonly name = "NotFound"
  readonly type = "not_found"
}
/** 5xx: a fault of the server, after the last retry, or with a `Retry-After` that is longer than the maximum wait. */
export class Internal extends LarderError {
  override readonly name = "Internal"
  readonly type = "internal"
}
/**
 * A response that is not the API's, such as a proxy's page, or an error whose body was cut off; the message quotes it.
 * Behind a proxy, the API may still have handled and charged the call.
 */
export class UnknownAnswer extends LarderError {
  override readonly name = "UnknownAnswer"
  readonly type = "unknown_answer"
}
/**
 * The network failed before the response arrived, or in the middle of its data. The call may have been charged, so the
 * client does not retry it.
 */
export class NoAnswer extends LarderError {
  override readonly name = "NoAnswer"
  readonly type = "no_answer"
}

const errorClasses = {
  invalid_request: InvalidRequest,
  unauthorized: Unauthorized,
  insufficient_balance: InsufficientBalance,
  forbidden: Forbidden,
  not_found: NotFound,
  internal: Internal
} satisfies Readonly<Record<ErrorType, new (message: string, context: FailureContext) => LarderError>>

const isErrorType = (type: unknown): type is ErrorType => typeof type === "string" && Object.hasOwn(errorClasses, type)

/** Characters of an unknown response that its error quotes. */
const maxQuoted = 200

export const makeUnknownResponseError = (text: string, cost: CallCost): UnknownAnswer =>
  new UnknownAnswer(
    `A response with status ${cost.status} that is not the API's: ${text.trim().slice(0, maxQuoted) || "(empty)"}. ` +
      "Check the client's url, and any proxies in between.",
    { cost }
  )

/** The error for a response without data. `json` is its parsed body, undefined if the body is not JSON. */
export const makeError = (json: unknown, text: string, cost: CallCost): LarderError => {
  const error = typeof json === "object" && json !== null && "error" in json ? json.error : undefined
  if (typeof error === "object" && error !== null && "type" in error && "message" in error) {
    if (isErrorType(error.type)) return new errorClasses[error.type](String(error.message), { cost })
  }
  return makeUnknownResponseError(text, cost)
}
