/**
 * The simulator's payment page. Like the page of a real processor, it requires no sign-in: its address alone
 * identifies the payment. `app.ts` serves it at `/simulator/checkout/:reference`, with the console's security headers.
 */
import { Effect } from "effect"
import {
  type CheckoutResult,
  centsToCredits,
  type EnteredCard,
  type Refusable,
  type SimulatedPayment,
  type Simulator,
  savedCardExplanation,
  testCards
} from "../../billing/index.ts"
import type { ConsoleUnavailable } from "../../persistence/index.ts"
import { assetPaths } from "../web/assets.ts"
import { button, field, postForm, type SentForm } from "../web/form.ts"
import { centsText, countText, type Html, html, linkButton, notice, section, table } from "../web/html.ts"

export type CheckoutResponse =
  | { readonly kind: "document"; readonly status: number; readonly body: Html }
  | { readonly kind: "leave"; readonly url: string }

export interface CheckoutPage {
  readonly get: (reference: string) => Effect.Effect<CheckoutResponse, ConsoleUnavailable>
  readonly post: (reference: string, form: SentForm) => Effect.Effect<CheckoutResponse, ConsoleUnavailable>
}

const renderDocument = (title: string, body: Html): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – simulated payment</title>
<link rel="icon" type="image/svg+xml" href="${assetPaths.icon}">
<link rel="stylesheet" href="${assetPaths.style}">
</head>
<body class="outside">
<main id="content"><div class="container">
<h1>${title}</h1>
${body}
</div></main>
<footer><div class="container"><p>A simulated card processor. No money moves, and card numbers are not stored.</p></div></footer>
</body>
</html>
`
const showDocument = (status: number, title: string, body: Html): CheckoutResponse => ({
  kind: "document",
  status,
  body: renderDocument(title, body)
})

/** Formatted as printed on cards. */
const groupDigits = (number: string) =>
  number.length === 15 ? number.replace(/^(.{4})(.{6})/, "$1 $2 ") : number.replace(/(.{4})(?=.)/g, "$1 ")

const cardList = section(
  "Test cards",
  html`<p>Use any future month and any three digits with them.</p>${table({
    caption: "Test card numbers",
    columns: ["Number", "What it does"],
    rows: Object.values(testCards).map(({ about, number }) => [
      html`<code class="nowrap">${groupDigits(number)}</code>`,
      about
    ])
  })}`
)

const backLink = (payment: SimulatedPayment | undefined) =>
  payment?.cancel_url ? linkButton(payment.cancel_url, "Back without paying") : null

const notFound = showDocument(
  404,
  "No such payment",
  html`<p>There is no payment at this address. Start again in the console.</p>`
)

const expiredPage = (payment: SimulatedPayment) =>
  showDocument(
    410,
    "This payment has expired",
    html`<p>The payment was not made in time, and nothing was charged.</p><p>${backLink(payment)}</p>`
  )

type Problems = Partial<Record<keyof EnteredCard, string>>
const noFields: EnteredCard = { number: "", expires: "", cvc: "" }

/** The fields are not declared as fields of a card; otherwise the browser would offer the person's own card. */
const payPage = (
  payment: SimulatedPayment,
  status: number,
  problems: Problems,
  typed: EnteredCard,
  declined?: string
) => {
  const first = (["number", "expires", "cvc"] as const).find((name) => problems[name] !== undefined) ?? "number"
  const form = postForm(html`${field({
    name: "number",
    label: "Card number",
    inputmode: "numeric",
    maxlength: 30,
    value: typed.number,
    error: problems.number,
    required: true,
    autofocus: first === "number"
  })}
${field({
  name: "expires",
  label: "Expires",
  hint: "Month and year, such as 04/30",
  maxlength: 10,
  value: typed.expires,
  error: problems.expires,
  required: true,
  autofocus: first === "expires"
})}
${field({
  name: "cvc",
  label: "Security code",
  inputmode: "numeric",
  maxlength: 4,
  error: problems.cvc,
  required: true,
  autofocus: first === "cvc"
})}
<div class="row">${button(`Pay ${centsText(payment.cents)}`)} ${backLink(payment)}</div>`)
  return showDocument(
    status,
    `Pay ${centsText(payment.cents)}`,
    html`${notice("warning", "Simulated payment: no money moves. Use a test card below, never a real one.")}
${declined !== undefined && notice("bad", `${declined} Nothing was charged. Try another card.`)}
<p class="lead">To Larder, for ${countText(centsToCredits(payment.cents))} credits of its data service. The receipt will be in the console, under
Billing. ${savedCardExplanation}</p>
${section("Card", form)}
${cardList}`
  )
}

const bankPage = (payment: SimulatedPayment) =>
  showDocument(
    200,
    "Confirm with your bank",
    html`<p>The bank that issued this card asks the cardholder: do you want to pay <strong>${centsText(payment.cents)}</strong> to Larder?</p>
${postForm(html`<div class="row">${button("Confirm", "primary", { name: "bank", value: "confirm" })} ${button("Refuse", "plain", { name: "bank", value: "refuse" })}</div>`)}`
  )

const showStage = (payment: SimulatedPayment, paying: CheckoutResult, typed: EnteredCard): CheckoutResponse => {
  if (paying.kind === "paid") return { kind: "leave", url: paying.url }
  if (paying.kind === "requires_authentication") return bankPage(payment)
  if (paying.kind === "over") return expiredPage(payment)
  return paying.kind === "declined"
    ? payPage(payment, 402, {}, noFields, paying.problem)
    : payPage(payment, 422, paying.problems, typed)
}

export const makeCheckoutPage = (simulator: Simulator["Service"]): CheckoutPage => {
  const respond = (reference: string, show: (payment: SimulatedPayment) => Refusable<CheckoutResponse>) =>
    Effect.flatMap(simulator.payment(reference), (found) =>
      found?.payment.made_by === "checkout"
        ? Effect.catchTag(show(found.payment), "SimulatorRefused", () => Effect.succeed(notFound))
        : Effect.succeed(notFound)
    )
  return {
    get: (reference) =>
      respond(reference, (payment) =>
        Effect.map(simulator.currentStep(payment), (stage) =>
          stage === undefined ? payPage(payment, 200, {}, noFields) : showStage(payment, stage, noFields)
        )
      ),
    post: (reference, form) => {
      const bank = form.text("bank")
      const typed = { number: form.text("number"), expires: form.text("expires"), cvc: form.text("cvc") }
      return respond(reference, (payment) =>
        Effect.map(
          bank === "" ? simulator.pay(reference, typed) : simulator.authenticate(reference, bank === "confirm"),
          (stage) => showStage(payment, stage, typed)
        )
      )
    }
  }
}
