/** Errors for responses other than 200: which error it is, whether to retry, and the quote from its body. */
import { STATUS_CODES } from "node:http"
import { Effect, Redacted } from "effect"
import { AccessDenied, RefusedByUpstream, type SourceRequest, UpstreamUnavailable } from "./origin.ts"

/** RFC 6585: the network, not the source, requires a login. */
const networkLoginStatus = 511
const signInAdvice = "Sign in to the network with a browser, then run again."
const proxyRequiresPassword = "Put a user and a password into its address: HTTPS_PROXY=http://user:password@host:port."

/** Whether the host limits this client, for all its addresses. Shopify does so with 430. */
export const limitsClient = (status: number) => status === 429 || status === 430

const throttling = new Set([429, 430, 503])

/** 500 is included although one service uses it for an unknown report: tries are limited. 501 is permanent. */
const isTransient = (status: number) =>
  throttling.has(status) ||
  status === 408 ||
  status === 425 ||
  (status >= 500 && status !== 501 && status !== networkLoginStatus)

/** Whether the host requires a pause, by its status or with `Retry-After`. */
export const isThrottling = (status: number, retryAfter: number | undefined) =>
  throttling.has(status) || (isTransient(status) && retryAfter !== undefined)

const formatSeconds = (ms: number) => `${Math.ceil(ms / 1000)} s`

/** The key in plain and in encoded form: an upstream may repeat either in its response. */
const listSecrets = ({ basicUser }: SourceRequest): ReadonlyArray<string> => {
  if (!basicUser) return []
  const key = Redacted.value(basicUser)
  return [key, Buffer.from(`${key}:`).toString("base64")].filter((secret) => secret !== "")
}

const quote = (text: string) => {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim()
  return line.length > 200 ? `"${line.slice(0, 200)}…"` : `"${line}"`
}

const findJsonText = (text: string, ...keys: ReadonlyArray<string>): string | undefined => {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== "object" || body === null) return undefined
    const values = keys.map((key) => Reflect.get(body, key))
    return values.find((value) => typeof value === "string" && value.trim() !== "")
  } catch {
    return undefined // not JSON, or truncated at the read limit: it is quoted as text
  }
}

/** A code is a word, which does not depend on the language of the upstream. */
const findCode = (text: string) => {
  const code = findJsonText(text, "code")
  return code !== undefined && /^\w{1,100}$/.test(code) ? { code } : {}
}

const summariseBody = (body: string): string | undefined => {
  const text = body.trim()
  if (text === "") return undefined
  if (/^(<!doctype html|<html|<head|<body)/i.test(text)) {
    const title = /<title[^>]*>([^<]*)</i.exec(text)?.[1]?.trim()
    return title ? `an HTML page titled ${quote(title)}` : "an HTML page"
  }
  return quote(findJsonText(text, "message", "error", "detail", "errors") ?? text)
}

const signInOrMovedAdvice =
  "If that is the captive portal or the proxy of this network, sign in there and run again; otherwise the source has moved."

/** A redirect from HTTPS to HTTP is not followed: captive portals use one to lead to their page. */
export const downgradeError = (url: string, to: URL) =>
  new UpstreamUnavailable({
    url,
    problem: `it redirects from https to http, to ${to.host}`,
    advice: signInOrMovedAdvice,
    may_pass: false
  })

/** Captive portals, and proxies with a login, redirect to a page of another host. */
export const refuseHtmlPage = ({ accept, url }: SourceRequest, from: URL, at: URL, type = "") =>
  at.host === from.host || !/html/i.test(type) || /html/i.test(accept)
    ? Effect.void
    : Effect.fail(
        new UpstreamUnavailable({
          url,
          problem: `it redirects to ${at.host}, which responds with an HTML page instead of data`,
          advice: signInOrMovedAdvice,
          may_pass: false
        })
      )

/** Which host it was, if it is not the one of the requested address. `from` is where the request was first sent. */
export const describeOtherHost = (url: string, from: URL, at: URL) => {
  if (at.host !== from.host) return `${at.host}, to which it redirects`
  return at.host === new URL(url).host ? undefined : `its mirror ${at.host}`
}

/** In milliseconds. */
export interface RequiredPause {
  readonly wait: number
  /** The longest pause that a run waits for. Set if the host is paused. */
  readonly maxWait?: number
  /** The time that all tries of the request have left. Set if the request waits itself. */
  readonly left?: number
}

interface ErrorResponse {
  readonly request: SourceRequest
  /** Where the request was first sent: to the service, or to its mirror. */
  readonly from: URL
  /** The address that responded: after a redirect, another one. */
  readonly at: URL
  readonly mayHaveKey: boolean
  readonly status: number
  readonly body: string
  readonly pause: RequiredPause | undefined
}

export const makeResponseError = ({ request, from, at, mayHaveKey, status, body, pause }: ErrorResponse) => {
  const { url, keyVariable: key_variable = null, basicUser } = request
  const redacted = listSecrets(request).reduce((text, secret) => text.replaceAll(secret, "<key>"), body)
  const parts = [`HTTP ${status} ${STATUS_CODES[status] ?? ""}`.trim(), summariseBody(redacted)].filter(Boolean)
  const other = describeOtherHost(url, from, at)
  if (other !== undefined) parts.push(`from ${other}`)
  if (!mayHaveKey && basicUser !== undefined) {
    parts.push(
      at.host !== from.host ? "without the key: the source has moved" : "without the key, which stays on this machine"
    )
  }
  if (status === 401 || status === 403) {
    const key = mayHaveKey
      ? { key_variable, key_sent: basicUser !== undefined }
      : { key_variable: null, key_sent: false }
    return new AccessDenied({ url, status, problem: parts.join(", "), ...key })
  }
  if (status === networkLoginStatus || status === 407) {
    const advice = status === 407 ? proxyRequiresPassword : signInAdvice
    return new UpstreamUnavailable({ url, status, problem: parts.join(", "), may_pass: false, advice })
  }
  if (!isTransient(status)) {
    return new RefusedByUpstream({ url, status, problem: parts.join(", "), ...findCode(redacted) })
  }
  if (pause === undefined) return new UpstreamUnavailable({ url, problem: parts.join(", "), status })
  const { left, maxWait = Number.POSITIVE_INFINITY, wait } = pause
  const may_pass = left === undefined ? wait <= maxWait : wait < left
  if (!may_pass) {
    const limit =
      left === undefined
        ? `a run waits at most ${formatSeconds(maxWait)}`
        : `its tries have ${formatSeconds(Math.max(0, left))} left`
    parts.push(`it requires a pause of ${formatSeconds(wait)}, and ${limit}`)
  }
  const required = left === undefined ? { pause_ms: wait } : { wait_ms: wait }
  return new UpstreamUnavailable({ url, problem: parts.join(", "), status, may_pass, ...required })
}
