/**
 * A page of the console is a value: a path, its audience, and what it returns for requests. `app.ts` does the rest: it
 * identifies the person, rejects forms of other sites and of other people, adds the layout, and shows failures as pages.
 * A page reads and changes only the account `context.account.id`. Public pages need no sign-in.
 */
import { type Effect, type Redacted, Schema } from "effect"
import type { AccountSummary } from "../../ledger/index.ts"
import type { Person, SignedIn } from "../../people/index.ts"
import type { SentForm } from "./form.ts"
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
  /** Whether the server sends mails about accounts. */
  readonly sendsMail: boolean
  /** Time of the request in milliseconds. */
  readonly now: number
  /** The session's token, for changes that keep only this session. Never shown. */
  readonly session: Redacted.Redacted
  /** Signature of the person and the account. Every form of the page contains it. */
  readonly formOwner: string
}
export interface FormContext extends PageContext {
  readonly form: SentForm
}

export interface PublicContext extends Pick<PageContext, "params" | "url"> {
  /** The client's network address. */
  readonly address: string
  /** The token of this browser's session, which may have ended. */
  readonly session: Redacted.Redacted | undefined
  /** Identifies a browser that was used to sign in before. */
  readonly known_browser: Redacted.Redacted | undefined
}

/** A notice that is shown once, on the next page. Plain text, and never a secret. */
export interface Flash {
  readonly tone: Tone
  readonly text: string
}

/** A page inside the layout; `title` is also its heading. */
export interface ShownPage {
  readonly kind: "page"
  readonly status: number
  readonly title: string
  readonly body: Html
  /** Seconds until a retry makes sense. */
  readonly retry_after?: number
}
export type PageResult =
  | ShownPage
  /** A complete document without the layout. */
  | { readonly kind: "document"; readonly status: number; readonly body: Html }
  | { readonly kind: "redirect"; readonly to: string; readonly flash: Flash | undefined }
  /** Starts a session that replaces the browser's previous one, and redirects to a path of the console. */
  | { readonly kind: "signed-in"; readonly signedIn: SignedIn; readonly to: string; readonly flash: Flash | undefined }
  /** The session has ended. */
  | { readonly kind: "signed-out" }
  | { readonly kind: "leave"; readonly url: string }
  | {
      readonly kind: "download"
      readonly name: string
      readonly type: string
      readonly body: ReadableStream<Uint8Array>
    }

/** A form with mistakes is shown again with status 422. */
export const show = (title: string, body: Html, status = 200): ShownPage => ({ kind: "page", status, title, body })
/** Shows the form again after too many attempts. */
export const askToWait = (title: string, body: Html, seconds: number): ShownPage => ({
  ...show(title, body, 429),
  retry_after: seconds
})
/** Redirects to a path of the console after an accepted form; the next page shows `text`. */
export const redirect = (to: `/${string}`, text?: string, tone: Tone = "good"): PageResult => ({
  kind: "redirect",
  to,
  flash: text === undefined ? undefined : { tone, text }
})
export const startSession = (signedIn: SignedIn, to: string, text?: string): PageResult => ({
  kind: "signed-in",
  signedIn,
  to,
  flash: text === undefined ? undefined : { tone: "good", text }
})
/** Redirects to another site, such as the processor's payment page. */
export const redirectAway = (url: string): PageResult => ({ kind: "leave", url })

/** The page does not exist for this person, though it may exist for others. */
export class PageNotFound extends Schema.TaggedError<PageNotFound>()("PageNotFound", {}) {
  override get message() {
    return "No such page"
  }
}

/**
 * `R` are the services that the page uses. A failure other than `PageNotFound` becomes a page that states whether to
 * retry, and is reported to the operator. A mistake by the person is a result, not a failure.
 */
export interface Page<out R = never> {
  /** Such as `/keys/:id`. */
  readonly path: `/${string}`
  /** Label in the navigation. Pages below the path belong to it. */
  readonly nav?: string
  /** Other people get 404. */
  readonly operatorsOnly?: boolean
  /** For the start page and the pages that show data of the warehouse. */
  readonly showsSampleNotice?: boolean
  /** Viewing the page may add a payment to the ledger, so the header shows the balance after that. */
  readonly mayBookPayment?: boolean
  readonly get?: (context: PageContext) => Effect.Effect<PageResult, unknown, R>
  readonly post?: (context: FormContext) => Effect.Effect<PageResult, unknown, R>
}

export interface PublicPage<out R = never> {
  readonly path: `/${string}`
  readonly get: (context: PublicContext) => Effect.Effect<PageResult, unknown, R>
  readonly post: (context: PublicContext & Pick<FormContext, "form">) => Effect.Effect<PageResult, unknown, R>
}
