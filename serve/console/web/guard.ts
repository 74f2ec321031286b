/** The console's security headers, the check that a form was sent from the console, and limits on request bodies. */
import type { BlockList } from "node:net"
import { getRequestIP, type H3Event } from "h3"
import { isLoopbackUrl, parseHost } from "../../addresses.ts"
import { findCaller, isInNetworks, loopback } from "../../trusted-proxies.ts"
import { makeForm, type SentForm } from "./form.ts"

export const makeSecurityHeaders = (isSecure: boolean) => ({
  "content-security-policy": [
    "default-src 'none'",
    ...["script-src", "style-src", "img-src", "font-src", "connect-src"].map((source) => `${source} 'self'`),
    "form-action 'self'", // browsers also apply this to the redirect after a form
    "frame-ancestors 'none'",
    "base-uri 'none'"
  ].join("; "),
  "x-content-type-options": "nosniff",
  // not no-referrer: with it, a form's Origin would be "null"
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  ...(isSecure ? { "strict-transport-security": "max-age=31536000" } : {})
})

/**
 * The host in the request, which may be any name of this machine. An attacker can point another name at this
 * machine and send a local browser here, so over loopback only loopback names are accepted.
 */
const findTrustedHost = (event: H3Event): string | undefined => {
  const host = parseHost(event.req.headers.get("host"))
  if (host === undefined) return undefined
  return isInNetworks(loopback, getRequestIP(event) ?? "") && !isLoopbackUrl(`http://${host}`) ? undefined : host
}

/** The console's public address if it is set, otherwise the host of the request, or localhost if it is not trusted. */
export const findConsoleOrigin = (event: H3Event, publicUrl: string | undefined): string =>
  publicUrl ?? `http://${findTrustedHost(event) ?? `localhost:${event.url.port}`}`

/** True if the form was sent from a page of the console. Browsers always send the origin of a form. */
export const isFromConsole = (event: H3Event, origin: string): boolean => {
  const { headers } = event.req
  const site = headers.get("sec-fetch-site")
  return headers.get("origin") === origin && (site === null || site === "same-origin")
}

/**
 * Finds the client's network address, from trusted proxies if any. Failed sign-ins are counted per address. Warns once if
 * a proxy does not name its callers.
 */
export const makeAddressFinder = (trustedProxies: BlockList, warn: (message: string) => void) => {
  let hasWarned = false
  return (event: H3Event): string => {
    const { headers } = event.req
    const { caller, problem } = findCaller(trustedProxies, getRequestIP(event) ?? "", {
      forwarded: headers.get("forwarded"),
      forwardedFor: headers.get("x-forwarded-for")
    })
    if (problem !== undefined && !hasWarned) {
      hasWarned = true
      warn(
        `A caller behind the proxy ${caller} counts as the proxy itself, because ${problem}. Failed sign-ins of all such callers delay each other. Have the proxy set one of X-Forwarded-For and Forwarded to its caller's address, and remove the other.`
      )
    }
    return caller
  }
}

const maxFormBytes = 65_536

/** "unreadable" if the body is not a form or is oversized. */
export const readForm = async (event: H3Event): Promise<SentForm | "unreadable" | "aborted"> => {
  const type = event.req.headers.get("content-type") ?? ""
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) return "unreadable"
  const body = await readBody(event, maxFormBytes)
  if (typeof body === "object") return makeForm(new URLSearchParams(body.text))
  return body === "oversized" ? "unreadable" : body
}

/**
 * An oversized body up to this size is read to its end, so that the client receives the refusal; beyond it the
 * connection is closed.
 */
const maxDiscardedBytes = 16_777_216

/** The body as text. "aborted" if the client disconnects. */
export const readBody = async (
  event: H3Event,
  maxBytes: number
): Promise<{ readonly text: string } | "oversized" | "aborted"> => {
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  try {
    for await (const chunk of event.req.body ?? []) {
      bytes += chunk.length
      if (bytes <= maxBytes) chunks.push(chunk)
      else if (bytes > maxDiscardedBytes) break
    }
  } catch {
    return "aborted" // a body can fail for no other reason
  }
  return bytes > maxBytes ? "oversized" : { text: Buffer.concat(chunks).toString("utf8") }
}
