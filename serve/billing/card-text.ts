/** How cards are written, on pages and in the ledger. */
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

/** For wherever a card is typed in or will be. */
export const whyCardsAreSaved =
  "The card is saved for your next payment. It is charged by itself only while auto-recharge is on."

/** `Visa ending in 4242` */
export const cardText = ({ brand, last4 }: ShownCard): string => `${brands[brand] ?? brand} ending in ${last4}`
