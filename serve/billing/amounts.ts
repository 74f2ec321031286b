/** Converts US cents to credits and back. 1,000 credits are 1.00 USD, so one cent is ten credits. */

const creditsPerCent = 10
export const centsToCredits = (cents: number): number => cents * creditsPerCent
export const creditsToCents = (credits: number): number => credits / creditsPerCent

/** The allowed amount of one payment by a person and of one recharge: 10 to 50,000 USD. */
export const minPayment = 10_00
export const maxPayment = 50_000_00

/** The balance below which a recharge starts: 1 to 50,000 USD, in credits. */
export const minTrigger = 1_000
export const maxTrigger = 50_000_000

/** The largest ceiling of recharges per day or month: 100 payments of the largest amount, in US cents. */
export const maxCeiling = 100 * maxPayment

/** A suggested ceiling is this many times the amount of one recharge. */
export const ceilingFactors = { daily_ceiling: 5, monthly_ceiling: 100 } as const
export const suggestCeilings = (cents: number) => ({
  daily_ceiling_cents: ceilingFactors.daily_ceiling * cents,
  monthly_ceiling_cents: ceilingFactors.monthly_ceiling * cents
})

/** Offered with one click, in US cents. */
export const amountPresets: ReadonlyArray<number> = [50_00, 100_00, 250_00, 500_00]

const isWholeBetween = (value: number, min: number, max: number) =>
  Number.isSafeInteger(value) && value >= min && value <= max

export const isValidPayment = (cents: number): boolean => isWholeBetween(cents, minPayment, maxPayment)
export const isValidCeiling = (ceiling: number, cents: number): boolean => isWholeBetween(ceiling, cents, maxCeiling)
export const isValidTrigger = (credits: number): boolean => isWholeBetween(credits, minTrigger, maxTrigger)

const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", maximumFractionDigits: 3 })
/** At least two decimals; three for an amount that is not in whole cents. */
export const formatCents = (cents: number): string => dollars.format(cents / 100)
