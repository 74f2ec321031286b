/** Converts US dollars into credits and back. 1,000 credits are 1.00 USD, so amounts have at most three decimals. */

const creditsPerDollar = 1_000
/** Far above any price, and far below the largest integer that a double represents exactly. */
const maxDollars = 1_000_000_000

/** Credits of an amount such as `25`, `0.5` or `12.345`; undefined for anything else, including negative amounts. */
export const creditsOf = (usd: string): number | undefined => {
  const [, dollars, decimals] = /^(\d{1,10})(?:\.(\d{1,3}))?$/.exec(usd) ?? []
  if (dollars === undefined || Number(dollars) > maxDollars) return undefined
  return Number(dollars) * creditsPerDollar + Number((decimals ?? "").padEnd(3, "0"))
}

/** The amount as a number with at most three decimals. */
export const usdOf = (credits: number): number => credits / creditsPerDollar
