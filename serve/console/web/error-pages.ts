/** Error pages, and the check whether a failure is temporary. */
import { Predicate } from "effect"
import { html } from "./html.ts"
import { type PageContext, show } from "./page.ts"

const overviewLink = html`<p><a href="/">Go to the overview</a></p>`

export const notFoundPage = show(
  "Page not found",
  html`<p>There is nothing at this address, or you have no access to it.</p>${overviewLink}`,
  404
)

export const crossOriginFormPage = (origin: string) =>
  show(
    "Not accepted",
    html`<p>This form was not sent from the console itself, so nothing was done.</p>
<p>Open <a href="${origin}/">${origin}</a> and try again there. If you are an operator behind a proxy, set the console's public address in <code>LARDER_CONSOLE_URL</code>.</p>`,
    403
  )

/** For a form that was opened before another person signed in with this browser. It never names that earlier person. */
export const otherOwnersFormPage = ({ account, person }: Pick<PageContext, "account" | "person">) =>
  show(
    "Nothing was changed",
    html`<p>This form was opened before the current person signed in, or for another account. You are signed in to <strong>${account.name}</strong> as ${person.email}.</p>
<p>To make the change for ${account.name}, open the page again. To make it for another account, sign out and sign in there first.</p>${overviewLink}`,
    409
  )

export const unreadableFormPage = show(
  "Invalid form",
  html`<p>The console cannot read this form: it is too long or was not created by the console. Nothing was done.</p>${overviewLink}`,
  400
)

export const methodNotAllowedPage = show("This page does not accept this request", overviewLink, 405)

export const unavailablePage = show(
  "Not available right now",
  html`<p>A part of the system does not respond. Nothing is lost: each change was made completely or not at all.</p>
<p>Try again in a moment. Before you repeat a change, check whether it was made.</p>`,
  503
)

export const faultPage = (reference: string) =>
  show(
    "Something went wrong",
    html`<p>This is our fault, and it was logged. Before you repeat a change, check whether it was made.</p>
<p class="muted">Reference for support: <code>${reference}</code></p>`,
    500
  )

const temporaryErrors =
  /^(ConsoleUnavailable|LedgerUnavailable|BillingUnavailable|ProcessorUnavailable|ServerUnreachable)$/

/** SQLSTATE class 22: PostgreSQL is available but rejects a value, and always will. */
const isRejectedValue = (error: unknown): boolean =>
  (Predicate.hasProperty(error, "code") && /^22[0-9A-Z]{3}$/.test(String(error.code))) ||
  (Predicate.hasProperty(error, "cause") && isRejectedValue(error.cause))

/** The database, the ledger or the card processor is unavailable; a retry may succeed. */
export const isTemporary = (error: unknown): boolean =>
  Predicate.hasProperty(error, "_tag") &&
  typeof error._tag === "string" &&
  temporaryErrors.test(error._tag) &&
  !isRejectedValue(error)
