/** Pages for people who are not signed in: the sign-in itself and invitations. */
import type { Effect } from "effect"
import type { SignedIn } from "../people/people.ts"
import type { Form } from "./form.ts"
import type { Answer } from "./page.ts"

export interface PublicContext {
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  /** The caller's network address. */
  readonly address: string
}

/** Besides answers: a session begins, and the person goes on to a path of the console. */
export type PublicAnswer = Answer | { readonly kind: "signed-in"; readonly signedIn: SignedIn; readonly to: string }

export interface PublicPage<out R> {
  readonly path: `/${string}`
  readonly get: (context: PublicContext) => Effect.Effect<PublicAnswer, unknown, R>
  readonly post: (context: PublicContext & { readonly form: Form }) => Effect.Effect<PublicAnswer, unknown, R>
}

/** Where a sign-in leads: a path of the console, or its overview where the text is anything else. */
export const ownPath = (text: string | null): string => {
  if (text === null || !text.startsWith("/")) return "/"
  const url = URL.parse(text, "http://console.invalid")
  // `//host`, `/\host` and their like leave the origin
  return url?.origin === "http://console.invalid" && !url.pathname.startsWith("//") ? url.pathname + url.search : "/"
}
