/**
 * A page of the console is a value: a path, who may see it, and what it answers. The shell (`app.ts`) does the rest: it
 * knows the person, refuses forged forms, lays the page out, and turns failures into pages.
 *
 *     export const ledgerPage: Page<Administration> = {
 *       path: "/billing/ledger",
 *       get: ({ account }) => Effect.map(entries(account.id), (rows) => show("Ledger", html`…`))
 *     }
 *
 * Whatever a page reads or changes, it does for `context.account.id` and no other account.
 */
import { type Effect, type Redacted, Schema } from "effect"
import type { AccountSummary } from "../ledger/administration.ts"
import type { Person, SignedIn } from "../people/people.ts"
import type { Form } from "./form.ts"
import type { Html, Tone } from "./html.ts"

/** A request of somebody who is signed in. */
export interface PageContext {
  readonly person: Person
  /** The person's account, as it is now. */
  readonly account: AccountSummary
  /** As it was asked, with its query; on the console's own address. */
  readonly url: URL
  /** What stands in the places of the path, such as `id` in `/keys/:id`, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** Public address of the console, such as `https://console.example.com`, without a slash at the end. */
  readonly console: string
  /** Address of the API, such as `http://127.0.0.1:8080`, without `/v1`. */
  readonly api: string
  /** Milliseconds; the one moment of this request. */
  readonly now: number
  /** The session's token, for what asks that this one session stays. Never to be shown. */
  readonly session: Redacted.Redacted
}
export interface FormContext extends PageContext {
  readonly form: Form
}

/** What is told once, on the next page that is shown. Plain text, and never a secret. */
export interface Flash {
  readonly tone: Tone
  readonly text: string
}

export type Answer =
  | {
      readonly kind: "page"
      readonly status: number
      readonly title: string
      readonly body: Html
      /** Seconds until it makes sense to try again. */
      readonly retry_after?: number
    }
  | { readonly kind: "redirect"; readonly to: string; readonly flash: Flash | undefined }
  /** A session begins in place of the one that this browser had, and the person goes on to a path of the console. */
  | { readonly kind: "signed-in"; readonly signedIn: SignedIn; readonly to: string; readonly flash: Flash | undefined }
  | { readonly kind: "leave"; readonly url: string }
  | {
      readonly kind: "download"
      readonly name: string
      readonly type: string
      readonly body: string | ReadableStream<Uint8Array>
    }

/** A page inside the layout; `title` is its heading, too. A form with mistakes is shown again with status 422. */
export const show = (title: string, body: Html, status = 200): Answer => ({ kind: "page", status, title, body })
/** A form that was sent too often: shown again, with what it says about that. */
export const putOff = (title: string, body: Html, seconds: number): Answer => ({
  kind: "page",
  status: 429,
  title,
  body,
  retry_after: seconds
})
/** After a form was accepted: to a path of the console, where `text` is told. */
export const redirect = (to: `/${string}`, text?: string, tone: Tone = "good"): Answer => ({
  kind: "redirect",
  to,
  flash: text === undefined ? undefined : { tone, text }
})
export const signedIn = (begun: SignedIn, to: string, text?: string): Answer => ({
  kind: "signed-in",
  signedIn: begun,
  to,
  flash: text === undefined ? undefined : { tone: "good", text }
})
/** To another site, such as the processor's payment page. */
export const leave = (url: string): Answer => ({ kind: "leave", url })
/** A file; streamed where the body is a stream. `type` such as `text/csv; charset=utf-8`. */
export const download = (name: string, type: string, body: string | ReadableStream<Uint8Array>): Answer => ({
  kind: "download",
  name,
  type,
  body
})

/** There is no such page, for this person: also where there is one for others. */
export class PageNotFound extends Schema.TaggedError<PageNotFound>()("PageNotFound", {}) {
  override get message() {
    return "No such page"
  }
}

/**
 * `R` are the services it uses. Failures besides `PageNotFound` become a page that says whether to try again, and are told
 * to the operator: what a person did wrong is an answer, not a failure.
 */
export interface Page<out R = never> {
  /** Such as `/keys/:id`. */
  readonly path: `/${string}`
  /** Its name in the navigation, in the order of the list of pages; pages below its path count as part of it. */
  readonly nav?: string
  /** Others get 404. */
  readonly operatorsOnly?: boolean
  /** It shows what the warehouse holds, or is where people begin: it tells of bundled samples as long as there are any. */
  readonly tellsOfSamples?: boolean
  /** Looking at it may book a payment: its header tells the balance after that. */
  readonly books?: boolean
  readonly get?: (context: PageContext) => Effect.Effect<Answer, unknown, R>
  readonly post?: (context: FormContext) => Effect.Effect<Answer, unknown, R>
}
