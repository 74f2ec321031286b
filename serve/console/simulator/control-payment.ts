/** The console page of one simulated payment, with its refunds and disputes. */
import { Effect } from "effect"
import {
  formatCard,
  type PaymentView,
  type RetrievedPayment,
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
/**
 * The billing pages use the same words, with two exceptions. An open payment is "Not confirmed yet" there, because it
 * may already be paid. A lost dispute is "Charged back" there, because that page addresses the cardholder.
 */
const stateTexts = { open: "Not paid yet", succeeded: "Paid", failed: "Failed", expired: "Not paid" } as const
const disputeBadges = {
  open: badge("Disputed", "bad"),
  lost: badge("Dispute lost", "bad"),
  won: badge("Dispute won", "good")
} as const
const disputeOutcomes = ["open", "lost", "won"] as const

const refundBadge = ({ cents, reversed }: RetrievedPayment) => {
  const refunded = reversed.reduce(
    (sum, { cents, kind, state }) => (kind === "refund" && state === "taken" ? sum + cents : sum),
    0
  )
  if (refunded === 0) return undefined
  return refunded === cents
    ? badge("Refunded", "warning")
    : html`${badge("Partly refunded", "warning")} ${centsText(refunded)}`
}

/** Whether the payment succeeded, and its reversals since. A payment can have both refunds and disputes. */
export const stateBadges = ({ retrieved, payment }: PaymentView): Html => {
  const disputes = disputeOutcomes.filter((outcome) =>
    payment.reversed.some((reversal) => reversal.kind === "dispute" && reversal.outcome === outcome)
  )
  const isDisputed = disputes.includes("open") || disputes.includes("lost")
  const mainBadge =
    refundBadge(retrieved) ?? (!isDisputed && badge(stateTexts[retrieved.state], tones[retrieved.state]))
  return html`${mainBadge}${disputes.map((outcome) => html` ${disputeBadges[outcome]}`)}`
}

export const simulatedPaymentPath = ({ payment }: PaymentView) =>
  `/simulator/payments/${encodeURIComponent(toReference(payment.payment_id))}` as const

export const simulatedCardText = ({ card }: SimulatedPayment) => (card === null ? "none" : formatCard(card))

const reversalTable = (context: PageContext, { payment, retrieved }: PaymentView) => {
  const refundState = (id: string) =>
    retrieved.reversed.some((reversal) => reversal.id === id && reversal.state === "returned")
      ? badge("Refund failed")
      : badge("Refunded", "warning")
  const actionButton = (id: string, text: string, action: string) =>
    postForm(context, html`${hiddenInput("id", id)}${button(text, "plain", { name: "do", value: action })}`, {
      inline: true
    })
  return stackedTable("Refunds and disputes", payment.reversed, [
    ["Kind", ({ kind }) => (kind === "refund" ? "Refund" : "Dispute")],
    ["Amount", ({ cents }) => centsText(cents), "numeric"],
    ["State", ({ id, outcome }) => (outcome === "refunded" ? refundState(id) : disputeBadges[outcome])],
    [
      "Actions",
      ({ fails_at, id, kind, outcome }) => {
        if (kind === "refund") return fails_at === null && actionButton(id, "Make it fail", "fail")
        return outcome === "open" && html`${actionButton(id, "Won", "won")} ${actionButton(id, "Lost", "lost")}`
      },
      "action"
    ]
  ])
}

const showPayment = (context: PageContext, view: PaymentView, problem?: string) => {
  const { retrieved, payment } = view
  const remaining = sumRemainingCents(retrieved)
  const forms: Html | false =
    remaining > 0 &&
    html`${section(
      "Refund",
      postForm(
        context,
        html`${dollarField({ name: "amount", label: "Amount", hint: `Leave empty to refund the remaining ${centsText(remaining)}.` })}<p>${button("Refund", "danger", { name: "do", value: "refund" })}</p>`
      )
    )}
${section("Dispute", postForm(context, button("Dispute the payment", "plain", { name: "do", value: "dispute" })))}`
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
${forms}
${payment.reversed.length > 0 && section("Refunds and disputes", reversalTable(context, view))}`
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
    ["dispute", simulator.dispute(reference), "The payment is disputed."],
    ["fail", simulator.failRefund(reference, id), "The refund failed."],
    ["won", simulator.close(reference, id, "won"), "The dispute was won."],
    ["lost", simulator.close(reference, id, "lost"), "The dispute was lost."]
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
