/** Failures of Stripe's API as messages that are safe to log: they contain no key and no request data. */
import type { Schema } from "effect"
import Stripe from "stripe"
import { ProcessorUnavailable } from "../processor.ts"

export const unavailable = (cause: unknown): ProcessorUnavailable =>
  new ProcessorUnavailable({ processor: "stripe", cause })

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? ` (${cause.code})` : ""

/** One sentence from a client error, without its headers and body. */
export const sentenceOf = (error: InstanceType<typeof Stripe.errors.StripeError>): string => {
  const { code, message, requestId, statusCode, type } = error
  const request = requestId ? `, request ${requestId}` : ""
  if (statusCode === 401) return `the key in LARDER_STRIPE_KEY is refused (401${request})`
  if (statusCode === 403) return `the key in LARDER_STRIPE_KEY may not do this (403${request})`
  if (type === "StripeConnectionError") return `no connection${codeOf(error.detail)}`
  return `${statusCode ?? "no status"} ${code ?? type}: ${message}${request ? ` (${requestId})` : ""}`
}

export const asUnavailable = (cause: unknown): ProcessorUnavailable => {
  if (cause instanceof ProcessorUnavailable) return cause
  if (cause instanceof Stripe.errors.StripeError) return unavailable(new Error(sentenceOf(cause)))
  return unavailable(cause instanceof Error ? new Error(`${cause.name}: ${cause.message}`) : cause)
}

/** The reason as text, for a caller that shows it. */
export const reasonOf = (cause: unknown): string => {
  const { cause: reason } = asUnavailable(cause)
  return reason instanceof Error ? reason.message : String(reason)
}

export const makesNoSense = (error: Schema.SchemaError): ProcessorUnavailable =>
  unavailable(new Error(`an answer that makes no sense: ${error.message}`))

export const isMissing = (cause: unknown): boolean =>
  cause instanceof Stripe.errors.StripeInvalidRequestError && cause.statusCode === 404

/** The request is invalid, and nothing was done. */
export const isInvalid = (cause: unknown): cause is InstanceType<typeof Stripe.errors.StripeInvalidRequestError> =>
  cause instanceof Stripe.errors.StripeInvalidRequestError && (cause.statusCode === 400 || cause.statusCode === 404)

/** The key lacks a permission or is no longer valid. */
export const isForbidden = (cause: unknown): cause is InstanceType<typeof Stripe.errors.StripeError> =>
  cause instanceof Stripe.errors.StripeError && (cause.statusCode === 401 || cause.statusCode === 403)

/** The bank declined the card. */
export const isDeclined = (cause: unknown): boolean => cause instanceof Stripe.errors.StripeCardError
