/** The console page of one simulated payment, with its refunds and disputes. */
import { Effect } from "effect"
import {
  formatCard,
  type PaymentView,
  type RetrievedPayment,
  referenceOf,
  remainingCents,
  type SimulatedPayment,
  type Simulator,
  type SimulatorRefused
} from "../../billing/index.ts"
import type { ConsoleUnavailable } from "../../persistence/index.ts"
import { button, dollarField, hiddenInput, parseCents, postForm } from "../web/form.ts"
import {
  actions,
  badge,
  centsText,
  facts,
  type Html,
  html,
  linkButton,
  momentTag,
  notice,
  numeric,
  section,
  table
} from "../web/html.ts"
import { type FormContext, type Page, PageNotFound, redirect, show } from "../web/page.ts"

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

/** Whether the payment succeeded, and its reversals since; refunds and disputes do not exclude each other. */
export const stateBadges = ({ retrieved, payment }: PaymentView): Html => {
  const disputes = disputeOutcomes.filter((outcome) =>
    payment.reversed.some((reversal) => reversal.kind === "dispute" && reversal.outcome === outcome)
  )
  const isGone = disputes.includes("open") || disputes.includes("lost")
  const mainBadge = refundBadge(retrieved) ?? (!isGone && badge(stateTexts[retrieved.state], tones[retrieved.state]))
  return html`${mainBadge}${disputes.map((outcome) => html` ${disputeBadges[outcome]}`)}`
}

export const simulatedPaymentPath = ({ payment }: PaymentView) =>
  `/simulator/payments/${encodeURIComponent(referenceOf(payment.payment_id))}` as const

export const simulatedCardText = ({ card }: SimulatedPayment) => (card === null ? "none" : formatCard(card))

const reversalRows = (seen: PaymentView) =>
  seen.payment.reversed.map(({ cents, fails_at, id, kind, outcome }) => {
    const actionButton = (text: string, action: string) =>
      postForm(html`${hiddenInput("id", id)}${button(text, "plain", { name: "do", value: action })}`, { inline: true })
    const hasFailed = seen.retrieved.reversed.some((reversal) => reversal.id === id && reversal.state === "returned")
    const refund = hasFailed ? badge("Refund failed") : badge("Refunded", "warning")
    return [
      kind === "refund" ? "Refund" : "Dispute",
      centsText(cents),
      outcome === "refunded" ? refund : disputeBadges[outcome],
      html`${kind === "refund" && fails_at === null && actionButton("Make it fail", "fail")}${
        kind === "dispute" && outcome === "open" && html`${actionButton("Won", "won")} ${actionButton("Lost", "lost")}`
      }`
    ]
  })

const showPayment = (seen: PaymentView, problem?: string) => {
  const { retrieved, payment } = seen
  const left = remainingCents(retrieved)
  const forms: Html | false =
    left > 0 &&
    html`${section(
      "Refund",
      postForm(
        html`${dollarField({ name: "amount", label: "Amount", hint: `Leave empty to refund the remaining ${centsText(left)}.` })}<p>${button("Refund", "danger", { name: "do", value: "refund" })}</p>`
      )
    )}
${section("Dispute", postForm(button("Dispute the payment", "plain", { name: "do", value: "dispute" })))}`
  const { payment_id, problem: paymentProblem } = payment
  const url = retrieved.state === "open" ? `/simulator/checkout/${encodeURIComponent(retrieved.reference)}` : null
  const about = facts([
    ["Payment", html`<code class="payment-id">${payment_id}</code>`],
    ["Account", html`<code>${payment.account_id}</code>`],
    ...(payment.email === null ? [] : [["E-mail", payment.email] as const]),
    ["Amount", centsText(payment.cents)],
    ["State", stateBadges(seen)],
    ["Created", momentTag(payment.made_at)],
    ["Card", simulatedCardText(payment)],
    ...(paymentProblem === null ? [] : [["Problem", paymentProblem] as const])
  ])
  const body = html`${problem !== undefined && notice("bad", problem)}
<p>${linkButton("/simulator", "Back to the simulator")} ${url !== null && linkButton(url, "Payment page")}</p>
${section("Payment", about)}
${forms}
${
  payment.reversed.length > 0 &&
  section(
    "Refunds and disputes",
    table({
      caption: "Refunds and disputes",
      stacks: true,
      columns: ["Kind", numeric("Amount"), "State", actions("Actions")],
      rows: reversalRows(seen)
    })
  )
}`
  return show(`Simulated payment of ${centsText(payment.cents)}`, body, problem === undefined ? 200 : 422)
}

const runAction = (
  simulator: Simulator["Service"],
  reference: string,
  { form }: FormContext
): Effect.Effect<string, SimulatorRefused | ConsoleUnavailable | PageNotFound> => {
  const id = form.text("id")
  const amount = form.text("amount")
  switch (form.text("do")) {
    case "refund":
      return Effect.as(
        simulator.refund(reference, amount === "" ? null : (parseCents(amount) ?? 0)),
        "The refund was made."
      )
    case "dispute":
      return Effect.as(simulator.dispute(reference), "The payment is disputed.")
    case "fail":
      return Effect.as(simulator.failRefund(reference, id), "The refund failed.")
    case "won":
      return Effect.as(simulator.close(reference, id, "won"), "The dispute was won.")
    case "lost":
      return Effect.as(simulator.close(reference, id, "lost"), "The dispute was lost.")
    default:
      return Effect.fail(new PageNotFound())
  }
}

export const simulatedPaymentPage = (simulator: Simulator["Service"]): Page => {
  const findPayment = (reference: string) =>
    Effect.flatMap(simulator.payment(reference), (found) =>
      found === undefined ? Effect.fail(new PageNotFound()) : Effect.succeed(found)
    )
  return {
    path: "/simulator/payments/:reference",
    operatorsOnly: true,
    get: ({ params: { reference = "" } }) => Effect.map(findPayment(reference), (found) => showPayment(found)),
    post: (context) => {
      const { reference = "" } = context.params
      return Effect.flatMap(findPayment(reference), (found) =>
        runAction(simulator, reference, context).pipe(
          Effect.map((text) => redirect(simulatedPaymentPath(found), text)),
          Effect.catchTag("SimulatorRefused", ({ message }) => Effect.succeed(showPayment(found, message)))
        )
      )
    }
  }
}
