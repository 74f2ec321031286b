/**
 * Payments: the list, one payment with its outcome (the page that the processor's page returns to), and its receipt.
 */
import { Effect } from "effect"
import { Billing, centsToCredits, formatCard, type Payment, type Receipt, type Reversal } from "../../billing/index.ts"
import {
  count,
  day,
  empty,
  facts,
  html,
  linkButton,
  moment,
  notice,
  type Part,
  section,
  table,
  usdOfCents
} from "../web/html.ts"
import { type Page, PageNotFound, show } from "../web/page.ts"
import {
  centsGone,
  centsHeld,
  kindText,
  momentOf,
  pathOf,
  paymentsOlder,
  paymentsPath,
  paymentsTable,
  receiptPathOf,
  simulationNotice,
  stateBadge
} from "./payment-pieces.ts"
import { topUpPath } from "./top-up.ts"

const perPage = 25

/** The page of an open payment polls for the outcome, but only for a limited time. */
const pollEvery = 5_000
const pollFor = 15 * 60_000

const outcome = (payment: Payment, now: number): Part => {
  const { card, cents, created_at, credits, problem, state } = payment
  if (state === "succeeded") {
    const gone = centsGone(payment)
    if (gone === 0) return notice("good", `Paid. ${count(credits)} credits were added to your balance.`)
    const held = centsHeld(payment)
    const parts = [
      ...(gone > held ? [`${usdOfCents(gone - held)} of it was returned to your card`] : []),
      ...(held > 0 ? [`${usdOfCents(held)} of it is held until the bank decides the dispute`] : [])
    ]
    const again = held > 0 ? " If the dispute is won, the credits for the amount held are added again." : ""
    return notice(
      "warning",
      `${parts.join(", ")}, and ${count(centsToCredits(gone))} credits were taken from your balance.${again}`
    )
  }
  if (state === "open") {
    const isYoung = now - Date.parse(created_at) < pollFor
    return notice(
      "warning",
      html`<p${isYoung && html` data-poll="${pollEvery}"`}>This payment is not confirmed yet. Larder keeps checking; the credits are added
once, as soon as it is confirmed. ${
        card === null
          ? "If you left the payment page before paying, nothing is charged."
          : "The card may have been charged: do not pay again until this is decided, which usually takes a few minutes."
      }</p><p><a href="${pathOf(payment)}">Check again</a></p>`
    )
  }
  const again = html`<a href="${topUpPath}?amount=${(cents / 100).toFixed(2)}">Pay again</a>`
  const why = problem ?? (state === "failed" ? "The card was not charged." : "The payment was not made.")
  return notice(state === "failed" ? "bad" : "quiet", html`<p>${why} No credits were added. ${again}</p>`)
}

const reversalText = ({ is_lost, kind, state }: Reversal) => {
  if (kind === "refund") return state === "taken" ? "Refunded" : "Failed refund: the credits were added again"
  if (state === "returned") return "Won dispute: the credits were added again"
  return is_lost ? "Charged back: the bank decided in favour of the cardholder" : "Disputed: held by the bank"
}

const reversals = ({ reversals }: Payment) =>
  reversals.length > 0 &&
  section(
    "Refunds and disputes",
    table({
      caption: "Refunds and disputes, oldest first",
      columns: [{ label: "When" }, { label: "What" }, { label: "Amount", numeric: true }],
      rows: reversals.map((one) => [day(one.changed_at), reversalText(one), usdOfCents(one.cents)])
    })
  )

/** Label of the time when the outcome became known. */
const settledText = { open: "Known", succeeded: "Paid", failed: "Failed", expired: "Ended" } as const

const simulated = ({ is_simulated }: Payment) =>
  is_simulated && notice("quiet", "Simulated: no money moved, and this is not proof of a payment.")

const about = (payment: Payment): ReadonlyArray<readonly [string, Part]> => [
  ["What", kindText(payment)],
  ["Amount", usdOfCents(payment.cents)],
  ["State", stateBadge(payment)],
  ...(payment.card === null ? [] : [["Card", formatCard(payment.card)] as const]),
  ["Started", moment(payment.created_at)],
  ...(payment.settled_at === null ? [] : [[settledText[payment.state], moment(payment.settled_at)] as const]),
  ["Payment id", html`<code class="payment-id">${payment.id}</code>`]
]

/** A payment of another account gives 404. */
const noPage = () => Effect.fail(new PageNotFound())

const paymentPage: Page<Billing> = {
  path: `${paymentsPath}/:id`,
  books: true,
  get: ({ account, now, params }) =>
    Billing.use((billing) => billing.payment(account.id, params.id ?? "")).pipe(
      Effect.map((payment) =>
        show(
          `Payment of ${usdOfCents(payment.cents)}`,
          html`${outcome(payment, now)}${simulated(payment)}
<div class="card">${facts(about(payment))}</div>
${reversals(payment)}
<div class="row">${
            payment.state === "succeeded" && linkButton(receiptPathOf(payment), "Receipt")
          } ${linkButton("/billing", "Back to billing")}</div>`
        )
      ),
      Effect.catchTag("UnknownPayment", noPage)
    )
}

const receiptLines = (payment: Payment) =>
  table({
    caption: "What was paid",
    columns: [{ label: "What" }, { label: "Credits", numeric: true }, { label: "Amount", numeric: true }],
    rows: [
      [`API credits (${kindText(payment).toLowerCase()})`, count(payment.credits), usdOfCents(payment.cents)],
      ...payment.reversals
        .filter(({ state }) => state === "taken")
        .map((one) => [
          html`${reversalText(one)}, ${day(one.changed_at)}`,
          count(-centsToCredits(one.cents)),
          usdOfCents(-one.cents)
        ]),
      [
        html`<strong>Total</strong>`,
        count(payment.credits - centsToCredits(centsGone(payment))),
        html`<strong>${usdOfCents(payment.cents - centsGone(payment))}</strong>`
      ]
    ]
  })

const receipt = ({ account, email, payment }: Receipt) => html`${simulated(payment)}<div class="card stack">
${facts([
  ["Paid to", "Larder"],
  ["Receipt for", account.name],
  ["Account id", html`<code>${account.id}</code>`],
  ["Paid", moment(momentOf(payment))],
  ...(payment.card === null ? [] : [["Paid with", formatCard(payment.card)] as const]),
  ...(email === null ? [] : [["Paid by", email] as const]),
  ["Payment id", html`<code class="payment-id">${payment.id}</code>`]
])}
${receiptLines(payment)}
<p>Amounts are in US dollars. 1,000 credits are $1.00.</p>
</div>
<p class="lead no-print">To keep this receipt, print the page or save it as a PDF.</p>
<div class="row no-print">${linkButton(pathOf(payment), "Back to the payment")}</div>`

const receiptPage: Page<Billing> = {
  path: `${paymentsPath}/:id/receipt`,
  get: ({ account, params }) =>
    Billing.use((billing) => billing.receipt(account.id, params.id ?? "")).pipe(
      Effect.map((found) => show("Receipt", receipt(found))),
      Effect.catchTag("UnknownPayment", noPage)
    )
}

const paymentsPage: Page<Billing> = {
  path: paymentsPath,
  get: Effect.fnUntraced(function* ({ account, url }) {
    const before = url.searchParams.get("before") || null
    const billing = yield* Billing
    const settings = yield* billing.settings(account.id)
    const found = yield* billing.payments(account.id, { before, limit: perPage + 1 })
    const payments = found.slice(0, perPage)
    const last = found.length > perPage ? payments.at(-1) : undefined
    const listed =
      payments.length === 0
        ? empty("No payments", "Payments by card are listed here, with their receipts.")
        : paymentsTable(payments)
    const pages = html`<nav class="paging" aria-label="Pages">${
      before !== null && linkButton(paymentsPath, "Newest")
    }${last !== undefined && paymentsOlder(last)}</nav>`
    return show(
      "Payments",
      html`${simulationNotice(settings)}<div class="card">${listed}</div>${(before !== null || last !== undefined) && pages}
<div class="row">${linkButton("/billing", "Back to billing")}</div>`
    )
  })
}

export const paymentPages: ReadonlyArray<Page<Billing>> = [paymentsPage, paymentPage, receiptPage]
