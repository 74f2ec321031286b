/**
 * The simulator's payment page. Like the page of a real processor it requires no sign-in; its address alone identifies
 * the payment. The shell mounts it at `/simulator/checkout/:reference`, with the console's security headers.
 */
import { Effect } from "effect"
import {
  type CheckoutResult,
  centsToCredits,
  type EnteredCard,
  type Refusable,
  type SimulatedPayment,
  type Simulator,
  testCards,
  whyCardsAreSaved
} from "../../billing/index.ts"
import type { ConsoleUnavailable } from "../../persistence/index.ts"
import { assetPaths } from "../web/assets.ts"
import { button, type Form, field, postForm } from "../web/form.ts"
import { count, type Html, html, linkButton, notice, section, table, usdOfCents } from "../web/html.ts"

export type CheckoutAnswer =
  | { readonly kind: "document"; readonly status: number; readonly body: Html }
  | { readonly kind: "leave"; readonly url: string }

export interface CheckoutPage {
  readonly get: (reference: string) => Effect.Effect<CheckoutAnswer, ConsoleUnavailable>
  readonly post: (reference: string, form: Form) => Effect.Effect<CheckoutAnswer, ConsoleUnavailable>
}

const framed = (title: string, body: Html): Html => html`<!doctype html>
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
const shown = (status: number, title: string, body: Html): CheckoutAnswer => ({
  kind: "document",
  status,
  body: framed(title, body)
})

/** Formatted as printed on cards. */
const spaced = (number: string) =>
  number.length === 15 ? number.replace(/^(.{4})(.{6})/, "$1 $2 ") : number.replace(/(.{4})(?=.)/g, "$1 ")

const cardList = section(
  "Test cards",
  html`<p>Use any future month and any three digits with them.</p>${table({
    caption: "Test card numbers",
    columns: [{ label: "Number" }, { label: "What it does" }],
    rows: Object.values(testCards).map(({ about, number }) => [
      html`<code class="nowrap">${spaced(number)}</code>`,
      about
    ])
  })}`
)

const back = (payment: SimulatedPayment | undefined) =>
  payment?.cancel_url ? linkButton(payment.cancel_url, "Back without paying") : null

const notFound = shown(
  404,
  "No such payment",
  html`<p>There is no payment at this address. Start again in the console.</p>`
)

const over = (payment: SimulatedPayment) =>
  shown(
    410,
    "This payment has expired",
    html`<p>The payment was not made in time, and nothing was charged.</p><p>${back(payment)}</p>`
  )

type Problems = Partial<Record<keyof EnteredCard, string>>
const empty: EnteredCard = { number: "", expires: "", cvc: "" }

/** The fields do not declare that they take a card; otherwise the browser would offer the person's own card. */
const toPay = (payment: SimulatedPayment, status: number, problems: Problems, typed: EnteredCard, refused?: string) => {
  const first = (["number", "expires", "cvc"] as const).find((name) => problems[name] !== undefined) ?? "number"
  return shown(
    status,
    `Pay ${usdOfCents(payment.cents)}`,
    html`${notice("warning", "Simulated payment: no money moves. Use a test card below, never a real one.")}
${refused !== undefined && notice("bad", `${refused} Nothing was charged. Try another card.`)}
<p class="lead">To Larder, for ${count(centsToCredits(payment.cents))} credits of its data service. The receipt will be in the console, under
Billing. ${whyCardsAreSaved}</p>
${section(
  "Card",
  postForm({
    body: html`${field({
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
<div class="row">${button(`Pay ${usdOfCents(payment.cents)}`)} ${back(payment)}</div>`
  })
)}
${cardList}`
  )
}

const atBank = (payment: SimulatedPayment) =>
  shown(
    200,
    "Confirm with your bank",
    html`<p>The bank that issued this card asks the cardholder: do you want to pay <strong>${usdOfCents(payment.cents)}</strong> to Larder?</p>
${postForm({
  body: html`<div class="row">${button("Confirm", "primary", { name: "bank", value: "confirm" })} ${button(
    "Refuse",
    "plain",
    { name: "bank", value: "refuse" }
  )}</div>`
})}`
  )

const answerTo = (payment: SimulatedPayment, paying: CheckoutResult, typed: EnteredCard): CheckoutAnswer => {
  if (paying.kind === "paid") return { kind: "leave", url: paying.url }
  if (paying.kind === "requires_authentication") return atBank(payment)
  if (paying.kind === "over") return over(payment)
  return paying.kind === "declined"
    ? toPay(payment, 402, {}, empty, paying.problem)
    : toPay(payment, 422, paying.problems, typed)
}

export const checkoutPageOf = (simulator: Simulator["Service"]): CheckoutPage => {
  /** A missing payment has no page. */
  const of = (reference: string, answer: (payment: SimulatedPayment) => Refusable<CheckoutAnswer>) =>
    Effect.flatMap(simulator.payment(reference), (payment) =>
      payment?.made_by === "checkout"
        ? Effect.catchTag(answer(payment), "SimulatorRefuses", () => Effect.succeed(notFound))
        : Effect.succeed(notFound)
    )
  return {
    get: (reference) =>
      of(reference, (payment) =>
        Effect.map(simulator.currentStep(reference), (stage) =>
          stage === undefined ? toPay(payment, 200, {}, empty) : answerTo(payment, stage, empty)
        )
      ),
    post: (reference, form) => {
      const bank = form.text("bank")
      const typed = { number: form.text("number"), expires: form.text("expires"), cvc: form.text("cvc") }
      return of(reference, (payment) =>
        Effect.map(
          bank === "" ? simulator.pay(reference, typed) : simulator.answerBank(reference, bank === "confirm"),
          (paying) => answerTo(payment, paying, typed)
        )
      )
    }
  }
}
