/**
 * Why a card was not charged, for the cardholder. Stripe's codes: https://docs.stripe.com/declines/codes. Reasons about
 * lost, stolen or suspected cards are not passed on, because the reader may not be the cardholder.
 */

export const declined = "The card was declined."
export const requiresAuthentication =
  "The card's bank requires authentication. To pay with it, choose “Pay with another card” and enter it again."

const sentences: Readonly<Record<string, string>> = {
  approve_with_id: "The card's bank could not be reached. Try again, or use another card.",
  authentication_not_handled: requiresAuthentication,
  authentication_required: requiresAuthentication,
  card_not_supported: "The card does not support this kind of purchase.",
  card_velocity_exceeded: "The card is over its limit for now.",
  currency_not_supported: "The card does not support payments in US dollars.",
  expired_card: "The card has expired.",
  incorrect_cvc: "The card's security code is incorrect.",
  incorrect_number: "The card number is incorrect.",
  insufficient_funds: "The card has insufficient funds.",
  invalid_account: "The card, or the account behind it, is invalid.",
  invalid_cvc: "The card's security code is incorrect.",
  invalid_expiry_month: "The card's expiry date is incorrect.",
  invalid_expiry_year: "The card's expiry date is incorrect.",
  invalid_number: "The card number is incorrect.",
  issuer_not_available: "The card's bank could not be reached. Try again, or use another card.",
  payment_intent_authentication_failure: "The cardholder did not confirm the payment with the bank.",
  processing_error: "The card's bank had a fault. Try again in a moment.",
  reenter_transaction: "The card's bank had a fault. Try again in a moment.",
  try_again_later: "The card's bank had a fault. Try again in a moment.",
  withdrawal_count_limit_exceeded: "The card is over its limit for now."
}

/** `codes` are ordered from the most specific to the most general. */
export const explainDecline = (...codes: ReadonlyArray<string | null | undefined>): string => {
  const code = codes.find((code) => typeof code === "string" && Object.hasOwn(sentences, code))
  return (code && sentences[code]) ?? declined
}
