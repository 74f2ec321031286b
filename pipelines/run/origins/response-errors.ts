/** What a response other than 200 means: which error it is, whether to retry, and what to quote from its body. */
import { STATUS_CODES } from "node:http"
import { Effect, Redacted } from "effect"
import { AccessDenied, RefusedByUpstream, type SourceRequest, UpstreamUnavailable } from "./origin.ts"

/** RFC 6585: the network, not the source, requires a sign-in. */
const signInStatus = 511
const signIn = "Sign in to the network with a browser, then run again."
const proxyRequiresPassword = "Put a user and a password into its address: HTTPS_PROXY=http://user:password@host:port."

/** 430 is Shopify's own throttling answer. */
const throttling = new Set([429, 430, 503])

/** 500 is included although one service uses it for an unknown report: tries are limited. 501 does not go away. */
const isTransient = (status: number) =>
  throttling.has(status) ||
  status === 408 ||
  status === 425 ||
  (status >= 500 && status !== 501 && status !== signInStatus)

/** Whether the host requires a pause: its status says so, or it sends `Retry-After`. */
export const requiresPause = (status: number, retryAfter: number | undefined) =>
  throttling.has(status) || (isTransient(status) && retryAfter !== undefined)

const seconds = (ms: number) => `${Math.ceil(ms / 1000)} s`

/** The key in plain and in encoded form: an upstream may repeat either in its response. */
const secretsOf = (ask: SourceRequest): ReadonlyArray<string> => {
  if (!ask.basicUser) return []
  const key = Redacted.value(ask.basicUser)
  return [key, Buffer.from(`${key}:`).toString("base64")].filter((secret) => secret !== "")
}

const quote = (text: string) => {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim()
  return line.length > 200 ? `"${line.slice(0, 200)}…"` : `"${line}"`
}

const messageInJson = (text: string): string | undefined => {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== "object" || body === null) return undefined
    const found = ["message", "error", "detail", "errors"].map((key) => Reflect.get(body, key))
    return found.find((value) => typeof value === "string" && value.trim() !== "")
  } catch {
    return undefined // not JSON, or cut at the read limit: it is quoted as text
  }
}

/** The first bytes of an error body for people: the message in JSON, the title of an HTML page, or else the text. */
const excerptOf = (body: string): string | undefined => {
  const text = body.trim()
  if (text === "") return undefined
  if (/^(<!doctype html|<html|<head|<body)/i.test(text)) {
    const title = /<title[^>]*>([^<]*)</i.exec(text)?.[1]?.trim()
    return title ? `an HTML page titled ${quote(title)}` : "an HTML page"
  }
  return quote(messageInJson(text) ?? text)
}

const signInOrMoved =
  "If that is the captive portal or the proxy of this network, sign in there and run again; otherwise the source has moved."

/** A redirect from HTTPS to HTTP is not followed: captive portals use one to lead to their page. */
export const leavesHttps = (url: string, to: URL) =>
  new UpstreamUnavailable({
    url,
    problem: `it redirects from https to http, to ${to.host}`,
    advice: signInOrMoved,
    may_pass: false
  })

/** Captive portals, and proxies with a sign-in, redirect to a page of another host. */
export const pageInstead = ({ accept, url }: SourceRequest, at: URL, type = "") =>
  at.host === new URL(url).host || !/html/i.test(type) || /html/i.test(accept)
    ? Effect.void
    : Effect.fail(
        new UpstreamUnavailable({
          url,
          problem: `it redirects to ${at.host}, which answers with an HTML page instead of data`,
          advice: signInOrMoved,
          may_pass: false
        })
      )

interface Refused {
  readonly ask: SourceRequest
  /** The address that responded: after a redirect, not the requested one. */
  readonly at: URL
  readonly status: number
  readonly body: string
  /** Set if this response pauses the host. `patience_ms` is how long a run is willing to wait for it. */
  readonly pause_ms?: number | undefined
  readonly patience_ms: number
}

export const responseError = ({ ask, at, status, body, pause_ms, patience_ms }: Refused) => {
  const { url, keyVariable: key_variable = null, basicUser } = ask
  const clean = secretsOf(ask).reduce((text, secret) => text.replaceAll(secret, "<key>"), body)
  const parts = [`HTTP ${status} ${STATUS_CODES[status] ?? ""}`.trim(), excerptOf(clean)].filter(Boolean)
  const isElsewhere = at.host !== new URL(url).host
  if (isElsewhere) parts.push(`from ${at.host}, to which it redirects`)
  if (isElsewhere && basicUser !== undefined) parts.push("without the key: the source has moved")
  if (status === 401 || status === 403) {
    const key = isElsewhere
      ? { key_variable: null, key_sent: false }
      : { key_variable, key_sent: basicUser !== undefined }
    return new AccessDenied({ url, status, problem: parts.join(", "), ...key })
  }
  if (status === signInStatus || status === 407) {
    const advice = status === 407 ? proxyRequiresPassword : signIn
    return new UpstreamUnavailable({ url, status, problem: parts.join(", "), may_pass: false, advice })
  }
  if (!isTransient(status)) return new RefusedByUpstream({ url, status, problem: parts.join(", ") })
  if (pause_ms === undefined) {
    return new UpstreamUnavailable({ url, problem: parts.join(", "), status })
  }
  const tooLong = pause_ms > patience_ms
  if (tooLong)
    parts.push(`it requires a pause of ${seconds(pause_ms)}, and a run waits at most ${seconds(patience_ms)}`)
  return new UpstreamUnavailable({ url, problem: parts.join(", "), status, may_pass: !tooLong, pause_ms })
}
