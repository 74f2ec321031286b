/** What every answer of the console carries, which forms it believes, and how much of them it reads. */
import type { BlockList } from "node:net"
import { getRequestIP, type H3Event } from "h3"
import { hostIn, isLoopback } from "../addresses.ts"
import { callerOf, isOneOf, loopback } from "../trusted-proxies.ts"
import { type Form, formOf } from "./form.ts"

export const securityHeaders = (settings: { readonly secure: boolean }) => ({
  "content-security-policy": [
    "default-src 'none'",
    ...["script-src", "style-src", "img-src", "font-src", "connect-src"].map((source) => `${source} 'self'`),
    "form-action 'self'", // browsers hold the redirect that follows a form to this, too
    "frame-ancestors 'none'",
    "base-uri 'none'"
  ].join("; "),
  "x-content-type-options": "nosniff",
  // not no-referrer: a form's Origin would be "null" then
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  ...(settings.secure ? { "strict-transport-security": "max-age=31536000" } : {})
})

/**
 * The host that this request was sent to, by whichever of the machine's names. A browser on this machine can be sent here
 * by a name that anybody owns, so that over loopback no others than loopback names are believed.
 */
const believedHost = (event: H3Event): string | undefined => {
  const host = hostIn(event.req.headers.get("host"))
  if (host === undefined) return undefined
  return isOneOf(loopback, getRequestIP(event) ?? "") && !isLoopback(`http://${host}`) ? undefined : host
}

/** Where this request says that the console is, unless its public address was set. */
export const originOf = (event: H3Event, publicUrl: string | undefined): string =>
  publicUrl ?? `http://${believedHost(event) ?? `localhost:${event.url.port}`}`

/** Forms are sent from pages of the console itself. A browser always says where a form comes from. */
export const isFromHere = (event: H3Event, origin: string): boolean => {
  const { headers } = event.req
  const site = headers.get("sec-fetch-site")
  return headers.get("origin") === origin && (site === null || site === "same-origin")
}

/** The caller's network address, as far as it is to be believed: failed sign-ins are counted by it. */
export const addressOf = (event: H3Event, trustedProxies: BlockList): string =>
  callerOf(trustedProxies, getRequestIP(event) ?? "", event.req.headers.get("x-forwarded-for"))

const mostFormBytes = 65_536

/** What is no form, or a huge one, is unreadable. */
export const readForm = async (event: H3Event): Promise<Form | "unreadable" | "broken off"> => {
  const type = event.req.headers.get("content-type") ?? ""
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) return "unreadable"
  const body = await readText(event, mostFormBytes)
  if (body === "too long") return "unreadable"
  return body === "broken off" ? body : formOf(new URLSearchParams(body.text))
}

/** Beyond it whoever sends is cut off; up to it what is too long is read to its end, so that the refusal arrives. */
const mostDiscardedBytes = 16_777_216

/** The body as text. It is broken off where whoever sends goes away meanwhile, which anybody may do. */
export const readText = async (
  event: H3Event,
  mostBytes: number
): Promise<{ readonly text: string } | "too long" | "broken off"> => {
  const kept: Array<Uint8Array> = []
  let bytes = 0
  try {
    for await (const chunk of event.req.body ?? []) {
      bytes += chunk.length
      if (bytes <= mostBytes) kept.push(chunk)
      else if (bytes > mostDiscardedBytes) break
    }
  } catch {
    return "broken off" // a body fails in no other way
  }
  return bytes > mostBytes ? "too long" : { text: Buffer.concat(kept).toString("utf8") }
}
