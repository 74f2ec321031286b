/** Pages that need no sign-in: the sign-in itself and invitations. */
import type { Effect, Redacted } from "effect"
import type { SentForm } from "./form.ts"
import type { PageResult } from "./page.ts"

export interface PublicContext {
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  /** The client's network address. */
  readonly address: string
  /** The token of this browser's session, which may have ended. */
  readonly session: Redacted.Redacted | undefined
  /** Identifies a browser that was used to sign in before. */
  readonly known_browser: Redacted.Redacted | undefined
}

export interface PublicPage<out R> {
  readonly path: `/${string}`
  readonly get: (context: PublicContext) => Effect.Effect<PageResult, unknown, R>
  readonly post: (context: PublicContext & { readonly form: SentForm }) => Effect.Effect<PageResult, unknown, R>
}

/** The target after a sign-in: a path of the console, or the overview if the text is anything else. */
export const safeNextPath = (text: string | null): `/${string}` => {
  if (text === null || !text.startsWith("/")) return "/"
  const url = URL.parse(text, "http://console.invalid")
  // `//host`, `/\host` and their like leave the origin
  return url?.origin === "http://console.invalid" && !url.pathname.startsWith("//")
    ? `/${url.pathname.slice(1)}${url.search}`
    : "/"
}
