/** Moments as the ledger needs them: UTC months, and timestamps as text. */

/** Months counted from the year 0: what a monthly budget belongs to. */
export const monthOf = (milliseconds: number): number => {
  const date = new Date(milliseconds)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

const day = 86_400_000

/** The months that lie in a period as a whole: from the first one up to the one that is not among them any more. */
export const wholeMonths = ({ from, to }: { readonly from: string; readonly to: string }) => {
  const first = monthOf(Date.parse(from)) + (from.endsWith("-01") ? 0 : 1)
  return { first, next: Math.max(first, monthOf(Date.parse(to) + day)) }
}

let latest = { milliseconds: 0, text: new Date(0).toISOString() }

/** ISO 8601 in UTC with milliseconds. Formatting costs 0.8 µs, and thirty calls a millisecond share one text. */
export const timestampOf = (milliseconds: number): string => {
  if (latest.milliseconds !== milliseconds) latest = { milliseconds, text: new Date(milliseconds).toISOString() }
  return latest.text
}
