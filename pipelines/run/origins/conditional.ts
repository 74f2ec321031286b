/**
 * Conditional requests: a payload in the archive is requested with its validators, and the source may answer 304
 * without a body. A 304 is accepted only if everything it reports matches the payload; otherwise the request is
 * repeated in full. The key is the full address. Weak tags are fine, because the source itself compares them.
 */
import { Option } from "effect"
import * as Cookies from "effect/http/Cookies"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { SourceRequest } from "./origin.ts"

/** What is known about a payload that was fetched before. */
export interface Validators {
  readonly etag: string | null
  readonly last_modified: string | null
  /** The address that returned the payload. Only requests to this address get the condition. */
  readonly final_url: string
  readonly told: Readonly<Record<string, string>>
}

/** The header fields of the condition; undefined for an address that did not return the payload. */
export const conditionOf = ({ held, url }: SourceRequest, at: URL, isRedirected: boolean) => {
  if (held === undefined) return undefined
  const isHome = held.final_url === url ? !isRedirected : isRedirected && held.final_url === at.origin + at.pathname
  if (!isHome) return undefined
  return {
    ...(held.etag === null ? {} : { "if-none-match": held.etag }),
    ...(held.last_modified === null ? {} : { "if-modified-since": held.last_modified })
  }
}

/** Statuses that answer only requests with a condition. */
export const isOfCondition = (status: number) => status === 304 || status === 412

const cookie = "set-cookie:"

/** The values that the request asks for. Values of more than 200 characters are ignored. */
export const wantedValues = (
  { wants = [] }: SourceRequest,
  { cookies, headers }: HttpClientResponse.HttpClientResponse
): Readonly<Record<string, string>> => {
  const said = (name: string) =>
    name.startsWith(cookie)
      ? Option.getOrUndefined(Cookies.getValue(cookies, name.slice(cookie.length)))
      : headers[name]
  const told = wants.flatMap((name) => {
    const value = said(name)
    return value === undefined || value.length > 200 ? [] : [[name, value] as const]
  })
  return Object.fromEntries(told)
}

const weak = (etag: string) => etag.replace(/^W\//, "")

/** Both are present, and they differ. */
const differ = (now: string | undefined, then: string | null) => now !== undefined && then !== null && now !== then

/** Whether this response confirms the held payload. */
export const confirms = (ask: SourceRequest, response: HttpClientResponse.HttpClientResponse) => {
  const { held } = ask
  if (held === undefined || response.status !== 304) return false
  const { etag, "last-modified": modified } = response.headers
  const isOther =
    held.etag === null ? differ(modified, held.last_modified) : differ(etag && weak(etag), weak(held.etag))
  return !isOther && Object.entries(wantedValues(ask, response)).every(([name, value]) => held.told[name] === value)
}
