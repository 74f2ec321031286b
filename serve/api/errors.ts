/** An error response: its body, and the headers of every error. */
import type { ApiError } from "@larder/schemas/api-errors.ts"
import type { ErrorCode } from "@larder/schemas/error-codes.ts"

export const errorBody = ({ message, type }: ApiError): string => JSON.stringify({ error: { type, message } })

/**
 * The error code, and a link to its explanation in the docs. Without a public address, the link is relative to the
 * address that was called. It is never built from the `Host` header, which the caller controls.
 */
export const errorHeaders = (code: ErrorCode, publicUrl: string | undefined): Readonly<Record<string, string>> => ({
  "x-error-code": code,
  link: `<${publicUrl ?? ""}/docs/errors#${code}>; rel="help"`
})
