/** The console page of one simulated payment, with its refunds. */
import { Effect } from "effect"
import {
  formatCard,
  type PaymentView,
  type SimulatedPayment,
  type Simulator,
  type SimulatorEffect,
  sumRemainingCents,
  toReference
} from "../../billing/index.ts"
import { button, dollarField, hiddenInput, parseCents, postForm } from "../web/form.ts"
import {
  badge,
  centsText,
  facts,
  type Html,
  html,
  linkButton,
  notice,
  section,
  stackedTable,
  timeTag
} from "../web/html.ts"
import { type FormContext, type Page, type PageContext, PageNotFound, redirect, show } from "../web/page.ts"

const tones = { open: "warning", succeeded: "good", failed: "bad", expired: "quiet" } as const
/** As on the billing pages, except that an open payment is "Not confirmed yet" there, because it may already be paid. */
const stateTexts = { open: "Not paid yet", succeeded: "Paid", failed: "Failed", expired: "Not paid" } as const

/** Whether the payment succeeded, and how much of it was refunded since. */
export const stateBadges = ({ retrieved }: PaymentView): Html => {
  const refunded = retrieved.cents - sumRemainingCents(retrieved)
  if (refunded === 0) return badge(stateTexts[retrieved.state], tones[retrieved.state])
  return refunded === retrieved.cents
    ? badge("Refunded", "warning")
    : html`${badge("Partly refunded", "warning")} ${centsText(refunded)}`
}

export const simulatedPaymentPath = ({ payment }: PaymentView) =>
  `/simulator/payments/${encodeURIComponent(toReference(payment.payment_id))}` as const

export const simulatedCardText = ({ card }: SimulatedPayment) => (card === null ? "none" : formatCard(card))

const refundTable = (context: PageContext, { payment, retrieved }: PaymentView) => {
  const hasFailed = (id: string) => retrieved.reversed.some((refund) => refund.id === id && refund.state === "returned")
  return stackedTable("Refunds", payment.refunds, [
    ["Amount", ({ cents }) => centsText(cents), "numeric"],
    ["State", ({ id }) => (hasFailed(id) ? badge("Refund failed") : badge("Refunded", "warning"))],
    [
      "Actions",
      ({ fails_at, id }) =>
        fails_at === null &&
        postForm(
          context,
          html`${hiddenInput("id", id)}${button("Make it fail", "plain", { name: "do", value: "fail" })}`,
          { inline: true }
        ),
      "action"
    ]
  ])
}

const showPayment = (context: PageContext, view: PaymentView, problem?: string) => {
  const { retrieved, payment } = view
  const remaining = sumRemainingCents(retrieved)
  const refundForm =
    remaining > 0 &&
    section(
      "Refund",
      postForm(
        context,
        html`${dollarField({ name: "amount", label: "Amount", hint: `Leave empty to refund the remaining ${centsText(remaining)}.` })}<p>${button("Refund", "danger", { name: "do", value: "refund" })}</p>`
      )
    )
  const { payment_id, problem: paymentProblem } = payment
  const url = retrieved.state === "open" ? `/simulator/checkout/${encodeURIComponent(retrieved.reference)}` : null
  const about = facts([
    ["Payment", html`<code class="payment-id">${payment_id}</code>`],
    ["Account", html`<code>${payment.account_id}</code>`],
    payment.email !== null && ["E-mail", payment.email],
    ["Amount", centsText(payment.cents)],
    ["State", stateBadges(view)],
    ["Created", timeTag(payment.made_at)],
    ["Card", simulatedCardText(payment)],
    paymentProblem !== null && ["Problem", paymentProblem]
  ])
  const body = html`${problem !== undefined && notice("bad", problem)}
<p>${linkButton("/simulator", "Back to the simulator")} ${url !== null && linkButton(url, "Payment page")}</p>
${section("Payment", about)}
${refundForm}
${payment.refunds.length > 0 && section("Refunds", refundTable(context, view))}`
  return show(`Simulated payment of ${centsText(payment.cents)}`, body, problem === undefined ? 200 : 422)
}

/** Runs the action of the pressed button; returns the text to show after it. */
const runAction = (
  simulator: Simulator["Service"],
  reference: string,
  { form }: FormContext
): Effect.Effect<string, Effect.Error<SimulatorEffect<unknown>> | PageNotFound> => {
  const [amount, id] = [form.text("amount"), form.text("id")]
  const actions: ReadonlyArray<readonly [name: string, action: SimulatorEffect<unknown>, text: string]> = [
    ["refund", simulator.refund(reference, amount === "" ? null : (parseCents(amount) ?? 0)), "The refund was made."],
    ["fail", simulator.failRefund(reference, id), "The refund failed."]
  ]
  const [, action, text = ""] = actions.find(([name]) => name === form.text("do")) ?? []
  return action === undefined ? Effect.fail(new PageNotFound()) : Effect.as(action, text)
}

export const simulatedPaymentPage = (simulator: Simulator["Service"]): Page => {
  const findPayment = (reference: string) =>
    Effect.flatMap(simulator.findPayment(reference), (found) =>
      found === undefined ? Effect.fail(new PageNotFound()) : Effect.succeed(found)
    )
  return {
    path: "/simulator/payments/:reference",
    operatorsOnly: true,
    get: (context) => Effect.map(findPayment(context.params.reference ?? ""), (found) => showPayment(context, found)),
    post: (context) => {
      const { reference = "" } = context.params
      return Effect.flatMap(findPayment(reference), (found) =>
        runAction(simulator, reference, context).pipe(
          Effect.map((text) => redirect(simulatedPaymentPath(found), text)),
          Effect.catchTag("SimulatorRefused", ({ message }) => Effect.succeed(showPayment(context, found, message)))
        )
      )
    }
  }
}
