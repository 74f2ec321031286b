/** How all pages write payments and cards. */
import { type BillingSettings, formatCard, type Payment, type SavedCard } from "../../billing/index.ts"
import { badge, type Html, html, linkButton, moment, momentText, notice, table, usdOfCents } from "../web/html.ts"

export const paymentsPath = "/billing/payments"
export const pathOf = ({ id }: Payment): `/${string}` => `${paymentsPath}/${encodeURIComponent(id)}`

/** `Visa ending in 4242, expires 12/2030` */
export const savedCardText = (card: SavedCard): string => `${formatCard(card)}, expires ${card.expires}`

/**
 * A form about the saved card carries the mark of the card it showed, because a colleague may save another card in the
 * meantime.
 */
export const shownCard = (card: SavedCard | null): Html | false =>
  card !== null && html`<input type="hidden" name="card" value="${card.mark}">`

/** For every page about future payments. A past payment says itself whether it was simulated. */
export const simulationNotice = ({ is_simulated }: Pick<BillingSettings, "is_simulated">): Html | false =>
  is_simulated && notice("quiet", "Payments are simulated here: no money moves, and only test cards are accepted.")

export const kindText = ({ kind }: Payment): string => (kind === "top_up" ? "Top-up" : "Auto-recharge")

/** US cents that went back to the cardholder or are held back. */
export const centsGone = ({ reversals }: Payment): number =>
  reversals.reduce((sum, { cents, state }) => (state === "taken" ? sum + cents : sum), 0)

/** The part that the bank has not decided on. */
export const centsHeld = (payment: Payment): number =>
  disputes(payment).reduce((sum, { cents, is_lost }) => (is_lost ? sum : sum + cents), 0)

const disputes = ({ reversals }: Payment) =>
  reversals.filter(({ kind, state }) => kind === "dispute" && state === "taken")

/** When the outcome became known, as on the receipt; before that, when the payment was created. */
export const momentOf = ({ created_at, settled_at }: Payment): string => settled_at ?? created_at

export const stateBadge = (payment: Payment): Html => {
  if (payment.state === "open") return badge("Not confirmed yet", "warning")
  if (payment.state === "failed") return badge("Failed", "bad")
  if (payment.state === "expired") return badge("Not paid")
  const disputed = disputes(payment)
  if (disputed.length > 0) return badge(disputed.every(({ is_lost }) => is_lost) ? "Charged back" : "Disputed", "bad")
  const gone = centsGone(payment)
  if (gone === 0) return badge("Paid", "good")
  return badge(gone < payment.cents ? "Partly refunded" : "Refunded", "warning")
}

export const receiptPathOf = (payment: Payment): `/${string}` => `${pathOf(payment)}/receipt`

const amountText = (payment: Payment) => {
  const held = centsHeld(payment)
  const back = centsGone(payment) - held
  return html`${usdOfCents(payment.cents)}${back > 0 && html`<br><small>${usdOfCents(back)} returned</small>`}${
    held > 0 && html`<br><small>${usdOfCents(held)} held</small>`
  }`
}

export const paymentsTable = (payments: ReadonlyArray<Payment>): Html =>
  table({
    caption: "Payments, most recent first",
    stacks: true,
    columns: [
      { label: "When" },
      { label: "What" },
      { label: "Card" },
      { label: "State" },
      { label: "Amount", numeric: true },
      { label: "Receipt", hidden: true }
    ],
    rows: payments.map((payment) => [
      html`<a href="${pathOf(payment)}">${moment(momentOf(payment))}</a>`,
      kindText(payment),
      payment.card === null ? "–" : formatCard(payment.card),
      stateBadge(payment),
      amountText(payment),
      payment.state === "succeeded" &&
        html`<a href="${receiptPathOf(payment)}">Receipt<span class="hidden"> of ${momentText(momentOf(payment))}</span></a>`
    ])
  })

export const paymentsOlder = (last: Payment): Html =>
  linkButton(`${paymentsPath}?before=${encodeURIComponent(last.id)}`, "Older")
