/** The console page of one simulated payment, with its refunds and disputes. */
import { Effect } from "effect"
import {
  formatCard,
  type RetrievedPayment,
  referenceOf,
  remainingCents,
  type SeenPayment,
  type SimulatedPayment,
  type Simulator,
  type SimulatorRefuses
} from "../../billing/index.ts"
import type { ConsoleUnavailable } from "../../persistence/index.ts"
import { button, centsTyped, field, postForm } from "../web/form.ts"
import { badge, facts, type Html, html, linkButton, moment, notice, section, table, usdOfCents } from "../web/html.ts"
import { type FormContext, type Page, PageNotFound, redirect, show } from "../web/page.ts"

type Simulated = Simulator["Service"]

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
    (sum, one) => (one.kind === "refund" && one.state === "taken" ? sum + one.cents : sum),
    0
  )
  if (refunded === 0) return undefined
  return refunded === cents
    ? badge("Refunded", "warning")
    : html`${badge("Partly refunded", "warning")} ${usdOfCents(refunded)}`
}

/** Whether the payment succeeded, and its reversals since; refunds and disputes do not exclude each other. */
export const stateBadges = ({ retrieved, payment }: SeenPayment): Html => {
  const disputes = disputeOutcomes.filter((outcome) =>
    payment.reversed.some((reversal) => reversal.kind === "dispute" && reversal.outcome === outcome)
  )
  const isGone = disputes.includes("open") || disputes.includes("lost")
  const first = refundBadge(retrieved) ?? (!isGone && badge(stateTexts[retrieved.state], tones[retrieved.state]))
  return html`${first}${disputes.map((outcome) => html` ${disputeBadges[outcome]}`)}`
}

export const addressOf = ({ payment }: SeenPayment) =>
  `/simulator/payments/${encodeURIComponent(referenceOf(payment.payment_id))}` as const

export const cardOf = ({ card }: SimulatedPayment) => (card === null ? "none" : formatCard(card))

const reversalRows = (seen: SeenPayment) =>
  seen.payment.reversed.map(({ cents, fails_at, id, kind, outcome }) => {
    const press = (text: string, action: string) =>
      postForm({
        inline: true,
        body: html`<input type="hidden" name="id" value="${id}">${button(text, "plain", { name: "do", value: action })}`
      })
    const hasFailed = seen.retrieved.reversed.some((reversal) => reversal.id === id && reversal.state === "returned")
    const refund = hasFailed ? badge("Refund failed") : badge("Refunded", "warning")
    return [
      kind === "refund" ? "Refund" : "Dispute",
      usdOfCents(cents),
      outcome === "refunded" ? refund : disputeBadges[outcome],
      html`${kind === "refund" && fails_at === null && press("Make it fail", "fail")}${
        kind === "dispute" && outcome === "open" && html`${press("Won", "won")} ${press("Lost", "lost")}`
      }`
    ]
  })

const onePayment = (seen: SeenPayment, problem?: string) => {
  const { retrieved, payment } = seen
  const left = remainingCents(retrieved)
  const forms: Html | false =
    left > 0 &&
    html`${section(
      "Refund",
      postForm({
        body: html`${field({
          name: "amount",
          label: "Amount",
          prefix: "$",
          inputmode: "decimal",
          hint: `Leave empty to refund the remaining ${usdOfCents(left)}.`
        })}<p>${button("Refund", "danger", { name: "do", value: "refund" })}</p>`
      })
    )}
${section("Dispute", postForm({ body: button("Dispute the payment", "plain", { name: "do", value: "dispute" }) }))}`
  const { payment_id, problem: why } = payment
  const url = retrieved.state === "open" ? `/simulator/checkout/${encodeURIComponent(retrieved.reference)}` : null
  const about = facts([
    ["Payment", html`<code class="payment-id">${payment_id}</code>`],
    ["Account", html`<code>${payment.account_id}</code>`],
    ...(payment.email === null ? [] : [["E-mail", payment.email] as const]),
    ["Amount", usdOfCents(payment.cents)],
    ["State", stateBadges(seen)],
    ["Created", moment(payment.made_at)],
    ["Card", cardOf(payment)],
    ...(why === null ? [] : [["Problem", why] as const])
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
      columns: [
        { label: "Kind" },
        { label: "Amount", numeric: true },
        { label: "State" },
        { label: "Actions", hidden: true }
      ],
      rows: reversalRows(seen)
    })
  )
}`
  return show(`Simulated payment of ${usdOfCents(payment.cents)}`, body, problem === undefined ? 200 : 422)
}

const act = (
  simulator: Simulated,
  reference: string,
  { form }: FormContext
): Effect.Effect<string, SimulatorRefuses | ConsoleUnavailable | PageNotFound> => {
  const id = form.text("id")
  const amount = form.text("amount")
  switch (form.text("do")) {
    case "refund":
      return Effect.as(
        simulator.refund(reference, amount === "" ? null : (centsTyped(amount) ?? 0)),
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

/** For operators only. */
export const simulatedPaymentPage = (simulator: Simulated): Page => {
  const seen = (reference: string) =>
    Effect.flatMap(simulator.seen(reference), (found) =>
      found === undefined ? Effect.fail(new PageNotFound()) : Effect.succeed(found)
    )
  return {
    path: "/simulator/payments/:reference",
    operatorsOnly: true,
    get: ({ params: { reference = "" } }) => Effect.map(seen(reference), (found) => onePayment(found)),
    post: (context) => {
      const { reference = "" } = context.params
      return Effect.flatMap(seen(reference), (found) =>
        act(simulator, reference, context).pipe(
          Effect.map((told) => redirect(addressOf(found), told)),
          Effect.catchTag("SimulatorRefuses", ({ message }) => Effect.succeed(onePayment(found, message)))
        )
      )
    }
  }
}
