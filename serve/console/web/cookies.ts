/**
 * The console's cookies: the session, the token of a browser that was used to sign in, and the notice for the next
 * page. Over https they carry the `__Host-` prefix, so that no sibling host can set them. Plain http is for local use only.
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

/** `secure`: people reach the console over https. */
export const makeCookies = (secure: boolean) => {
  const prefix = secure ? "__Host-" : ""
  const session = `${prefix}larder_session`
  const browser = `${prefix}larder_browser`
  const flash = `${prefix}larder_notice`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`
  const set = (name: string, value: string, lifetime: string) => `${name}=${value}; ${lifetime}; ${attributes}`
  const drop = (name: string) => set(name, "", "Max-Age=0")
  const expiresAt = (text: string) => `Expires=${new Date(text).toUTCString()}`
  const secretOf = (event: H3Event, name: string): Redacted.Redacted | undefined => {
    const token = getCookie(event, name)
    return token ? Redacted.make(token) : undefined
  }
  return {
    sessionOf: (event: H3Event) => secretOf(event, session),
    knownBrowserOf: (event: H3Event) => secretOf(event, browser),
    setSignedIn: ({ expires_at, known_browser, token }: SignedIn) => [
      set(session, token, expiresAt(expires_at)),
      set(browser, known_browser.token, expiresAt(known_browser.expires_at))
    ],
    dropSession: drop(session),
    flashOf: (event: H3Event): Flash | undefined => {
      const value = getCookie(event, flash)
      if (value === undefined) return undefined
      const decoded = decodeFlash(Buffer.from(value, "base64url").toString("utf8"))
      return decoded._tag === "Some" ? decoded.value : undefined
    },
    setFlash: ({ text, tone }: Flash) =>
      set(
        flash,
        Buffer.from(encodeFlash({ tone, text: shorten(text) })).toString("base64url"),
        `Max-Age=${flashSeconds}`
      ),
    dropFlash: drop(flash)
  }
}
export type Cookies = ReturnType<typeof makeCookies>
