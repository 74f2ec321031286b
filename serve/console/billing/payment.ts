/**
 * Payments: the list, one payment with its outcome (the page that the processor's page returns to), and its receipt.
 */
import { Effect } from "effect"
import { Billing, centsToCredits, formatCard, type Payment, type Receipt, type Reversal } from "../../billing/index.ts"
import {
  centsText,
  countText,
  dayTag,
  type Fact,
  facts,
  type HtmlPart,
  html,
  linkButton,
  notice,
  renderEmptyState,
  section,
  table,
  timeTag
} from "../web/html.ts"
import { type Page, PageNotFound, show } from "../web/page.ts"
import { listPaging, readPage, readParameter } from "../web/query.ts"
import {
  kindText,
  paymentPath,
  paymentStateBadge,
  paymentsPath,
  paymentsTable,
  paymentTime,
  receiptPath,
  simulationNotice,
  sumHeldCents,
  sumReturnedCents
} from "./payment-pieces.ts"
import { topUpPath } from "./top-up.ts"

const perPage = 25

/** The page of an open payment polls for the outcome, but only for a limited time. */
const pollInterval = 5_000
const maxPollAge = 15 * 60_000

const outcomeNotice = (payment: Payment, now: number): HtmlPart => {
  const { card, cents, created_at, credits, problem, state } = payment
  if (state === "succeeded") {
    const returned = sumReturnedCents(payment)
    if (returned === 0) return notice("good", `Paid. ${countText(credits)} credits were added to your balance.`)
    const held = sumHeldCents(payment)
    const sentences = [
      ...(returned > held ? [`${centsText(returned - held)} of it was returned to your card`] : []),
      ...(held > 0 ? [`${centsText(held)} of it is held until the bank decides the dispute`] : [])
    ]
    const returnText = held > 0 ? " If the dispute is won, the credits for the amount held are added again." : ""
    return notice(
      "warning",
      `${sentences.join(", ")}, and ${countText(centsToCredits(returned))} credits were deducted from your balance.${returnText}`
    )
  }
  if (state === "open") {
    const isRecent = now - Date.parse(created_at) < maxPollAge
    return notice(
      "warning",
      html`<p${isRecent && html` data-poll="${pollInterval}"`}>This payment is not confirmed yet. Larder keeps checking; the credits are added
once, as soon as it is confirmed. ${
        card === null
          ? "If you left the payment page before paying, nothing is charged."
          : "The card may have been charged: do not pay again until this is decided, which usually takes a few minutes."
      }</p><p><a href="${paymentPath(payment)}">Check again</a></p>`
    )
  }
  const payAgainLink = html`<a href="${topUpPath}?amount=${(cents / 100).toFixed(2)}">Pay again</a>`
  const reason = problem ?? (state === "failed" ? "The card was not charged." : "The payment was not made.")
  return notice(state === "failed" ? "bad" : "quiet", html`<p>${reason} No credits were added. ${payAgainLink}</p>`)
}

const reversalText = ({ is_lost, kind, state }: Reversal) => {
  if (kind === "refund") return state === "taken" ? "Refunded" : "Failed refund: the credits were added again"
  if (state === "returned") return "Won dispute: the credits were added again"
  return is_lost ? "Charged back: the bank decided in favour of the cardholder" : "Disputed: held by the bank"
}

const reversalsSection = ({ reversals }: Payment) =>
  reversals.length > 0 &&
  section(
    "Refunds and disputes",
    table("Refunds and disputes, oldest first", reversals, [
      ["When", ({ changed_at }) => dayTag(changed_at)],
      ["What", reversalText],
      ["Amount", ({ cents }) => centsText(cents), "numeric"]
    ])
  )

/** Label of the time when the outcome became known. */
const settledText = { open: "Known", succeeded: "Paid", failed: "Failed", expired: "Ended" } as const

const simulatedNotice = ({ is_simulated }: Payment) =>
  is_simulated && notice("quiet", "Simulated: no money moved, and this is not proof of a payment.")

const paymentFacts = (payment: Payment): ReadonlyArray<Fact | false> => [
  ["What", kindText(payment)],
  ["Amount", centsText(payment.cents)],
  ["State", paymentStateBadge(payment)],
  payment.card !== null && ["Card", formatCard(payment.card)],
  ["Started", timeTag(payment.created_at)],
  payment.settled_at !== null && [settledText[payment.state], timeTag(payment.settled_at)],
  ["Payment id", html`<code class="payment-id">${payment.id}</code>`]
]

/** A payment of another account returns 404. */
const failNotFound = () => Effect.fail(new PageNotFound())

const paymentPage: Page<Billing> = {
  path: `${paymentsPath}/:id`,
  mayBookPayment: true,
  get: ({ account, now, params }) =>
    Billing.use((billing) => billing.payment(account.id, params.id ?? "")).pipe(
      Effect.map((payment) =>
        show(
          `Payment of ${centsText(payment.cents)}`,
          html`${outcomeNotice(payment, now)}${simulatedNotice(payment)}
<div class="card">${facts(paymentFacts(payment))}</div>
${reversalsSection(payment)}
<div class="row">${
            payment.state === "succeeded" && linkButton(receiptPath(payment), "Receipt")
          } ${linkButton("/billing", "Back to billing")}</div>`
        )
      ),
      Effect.catchTag("UnknownPayment", failNotFound)
    )
}

const receiptTable = (payment: Payment) => {
  const { cents, credits, reversals } = payment
  const returned = sumReturnedCents(payment)
  const rows: ReadonlyArray<readonly [what: HtmlPart, credits: number, amount: HtmlPart]> = [
    [`API credits (${kindText(payment).toLowerCase()})`, credits, centsText(cents)],
    ...reversals
      .filter(({ state }) => state === "taken")
      .map((reversal) => {
        const what = html`${reversalText(reversal)}, ${dayTag(reversal.changed_at)}`
        return [what, -centsToCredits(reversal.cents), centsText(-reversal.cents)] as const
      }),
    [
      html`<strong>Total</strong>`,
      credits - centsToCredits(returned),
      html`<strong>${centsText(cents - returned)}</strong>`
    ]
  ]
  return table("What was paid", rows, [
    ["What", ([what]) => what],
    ["Credits", ([_, credits]) => countText(credits), "numeric"],
    ["Amount", ([_, __, amount]) => amount, "numeric"]
  ])
}

const receiptBody = ({ account, email, payment }: Receipt) => html`${simulatedNotice(payment)}<div class="card stack">
${facts([
  ["Paid to", "Larder"],
  ["Receipt for", account.name],
  ["Account id", html`<code>${account.id}</code>`],
  ["Paid", timeTag(paymentTime(payment))],
  payment.card !== null && ["Paid with", formatCard(payment.card)],
  email !== null && ["Paid by", email],
  ["Payment id", html`<code class="payment-id">${payment.id}</code>`]
])}
${receiptTable(payment)}
<p>Amounts are in US dollars. 1,000 credits are $1.00.</p>
</div>
<p class="lead no-print">To keep this receipt, print the page or save it as a PDF.</p>
<div class="row no-print">${linkButton(paymentPath(payment), "Back to the payment")}</div>`

const receiptPage: Page<Billing> = {
  path: `${paymentsPath}/:id/receipt`,
  get: ({ account, params }) =>
    Billing.use((billing) => billing.receipt(account.id, params.id ?? "")).pipe(
      Effect.map((found) => show("Receipt", receiptBody(found))),
      Effect.catchTag("UnknownPayment", failNotFound)
    )
}

const paymentsPage: Page<Billing> = {
  path: paymentsPath,
  get: Effect.fnUntraced(function* ({ account, url }) {
    const before = readParameter(url, "before") ?? null
    const billing = yield* Billing
    const settings = yield* billing.settings(account.id)
    const { last, rows } = yield* readPage(perPage, (limit) => billing.payments(account.id, { before, limit }))
    const noPayments = renderEmptyState("No payments", "Payments by card are listed here, with their receipts.")
    return show(
      "Payments",
      html`${simulationNotice(settings)}<div class="card">${rows.length === 0 ? noPayments : paymentsTable(rows)}</div>
${listPaging(paymentsPath, {}, before === null, last && { before: last.id })}
<div class="row">${linkButton("/billing", "Back to billing")}</div>`
    )
  })
}

export const paymentPages: ReadonlyArray<Page<Billing>> = [paymentsPage, paymentPage, receiptPage]
