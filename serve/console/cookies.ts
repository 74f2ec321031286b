/**
 * The console's two cookies: the session, and what is told on the next page. Over https they carry the `__Host-` prefix,
 * so that no neighbouring host can set them; plain http is for one's own machine.
 */
import { Redacted, Schema } from "effect"
import { getCookie, type H3Event } from "h3"
import type { SignedIn } from "../people/people.ts"
import type { Flash } from "./page.ts"

const FlashText = Schema.fromJsonString(
  Schema.Struct({
    tone: Schema.Literals(["good", "warning", "bad", "quiet"]),
    text: Schema.String.check(Schema.isMaxLength(500))
  })
)
const decodeFlash = Schema.decodeUnknownOption(FlashText)
const encodeFlash = Schema.encodeSync(FlashText)

/** Long enough for the redirect that it is made for. */
const flashSeconds = 60

const attributes = (secure: boolean) => `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`

/** `secure`: whether people reach the console over https. */
export const makeCookies = (secure: boolean) => {
  const prefix = secure ? "__Host-" : ""
  const session = `${prefix}larder_session`
  const flash = `${prefix}larder_notice`
  const set = (name: string, value: string, until: string) => `${name}=${value}; ${until}; ${attributes(secure)}`
  const gone = "Max-Age=0"
  return {
    sessionOf: (event: H3Event): Redacted.Redacted | undefined => {
      const token = getCookie(event, session)
      return token === undefined || token === "" ? undefined : Redacted.make(token)
    },
    setSession: ({ expires_at, token }: SignedIn) =>
      set(session, token, `Expires=${new Date(expires_at).toUTCString()}`),
    dropSession: set(session, "", gone),
    flashOf: (event: H3Event): Flash | undefined => {
      const value = getCookie(event, flash)
      if (value === undefined) return undefined
      const decoded = decodeFlash(Buffer.from(value, "base64url").toString("utf8"))
      return decoded._tag === "Some" ? decoded.value : undefined
    },
    setFlash: (told: Flash) =>
      set(flash, Buffer.from(encodeFlash(told)).toString("base64url"), `Max-Age=${flashSeconds}`),
    dropFlash: set(flash, "", gone)
  }
}
export type Cookies = ReturnType<typeof makeCookies>
