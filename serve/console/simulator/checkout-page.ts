/**
 * The simulator's payment page. Like the page of a real processor, it requires no sign-in: its address alone
 * identifies the payment, so its forms pay for the account of that payment, even if
 * another person is signed in.
 */
import { Effect } from "effect"
import {
  type CheckoutResult,
  centsToCredits,
  type EnteredCard,
  type SimulatedPayment,
  type Simulator,
  type SimulatorEffect,
  savedCardExplanation,
  testCards
} from "../../billing/index.ts"
import { button, field } from "../web/form.ts"
import { centsText, countText, type Html, html, linkButton, notice, section, table } from "../web/html.ts"
import { documentHead } from "../web/layout.ts"
import { type PageResult, type PublicPage, redirectAway } from "../web/page.ts"

const showDocument = (status: number, title: string, body: Html): PageResult => ({
  kind: "document",
  status,
  body: html`<!doctype html>
<html lang="en">
<head>
${documentHead(`${title} – simulated payment`)}
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
})

/** Formatted as printed on cards. */
const groupDigits = (number: string) =>
  number.length === 15 ? number.replace(/^(.{4})(.{6})/, "$1 $2 ") : number.replace(/(.{4})(?=.)/g, "$1 ")

const cardList = section(
  "Test cards",
  html`<p>Use any future month and any three digits with them.</p>${table(
    "Test card numbers",
    Object.values(testCards),
    [
      ["Number", ({ number }) => html`<code class="nowrap">${groupDigits(number)}</code>`],
      ["What it does", ({ about }) => about]
    ]
  )}`
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
const cardFields = [
  { name: "number", label: "Card number", inputmode: "numeric", maxlength: 30 },
  { name: "expires", label: "Expires", hint: "Month and year, such as 04/30", maxlength: 10 },
  { name: "cvc", label: "Security code", inputmode: "numeric", maxlength: 4 }
] as const

/** The security code is never sent back. */
const payPage = (
  payment: SimulatedPayment,
  status: number,
  problems: Problems,
  { expires, number }: EnteredCard,
  declined?: string
) => {
  const shown = { expires, number, cvc: "" }
  const focused = cardFields.find(({ name }) => problems[name] !== undefined)?.name ?? "number"
  const fields = cardFields.map((options) => {
    const { name } = options
    return field({ ...options, value: shown[name], error: problems[name], required: true, autofocus: name === focused })
  })
  const form = html`<form method="post">${fields}
<div class="row">${button(`Pay ${centsText(payment.cents)}`)} ${backLink(payment)}</div></form>`
  return showDocument(
    status,
    `Pay ${centsText(payment.cents)}`,
    html`${notice("warning", "Simulated payment: no money moves. Use a test card below, never a real one.")}
${declined !== undefined && notice("bad", `${declined} Nothing was charged. Try another card.`)}
<p class="lead">To Larder, for ${countText(centsToCredits(payment.cents))} credits of the account ${payment.account_id}. The receipt will be in the console, under
Billing. ${savedCardExplanation}</p>
${section("Card", form)}
${cardList}`
  )
}

const bankPage = (payment: SimulatedPayment) =>
  showDocument(
    200,
    "Confirm with your bank",
    html`<p>The bank that issued this card asks the cardholder: do you want to pay <strong>${centsText(payment.cents)}</strong> to Larder, for the account ${payment.account_id}?</p>
<form method="post"><div class="row">${button("Confirm", "primary", { name: "bank", value: "confirm" })} ${button("Refuse", "plain", { name: "bank", value: "refuse" })}</div></form>`
  )

const showStep = (payment: SimulatedPayment, result: CheckoutResult, typed: EnteredCard): PageResult => {
  if (result.kind === "paid") return redirectAway(result.url)
  if (result.kind === "requires_authentication") return bankPage(payment)
  if (result.kind === "ended") return expiredPage(payment)
  return result.kind === "declined"
    ? payPage(payment, 402, {}, noFields, result.problem)
    : payPage(payment, 422, result.problems, typed)
}

export const makeCheckoutPage = (simulator: Simulator["Service"]): PublicPage => {
  const respond = (reference: string, show: (payment: SimulatedPayment) => SimulatorEffect<PageResult>) =>
    Effect.flatMap(simulator.findPayment(reference), (found) =>
      found?.payment.made_by === "checkout"
        ? Effect.catchTag(show(found.payment), "SimulatorRefused", () => Effect.succeed(notFound))
        : Effect.succeed(notFound)
    )
  return {
    path: "/simulator/checkout/:reference",
    get: ({ params: { reference = "" } }) =>
      respond(reference, (payment) =>
        Effect.map(simulator.currentStep(payment), (step) =>
          step === undefined ? payPage(payment, 200, {}, noFields) : showStep(payment, step, noFields)
        )
      ),
    post: ({ form, params: { reference = "" } }) => {
      const bank = form.text("bank")
      const typed = { number: form.text("number"), expires: form.text("expires"), cvc: form.text("cvc") }
      return respond(reference, (payment) =>
        Effect.map(
          bank === "" ? simulator.pay(reference, typed) : simulator.authenticate(reference, bank === "confirm"),
          (step) => showStep(payment, step, typed)
        )
      )
    }
  }
}
