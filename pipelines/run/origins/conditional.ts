/**
 * Conditional requests: a payload in the archive is requested with its validators, and the source may return 304
 * without a body. A 304 is accepted only if everything it reports matches the payload; otherwise the request is
 * repeated in full. The key is the full address. Weak tags are fine, because the source itself compares them.
 */
import { Option } from "effect"
import * as Cookies from "effect/http/Cookies"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { SourceRequest } from "./origin.ts"

/** Makes the header fields of the condition; undefined for an address that did not return the payload. */
export const makeCondition = ({ url, validators }: SourceRequest, at: URL, isRedirected: boolean) => {
  if (validators === undefined) return undefined
  const { etag, final_url, last_modified } = validators
  const isSource = final_url === url ? !isRedirected : isRedirected && final_url === at.origin + at.pathname
  if (!isSource) return undefined
  return {
    ...(etag === null ? {} : { "if-none-match": etag }),
    ...(last_modified === null ? {} : { "if-modified-since": last_modified })
  }
}

/** Statuses that only conditional requests receive. */
export const isConditional = (status: number) => status === 304 || status === 412

const cookie = "set-cookie:"

/** Returns the requested extra values that the response has. Values of more than 200 characters are ignored. */
export const selectExtraValues = (
  { extraValues = [] }: SourceRequest,
  { cookies, headers }: HttpClientResponse.HttpClientResponse
): Readonly<Record<string, string>> => {
  const values = extraValues.flatMap((name) => {
    const value = name.startsWith(cookie)
      ? Option.getOrUndefined(Cookies.getValue(cookies, name.slice(cookie.length)))
      : headers[name]
    return value === undefined || value.length > 200 ? [] : [[name, value] as const]
  })
  return Object.fromEntries(values)
}

const removeWeakPrefix = (etag: string) => etag.replace(/^W\//, "")

const differ = (received: string | undefined, known: string | null) =>
  received !== undefined && known !== null && received !== known

/** Whether this response confirms the payload in the archive. */
export const confirmsPayload = (request: SourceRequest, response: HttpClientResponse.HttpClientResponse) => {
  const { validators } = request
  if (validators === undefined || response.status !== 304) return false
  const { etag, "last-modified": modified } = response.headers
  const isDifferent =
    validators.etag === null
      ? differ(modified, validators.last_modified)
      : differ(etag && removeWeakPrefix(etag), removeWeakPrefix(validators.etag))
  const values = Object.entries(selectExtraValues(request, response))
  return !isDifferent && values.every(([name, value]) => validators.extra_values[name] === value)
}
