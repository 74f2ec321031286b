/** Pages that say what is not possible and what to do. */
import { type Html, html } from "./html.ts"

export interface Refusal {
  readonly status: number
  readonly title: string
  readonly body: Html
}

const refusal = (status: number, title: string, body: Html): Refusal => ({ status, title, body })

export const notFound = refusal(
  404,
  "Page not found",
  html`<p>There is nothing at this address, or it is not yours to see.</p><p><a href="/">Go to the overview</a></p>`
)

export const forged = (origin: string) =>
  refusal(
    403,
    "Not accepted",
    html`<p>This form was not sent from the console itself, so nothing was done.</p>
<p>Open <a href="${origin}/">${origin}</a> and try again there. If you are an operator behind a proxy, set the console's public address in <code>LARDER_CONSOLE_URL</code>.</p>`
  )

export const unreadableForm = refusal(
  400,
  "Not understood",
  html`<p>What was sent is not a form of this console, or it is too long. Nothing was done.</p><p><a href="/">Go to the overview</a></p>`
)

export const methodNotAllowed = refusal(405, "Not possible here", html`<p><a href="/">Go to the overview</a></p>`)

export const unavailable = refusal(
  503,
  "Not available right now",
  html`<p>A part of the system does not answer. Nothing is lost: what was begun is either finished or was not done at all.</p>
<p>Try again in a moment, and look before you repeat something.</p>`
)

export const fault = (reference: string) =>
  refusal(
    500,
    "Something went wrong",
    html`<p>This is our fault, and it was noted. Look whether it was done before you repeat it.</p>
<p class="muted">Reference for support: <code>${reference}</code></p>`
  )
