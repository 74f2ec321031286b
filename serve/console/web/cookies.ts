/**
 * The console's cookies: the session, the token of a browser that was used to sign in, and the notice for the next
 * page. Browsers send cookies to all ports of a host, so their names contain the console's host and port: two consoles on
 * one host do not overwrite each other's. Over https the names begin with `__Host-`, so that no sibling host can set
 * them. Plain http is for local use only.
 */
import { Redacted, Schema } from "effect"
import { getCookie, type H3Event } from "h3"
import type { SignedIn } from "../../people/index.ts"
import type { Flash } from "./page.ts"

/** In UTF-16 units. A cookie has at most 4 kB, and the name of a key may have 200 emoji. */
const maxNoticeLength = 500

const FlashText = Schema.fromJsonString(
  Schema.Struct({
    tone: Schema.Literals(["good", "warning", "bad", "quiet"]),
    text: Schema.String.check(Schema.isMaxLength(maxNoticeLength))
  })
)
const decodeFlash = Schema.decodeUnknownOption(FlashText)
const encodeFlash = Schema.encodeSync(FlashText)

const shorten = (text: string) =>
  text.length <= maxNoticeLength ? text : `${text.slice(0, maxNoticeLength - 1).replace(/\p{Cs}$/u, "")}…`

/** Long enough for the redirect that follows. */
const flashSeconds = 60

/** `origin` is the address at which people reach the console. */
export const makeCookies = (origin: string) => {
  const isSecure = origin.startsWith("https:")
  const prefix = isSecure ? "__Host-" : ""
  const place = new URL(origin).host.replace(/[^\w.-]/g, "_") // a name contains no colon, as in 127.0.0.1:8081 or [::1]
  const session = `${prefix}larder_session_${place}`
  const browser = `${prefix}larder_browser_${place}`
  const flash = `${prefix}larder_notice_${place}`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`
  const formatCookie = (name: string, value: string, lifetime: string) => `${name}=${value}; ${lifetime}; ${attributes}`
  const formatDeletion = (name: string) => formatCookie(name, "", "Max-Age=0")
  const formatExpiry = (text: string) => `Expires=${new Date(text).toUTCString()}`
  const readSecret = (event: H3Event, name: string): Redacted.Redacted | undefined => {
    const token = getCookie(event, name)
    return token ? Redacted.make(token) : undefined
  }
  return {
    readSession: (event: H3Event) => readSecret(event, session),
    readKnownBrowser: (event: H3Event) => readSecret(event, browser),
    makeSignInCookies: ({ expires_at, known_browser, token }: SignedIn) => [
      formatCookie(session, token, formatExpiry(expires_at)),
      formatCookie(browser, known_browser.token, formatExpiry(known_browser.expires_at))
    ],
    sessionDeletion: formatDeletion(session),
    readFlash: (event: H3Event): Flash | undefined => {
      const value = getCookie(event, flash)
      if (value === undefined) return undefined
      const decoded = decodeFlash(Buffer.from(value, "base64url").toString("utf8"))
      return decoded._tag === "Some" ? decoded.value : undefined
    },
    makeFlashCookie: ({ text, tone }: Flash) =>
      formatCookie(
        flash,
        Buffer.from(encodeFlash({ tone, text: shorten(text) })).toString("base64url"),
        `Max-Age=${flashSeconds}`
      ),
    flashDeletion: formatDeletion(flash)
  }
}
export type Cookies = ReturnType<typeof makeCookies>
