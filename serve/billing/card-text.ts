/** How pages and the ledger write cards. */
import type { ShownCard } from "./billing.ts"

const brands: Readonly<Record<string, string>> = {
  amex: "American Express",
  diners: "Diners Club",
  discover: "Discover",
  jcb: "JCB",
  mastercard: "Mastercard",
  unionpay: "UnionPay",
  visa: "Visa"
}

/** Shown wherever a person enters a card, or is about to. */
export const whyCardsAreSaved =
  "The card is saved for your next payment. It is charged by itself only while auto-recharge is on."

/** `Visa ending in 4242` */
export const cardText = ({ brand, last4 }: ShownCard): string => `${brands[brand] ?? brand} ending in ${last4}`
