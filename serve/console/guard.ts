/** What every answer of the console carries, which forms it believes, and how much of them it reads. */
import { isIP } from "node:net"
import { getRequestIP, type H3Event } from "h3"
import { type Form, formOf } from "./form.ts"

/** `paysAt` are the origins of the payment page that forms lead to, such as `https://checkout.stripe.com`. */
export const securityHeaders = (settings: { readonly secure: boolean; readonly paysAt: ReadonlyArray<string> }) => ({
  "content-security-policy": [
    "default-src 'none'",
    ...["script-src", "style-src", "img-src", "font-src", "connect-src"].map((source) => `${source} 'self'`),
    // browsers hold the redirect that follows a form to this, too
    ["form-action 'self'", ...settings.paysAt].join(" "),
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
 * Where this request says that the console is. Where nobody has set its public address that is the host it was asked by:
 * the machine's own address, by whichever of its names.
 */
export const originOf = (event: H3Event, publicUrl: string | undefined): string =>
  publicUrl ?? `http://${event.req.headers.get("host") ?? ""}`

/** Forms are sent from pages of the console itself. A browser always says where a form comes from. */
export const isFromHere = (event: H3Event, origin: string): boolean => {
  const { headers } = event.req
  const site = headers.get("sec-fetch-site")
  return headers.get("origin") === origin && (site === null || site === "same-origin")
}

/** Somebody with IPv6 has a whole network of addresses, 64 bits of it. */
const networkOf = (address: string): string => {
  const plain = address.trim().replace(/^::ffff:(?=\d+\.)/i, "")
  if (isIP(plain) !== 6) return plain
  const [head = "", tail] = plain.split("::")
  const groups = head === "" ? [] : head.split(":")
  const behind = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - behind.length)
  const all = [...groups, ...Array.from({ length: zeros }, () => "0"), ...behind]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`
}

/**
 * Whose failed sign-ins are counted together. Where a proxy on this machine stands in front, that is the last address in
 * its X-Forwarded-For, which it added itself: else everybody behind it would wait for everybody else. From elsewhere
 * nobody's header is believed.
 */
export const callerOf = (peer: string, forwardedFor: string | null): string => {
  const network = networkOf(peer)
  const isHere = network.startsWith("127.") || network === networkOf("::1")
  const told = forwardedFor?.split(",").at(-1)?.trim() ?? ""
  return isHere && isIP(told) !== 0 ? networkOf(told) : network
}

export const addressOf = (event: H3Event): string =>
  callerOf(getRequestIP(event) ?? "", event.req.headers.get("x-forwarded-for"))

const mostFormBytes = 65_536

/** Undefined where it is no form, or a huge one. */
export const readForm = async (event: H3Event): Promise<Form | undefined> => {
  const type = event.req.headers.get("content-type") ?? ""
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) return undefined
  const text = await readText(event, mostFormBytes)
  return text === undefined ? undefined : formOf(new URLSearchParams(text))
}

/** Beyond it whoever sends is cut off; up to it what is too long is read to its end, so that the refusal arrives. */
const mostDiscardedBytes = 16_777_216

/** The body as text; undefined where it is longer. */
export const readText = async (event: H3Event, mostBytes: number): Promise<string | undefined> => {
  const kept: Array<Uint8Array> = []
  let bytes = 0
  for await (const chunk of event.req.body ?? []) {
    bytes += chunk.length
    if (bytes <= mostBytes) kept.push(chunk)
    else if (bytes > mostDiscardedBytes) break
  }
  return bytes > mostBytes ? undefined : Buffer.concat(kept).toString("utf8")
}
