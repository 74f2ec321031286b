/** US cents in, credits out. 1,000 credits are 1.00 USD, so a cent is ten credits and every cent is whole. */

export const creditsPerCent = 10
export const creditsOfCents = (cents: number): number => cents * creditsPerCent
export const centsOfCredits = (credits: number): number => credits / creditsPerCent

/** The allowed amount of one payment by a person and of one recharge: 10 to 50,000 USD. */
export const cheapestPayment = 10_00
export const dearestPayment = 50_000_00

/** The balance below which a recharge starts: 1 to 50,000 USD, in credits. */
export const lowestTrigger = 1_000
export const highestTrigger = 50_000_000

/** Offered with one click, in US cents. */
export const presets: ReadonlyArray<number> = [50_00, 100_00, 250_00, 500_00]

const isWholeBetween = (value: number, least: number, most: number) =>
  Number.isSafeInteger(value) && value >= least && value <= most

export const isPayable = (cents: number): boolean => isWholeBetween(cents, cheapestPayment, dearestPayment)
export const isTrigger = (credits: number): boolean => isWholeBetween(credits, lowestTrigger, highestTrigger)

const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" })
/** Such as `$1,250.00`. */
export const usdText = (cents: number): string => dollars.format(cents / 100)
