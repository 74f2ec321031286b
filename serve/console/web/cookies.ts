/**
 * The console's cookies: the session, the token of a browser that was used to sign in, and the notice for the next
 * page. Over https they carry the `__Host-` prefix, so that no sibling host can set them. Plain http is for local use.
 */
import { Redacted, Schema } from "effect"
import { getCookie, type H3Event } from "h3"
import type { SignedIn } from "../../people/index.ts"
import type { Flash } from "./page.ts"

/** In UTF-16 units. A cookie holds 4 kB, and the name of a key may have 200 emoji. */
const longestNotice = 500

const FlashText = Schema.fromJsonString(
  Schema.Struct({
    tone: Schema.Literals(["good", "warning", "bad", "quiet"]),
    text: Schema.String.check(Schema.isMaxLength(longestNotice))
  })
)
const decodeFlash = Schema.decodeUnknownOption(FlashText)
const encodeFlash = Schema.encodeSync(FlashText)

/** Cuts off a text that is too long; a notice is not data. */
const shortened = (text: string) =>
  text.length <= longestNotice ? text : `${text.slice(0, longestNotice - 1).replace(/\p{Cs}$/u, "")}…`

/** Long enough for the redirect that follows. */
const flashSeconds = 60

const attributes = (secure: boolean) => `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`

/** `secure`: people reach the console over https. */
export const makeCookies = (secure: boolean) => {
  const prefix = secure ? "__Host-" : ""
  const session = `${prefix}larder_session`
  const browser = `${prefix}larder_browser`
  const flash = `${prefix}larder_notice`
  const set = (name: string, value: string, until: string) => `${name}=${value}; ${until}; ${attributes(secure)}`
  const gone = "Max-Age=0"
  const expiring = (text: string) => `Expires=${new Date(text).toUTCString()}`
  const secretOf = (event: H3Event, name: string): Redacted.Redacted | undefined => {
    const token = getCookie(event, name)
    return token === undefined || token === "" ? undefined : Redacted.make(token)
  }
  return {
    sessionOf: (event: H3Event) => secretOf(event, session),
    knownBrowserOf: (event: H3Event) => secretOf(event, browser),
    setSignedIn: ({ expires_at, known_browser, token }: SignedIn) => [
      set(session, token, expiring(expires_at)),
      set(browser, known_browser.token, expiring(known_browser.expires_at))
    ],
    dropSession: set(session, "", gone),
    flashOf: (event: H3Event): Flash | undefined => {
      const value = getCookie(event, flash)
      if (value === undefined) return undefined
      const decoded = decodeFlash(Buffer.from(value, "base64url").toString("utf8"))
      return decoded._tag === "Some" ? decoded.value : undefined
    },
    setFlash: (flashed: Flash) =>
      set(
        flash,
        Buffer.from(encodeFlash({ ...flashed, text: shortened(flashed.text) })).toString("base64url"),
        `Max-Age=${flashSeconds}`
      ),
    dropFlash: set(flash, "", gone)
  }
}
export type Cookies = ReturnType<typeof makeCookies>
