/**
 * Conditional requests: a payload that is in the archive is asked for by the validators it came with, and the source may answer
 * 304 without a body. A 304 is believed only where all that it tells fits the payload; else the request is repeated in full.
 * The key is the full address; weak tags are fine, because the source itself compares them.
 */
import { Option } from "effect"
import * as Cookies from "effect/http/Cookies"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { Fetch } from "./fetch-list.ts"
import type { Ask } from "./origin.ts"

/** What is known of a payload that was fetched before. */
export interface Held {
  readonly etag: string | null
  readonly last_modified: string | null
  /** The address that gave it. The condition is sent there alone. */
  readonly final_url: string
  readonly told: Readonly<Record<string, string>>
}

/** A time of change counts in seconds: a payload that was changed just before it was fetched may have changed again since. */
const settledAfter = 60_000

/** What makes the next request for this payload conditional; undefined where it came without a usable validator. */
export const heldOf = (
  fetched: Pick<Fetch, "etag" | "last_modified" | "final_url" | "fetched_at" | "told">
): Held | undefined => {
  const { etag, fetched_at, final_url, last_modified, told = {} } = fetched
  const age = last_modified === null ? Number.NaN : Date.parse(fetched_at) - Date.parse(last_modified)
  const isSettled = age > settledAfter
  if (etag === null && !isSettled) return undefined
  return { etag, last_modified: isSettled ? last_modified : null, final_url, told }
}

/** The header fields of the condition; undefined for an address that did not give the payload. */
export const conditionOf = ({ held, url }: Ask, at: URL, isRedirected: boolean) => {
  if (held === undefined) return undefined
  const isHome = held.final_url === url ? !isRedirected : isRedirected && held.final_url === at.origin + at.pathname
  if (!isHome) return undefined
  return {
    ...(held.etag === null ? {} : { "if-none-match": held.etag }),
    ...(held.last_modified === null ? {} : { "if-modified-since": held.last_modified })
  }
}

/** Statuses that only a request with a condition is answered with. */
export const isOfCondition = (status: number) => status === 304 || status === 412

const cookie = "set-cookie:"

/** What the ask wants to be told. A value longer than these characters is none of those. */
export const toldBy = (
  { wants = [] }: Ask,
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

/** Told with both, and not the same. */
const differ = (now: string | undefined, then: string | null) => now !== undefined && then !== null && now !== then

/** Whether this answer says that the payload is the one that is held. */
export const confirms = (ask: Ask, response: HttpClientResponse.HttpClientResponse) => {
  const { held } = ask
  if (held === undefined || response.status !== 304) return false
  const { etag, "last-modified": modified } = response.headers
  const isOther =
    held.etag === null ? differ(modified, held.last_modified) : differ(etag && weak(etag), weak(held.etag))
  return !isOther && Object.entries(toldBy(ask, response)).every(([name, value]) => held.told[name] === value)
}
