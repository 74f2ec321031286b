/** Pages that say what is not possible and what to do. */
import { type Html, html } from "./html.ts"

export interface ErrorPage {
  readonly status: number
  readonly title: string
  readonly body: Html
}

const toOverview = html`<p><a href="/">Go to the overview</a></p>`

export const notFoundPage: ErrorPage = {
  status: 404,
  title: "Page not found",
  body: html`<p>There is nothing at this address, or you have no access to it.</p>${toOverview}`
}

export const foreignFormPage = (origin: string): ErrorPage => ({
  status: 403,
  title: "Not accepted",
  body: html`<p>This form was not sent from the console itself, so nothing was done.</p>
<p>Open <a href="${origin}/">${origin}</a> and try again there. If you are an operator behind a proxy, set the console's public address in <code>LARDER_CONSOLE_URL</code>.</p>`
})

export const unreadableFormPage: ErrorPage = {
  status: 400,
  title: "Not understood",
  body: html`<p>What was sent is not a form of this console, or it is too long. Nothing was done.</p>${toOverview}`
}

export const methodNotAllowedPage: ErrorPage = { status: 405, title: "Not possible here", body: toOverview }

export const unavailablePage: ErrorPage = {
  status: 503,
  title: "Not available right now",
  body: html`<p>A part of the system does not respond. Nothing is lost: each change was made completely or not at all.</p>
<p>Try again in a moment. Before you repeat a change, check whether it was made.</p>`
}

export const faultPage = (reference: string): ErrorPage => ({
  status: 500,
  title: "Something went wrong",
  body: html`<p>This is our fault, and it was logged. Before you repeat a change, check whether it was made.</p>
<p class="muted">Reference for support: <code>${reference}</code></p>`
})
