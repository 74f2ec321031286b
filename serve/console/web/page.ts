/**
 * A page of the console is a value: a path, its audience and its answers. The shell (`app.ts`) does the rest: it
 * identifies the person, rejects forged forms, adds the layout, and turns failures into pages.
 *
 *     export const ledgerPage: Page<Administration> = {
 *       path: "/billing/ledger",
 *       get: ({ account }) => Effect.map(entries(account.id), (rows) => show("Ledger", html`…`))
 *     }
 *
 * A page reads and changes only the account `context.account.id`.
 */
import { type Effect, type Redacted, Schema } from "effect"
import type { AccountSummary } from "../../ledger/index.ts"
import type { Person, SignedIn } from "../../people/index.ts"
import type { Form } from "./form.ts"
import type { Html, Tone } from "./html.ts"

/** A request of a signed-in person. */
export interface PageContext {
  readonly person: Person
  /** The current state of the person's account. */
  readonly account: AccountSummary
  /** The requested address with its query, on the console's own origin. */
  readonly url: URL
  /** Parameters of the path, such as `id` in `/keys/:id`, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** Public address of the console, such as `https://console.example.com`, without a slash at the end. */
  readonly console: string
  /** Address of the API, such as `http://127.0.0.1:8080`, without `/v1`. */
  readonly api: string
  /** Time of the request in milliseconds. */
  readonly now: number
  /** The session's token, for changes that keep only this session. Never shown. */
  readonly session: Redacted.Redacted
}
export interface FormContext extends PageContext {
  readonly form: Form
}

/** A notice that is shown once, on the next page. Plain text, and never a secret. */
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
      /** Seconds until a retry makes sense. */
      readonly retry_after?: number
    }
  | { readonly kind: "redirect"; readonly to: string; readonly flash: Flash | undefined }
  /** Starts a session in place of the browser's previous one, and redirects to a path of the console. */
  | { readonly kind: "signed-in"; readonly signedIn: SignedIn; readonly to: string; readonly flash: Flash | undefined }
  | { readonly kind: "leave"; readonly url: string }
  | {
      readonly kind: "download"
      readonly name: string
      readonly type: string
      readonly body: string | ReadableStream<Uint8Array>
    }

/** A page inside the layout; `title` is also its heading. A form with mistakes is shown again with status 422. */
export const show = (title: string, body: Html, status = 200): Answer => ({ kind: "page", status, title, body })
/** A form that was sent too often: shown again, with a message about it. */
export const putOff = (title: string, body: Html, seconds: number): Answer => ({
  kind: "page",
  status: 429,
  title,
  body,
  retry_after: seconds
})
/** After an accepted form: redirects to a path of the console, which shows `text`. */
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
/** Redirects to another site, such as the processor's payment page. */
export const leave = (url: string): Answer => ({ kind: "leave", url })
/** A file; streamed if the body is a stream. `type` such as `text/csv; charset=utf-8`. */
export const download = (name: string, type: string, body: string | ReadableStream<Uint8Array>): Answer => ({
  kind: "download",
  name,
  type,
  body
})

/** The page does not exist for this person, though it may exist for others. */
export class PageNotFound extends Schema.TaggedError<PageNotFound>()("PageNotFound", {}) {
  override get message() {
    return "No such page"
  }
}

/**
 * `R` are the services that the page uses. A failure other than `PageNotFound` becomes a page that says whether to
 * retry, and is reported to the operator. A mistake by the person is an answer, not a failure.
 */
export interface Page<out R = never> {
  /** Such as `/keys/:id`. */
  readonly path: `/${string}`
  /** Its name in the navigation, in the order of the list of pages; pages below its path belong to it. */
  readonly nav?: string
  /** Others get 404. */
  readonly operatorsOnly?: boolean
  /** Shows the notice about bundled samples, if any: the page shows data of the warehouse, or is the start page. */
  readonly showsSampleNotice?: boolean
  /** Viewing the page may book a payment, so the header shows the balance after that. */
  readonly books?: boolean
  readonly get?: (context: PageContext) => Effect.Effect<Answer, unknown, R>
  readonly post?: (context: FormContext) => Effect.Effect<Answer, unknown, R>
}
