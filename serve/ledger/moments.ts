/** Moments as the ledger needs them: UTC months, and timestamps as text. */

/** Months counted from the year 0: what a monthly budget belongs to. */
export const monthOf = (milliseconds: number): number => {
  const date = new Date(milliseconds)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

const day = 86_400_000

/** From a day to a later or the same one, both included. */
export interface Days {
  readonly from: string
  readonly to: string
}

const beginOf = (month: number) => new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1)
const textOf = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 10)
const lengthOf = ({ from, to }: Days) => (Date.parse(to) - Date.parse(from)) / day + 1

/** What is added up for a period: months from `first` to the one before `next`, and days; what is taken out: days. */
export interface InMonths {
  readonly first: number
  readonly next: number
  readonly added: ReadonlyArray<Days>
  readonly taken: ReadonlyArray<Days>
}

/**
 * Of a month that lies in a period by a part the days in it are added, or the month is, and the days outside of the period
 * are taken out: whichever are fewer, which is sixteen at most.
 */
export const inMonths = ({ from, to }: Days): InMonths => {
  const [first, last] = [monthOf(Date.parse(from)), monthOf(Date.parse(to))]
  const before = { from: textOf(beginOf(first)), to: textOf(Date.parse(from) - day) }
  const after = { from: textOf(Date.parse(to) + day), to: textOf(beginOf(last + 1) - day) }
  if (first >= last) {
    const taken = [before, after].filter((days) => lengthOf(days) > 0)
    const isShort = lengthOf({ from, to }) <= lengthOf(before) + lengthOf(after)
    return isShort
      ? { first, next: first, added: [{ from, to }], taken: [] }
      : { first, next: first + 1, added: [], taken }
  }
  const head = { from, to: textOf(beginOf(first + 1) - day) }
  const tail = { from: textOf(beginOf(last)), to }
  const isHeadShort = lengthOf(head) <= lengthOf(before)
  const isTailShort = lengthOf(tail) <= lengthOf(after)
  return {
    first: isHeadShort ? first + 1 : first,
    next: isTailShort ? last : last + 1,
    added: [...(isHeadShort ? [head] : []), ...(isTailShort ? [tail] : [])],
    taken: [...(isHeadShort ? [] : [before]), ...(isTailShort ? [] : [after])].filter((days) => lengthOf(days) > 0)
  }
}

let latest = { milliseconds: 0, text: new Date(0).toISOString() }

/** ISO 8601 in UTC with milliseconds. Formatting costs 0.8 µs, and thirty calls a millisecond share one text. */
export const timestampOf = (milliseconds: number): string => {
  if (latest.milliseconds !== milliseconds) latest = { milliseconds, text: new Date(milliseconds).toISOString() }
  return latest.text
}
