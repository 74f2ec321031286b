/** Payments and cards on pages: paths, texts, badges and the list of payments. */
import { Billing, type BillingSettings, formatCard, type Payment, type SavedCard } from "../../billing/index.ts"
import { hiddenInput } from "../web/form.ts"
import { badge, centsText, type Html, html, notice, stackedTable, timeTag, timeText } from "../web/html.ts"
import type { PageContext } from "../web/page.ts"

export const paymentsPath = "/billing/payments"
export const paymentPath = ({ id }: Payment): `/${string}` => `${paymentsPath}/${encodeURIComponent(id)}`

export const readSettings = ({ account }: PageContext) => Billing.use((billing) => billing.settings(account.id))

/** `Visa ending in 4242, expires 12/2030` */
export const savedCardText = (card: SavedCard): string => `${formatCard(card)}, expires ${card.expires}`

/**
 * A form about the saved card contains the fingerprint of the card that it showed, because a colleague may save another
 * card in the meantime.
 */
export const shownCardInput = (card: SavedCard | null): Html | false =>
  card !== null && hiddenInput("card", card.fingerprint)

/** For pages about future payments. The page of a past payment states whether it was simulated. */
export const simulationNotice = ({ is_simulated }: Pick<BillingSettings, "is_simulated">): Html | false =>
  is_simulated && notice("quiet", "Payments are simulated here: no money moves, and only test cards are accepted.")

export const kindText = ({ kind }: Payment): string => (kind === "top_up" ? "Top-up" : "Auto-recharge")

/** US cents that were returned to the cardholder or are held by the bank. */
export const sumReturnedCents = ({ reversals }: Payment): number =>
  reversals.reduce((sum, { cents, state }) => (state === "taken" ? sum + cents : sum), 0)

/** The part of these cents that is held until the bank decides. */
export const sumHeldCents = (payment: Payment): number =>
  listDisputes(payment).reduce((sum, { cents, is_lost }) => (is_lost ? sum : sum + cents), 0)

const listDisputes = ({ reversals }: Payment) =>
  reversals.filter(({ kind, state }) => kind === "dispute" && state === "taken")

/** When the outcome became known, as on the receipt; before that, when the payment was created. */
export const paymentTime = ({ created_at, settled_at }: Payment): string => settled_at ?? created_at

export const paymentStateBadge = (payment: Payment): Html => {
  if (payment.state === "open") return badge("Not confirmed yet", "warning")
  if (payment.state === "failed") return badge("Failed", "bad")
  if (payment.state === "expired") return badge("Not paid")
  const disputes = listDisputes(payment)
  if (disputes.length > 0) return badge(disputes.every(({ is_lost }) => is_lost) ? "Charged back" : "Disputed", "bad")
  const returned = sumReturnedCents(payment)
  if (returned === 0) return badge("Paid", "good")
  return badge(returned < payment.cents ? "Partly refunded" : "Refunded", "warning")
}

export const receiptPath = (payment: Payment): `/${string}` => `${paymentPath(payment)}/receipt`

const amountText = (payment: Payment) => {
  const held = sumHeldCents(payment)
  const returned = sumReturnedCents(payment) - held
  return html`${centsText(payment.cents)}${returned > 0 && html`<br><small>${centsText(returned)} returned</small>`}${
    held > 0 && html`<br><small>${centsText(held)} held</small>`
  }`
}

export const paymentsTable = (payments: ReadonlyArray<Payment>): Html =>
  stackedTable("Payments, most recent first", payments, [
    ["When", (payment) => html`<a href="${paymentPath(payment)}">${timeTag(paymentTime(payment))}</a>`],
    ["What", kindText],
    ["Card", ({ card }) => (card === null ? "–" : formatCard(card))],
    ["State", paymentStateBadge],
    ["Amount", amountText, "numeric"],
    [
      "Receipt",
      (payment) =>
        payment.state === "succeeded" &&
        html`<a href="${receiptPath(payment)}">Receipt<span class="hidden"> of ${timeText(paymentTime(payment))}</span></a>`,
      "action"
    ]
  ])
