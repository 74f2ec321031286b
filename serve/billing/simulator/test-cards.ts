/** Stripe's well-known test cards and their behaviour: https://docs.stripe.com/testing. None is a real card. */

/** A code of `stripe/declines.ts`. */
type Decline = string

export interface TestCard {
  readonly number: string
  readonly brand: string
  readonly about: string
  /** On the payment page: `asks_owner` shows the bank's page first. */
  readonly at_checkout: "pays" | "asks_owner" | { readonly decline: Decline }
  /** The result of a later off-session charge. */
  readonly later: "pays" | { readonly decline: Decline }
  /** What happens automatically after a charge or a refund. */
  readonly afterwards?: "disputed" | "refunds_fail"
}

const good = (number: string, brand: string, about: string): TestCard => ({
  number,
  brand,
  about,
  at_checkout: "pays",
  later: "pays"
})
const declining = (number: string, code: Decline, about: string): TestCard => ({
  number,
  brand: "visa",
  about,
  at_checkout: { decline: code },
  later: { decline: code }
})

/** Keyed by the name that a payment stores; no card number is stored anywhere. */
export const testCards = {
  good: good("4242424242424242", "visa", "Visa: pays"),
  debit: good("4000056655665556", "visa", "Visa debit: pays"),
  mastercard: good("5555555555554444", "mastercard", "Mastercard: pays"),
  amex: good("378282246310005", "amex", "American Express, with a code of four digits: pays"),
  discover: good("6011111111111117", "discover", "Discover: pays"),
  declined: declining("4000000000000002", "card_declined", "Is declined"),
  insufficient_funds: declining("4000000000009995", "insufficient_funds", "Is declined: insufficient funds"),
  lost: declining("4000000000009987", "lost_card", "Is declined: lost card"),
  stolen: declining("4000000000009979", "stolen_card", "Is declined: stolen card"),
  expired: declining("4000000000000069", "expired_card", "Is declined: expired"),
  wrong_cvc: declining("4000000000000127", "incorrect_cvc", "Is declined: wrong security code"),
  bank_fault: declining("4000000000000119", "processing_error", "Is declined: fault of the bank"),
  declined_later: {
    number: "4000000000000341",
    brand: "visa",
    about: "Pays and is saved; every later charge is declined",
    at_checkout: "pays",
    later: { decline: "card_declined" }
  },
  owner_once: {
    number: "4000002500003155",
    brand: "visa",
    about: "The cardholder confirms with the bank; once saved, it pays automatically",
    at_checkout: "asks_owner",
    later: "pays"
  },
  owner_always: {
    number: "4000002760003184",
    brand: "visa",
    about: "The cardholder confirms every payment; later charges need the cardholder",
    at_checkout: "asks_owner",
    later: { decline: "authentication_required" }
  },
  disputed: {
    number: "4000000000000259",
    brand: "visa",
    about: "Pays, and is disputed immediately",
    at_checkout: "pays",
    later: "pays",
    afterwards: "disputed"
  },
  refunds_fail: {
    number: "4000000000005126",
    brand: "visa",
    about: "Pays; a refund fails a few seconds later",
    at_checkout: "pays",
    later: "pays",
    afterwards: "refunds_fail"
  }
} as const satisfies Readonly<Record<string, TestCard>>

export type TestCardName = keyof typeof testCards

const names: Readonly<Record<string, TestCard>> = testCards

export const testCardOf = (name: string | null): TestCard | undefined => (name === null ? undefined : names[name])
export const testCardNamed = (number: string): string | undefined =>
  Object.keys(names).find((name) => names[name]?.number === number)

/** The check digit, which catches most typing errors. */
export const isCardNumber = (digits: string): boolean => {
  if (!/^\d{12,19}$/.test(digits)) return false
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const doubled = index % 2 === 1 ? Number(digit) * 2 : Number(digit)
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return sum % 10 === 0
}
