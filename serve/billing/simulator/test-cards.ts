/** Stripe's test cards and their behaviour: https://docs.stripe.com/testing. None is a real card. */

export interface TestCard {
  readonly number: string
  readonly brand: string
  readonly about: string
  /** On the payment page: `requires_authentication` shows the bank's page first. `decline`: a code of `declines.ts`. */
  readonly at_checkout: "paid" | "requires_authentication" | { readonly decline: string }
  readonly at_later_charge: "paid" | { readonly decline: string }
  readonly refunds_fail?: true
}

const makeGoodCard = (number: string, about: string, brand = "visa") =>
  ({ number, brand, about, at_checkout: "paid", at_later_charge: "paid" }) as const
const makeDeclinedCard = (number: string, decline: string, about: string): TestCard => ({
  number,
  brand: "visa",
  about,
  at_checkout: { decline },
  at_later_charge: { decline }
})

/** Keyed by the name that a payment stores; no card number is stored anywhere. */
export const testCards = {
  good: makeGoodCard("4242424242424242", "Visa: pays"),
  debit: makeGoodCard("4000056655665556", "Visa debit: pays"),
  mastercard: makeGoodCard("5555555555554444", "Mastercard: pays", "mastercard"),
  amex: makeGoodCard("378282246310005", "American Express, with a code of four digits: pays", "amex"),
  discover: makeGoodCard("6011111111111117", "Discover: pays", "discover"),
  declined: makeDeclinedCard("4000000000000002", "card_declined", "Is declined"),
  insufficient_funds: makeDeclinedCard("4000000000009995", "insufficient_funds", "Is declined: insufficient funds"),
  lost: makeDeclinedCard("4000000000009987", "lost_card", "Is declined: lost card"),
  stolen: makeDeclinedCard("4000000000009979", "stolen_card", "Is declined: stolen card"),
  expired: makeDeclinedCard("4000000000000069", "expired_card", "Is declined: expired"),
  wrong_cvc: makeDeclinedCard("4000000000000127", "incorrect_cvc", "Is declined: wrong security code"),
  bank_fault: makeDeclinedCard("4000000000000119", "processing_error", "Is declined: fault of the bank"),
  declined_later: {
    ...makeGoodCard("4000000000000341", "Pays and is saved; every later charge is declined"),
    at_later_charge: { decline: "card_declined" }
  },
  owner_once: {
    ...makeGoodCard("4000002500003155", "The cardholder confirms with the bank; once saved, it pays automatically"),
    at_checkout: "requires_authentication"
  },
  owner_always: {
    ...makeGoodCard("4000002760003184", "The cardholder confirms every payment; later charges need the cardholder"),
    at_checkout: "requires_authentication",
    at_later_charge: { decline: "authentication_required" }
  },
  refunds_fail: {
    ...makeGoodCard("4000000000005126", "Pays; a refund fails a few seconds later"),
    refunds_fail: true
  }
} as const satisfies Readonly<Record<string, TestCard>>

export type TestCardName = keyof typeof testCards

const cardsByName: Readonly<Record<string, TestCard>> = testCards

export const findTestCard = (name: string | null): TestCard | undefined =>
  name === null ? undefined : cardsByName[name]
export const findTestCardName = (number: string): string | undefined =>
  Object.keys(cardsByName).find((name) => cardsByName[name]?.number === number)

/** The check digit, which catches most typing errors. */
export const isCardNumber = (digits: string): boolean => {
  if (!/^\d{12,19}$/.test(digits)) return false
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const doubled = index % 2 === 1 ? Number(digit) * 2 : Number(digit)
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return sum % 10 === 0
}
