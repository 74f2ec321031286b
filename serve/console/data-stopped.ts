/**
 * Series and feeds that have stopped: far behind the newest one of their rhythm. The clock says nothing about it: where
 * nothing was read for a while all of them are equally old.
 */
import type { Frequency } from "@larder/schemas/commodity/records.ts"
import type { CommodityModel } from "@larder/warehouse/read-models/commodity.ts"

/** Days that lie between the newest of a rhythm and one that goes on. */
const mostBehind: Readonly<Record<Frequency, number>> = {
  daily: 14,
  weekly: 70, // the final values of a month are published with the next one: up to nine weeks
  biweekly: 70,
  monthly: 100, // a Class I price is announced before its month, an average after it: two months, and one to be late
  annual: 400
}

interface Followed {
  readonly frequency: Frequency
  /** The newest day; missing where there is none. */
  readonly newest: string | null | undefined
}

export const stoppedAmong = <A extends Followed>(all: ReadonlyArray<A>): ReadonlyArray<A> => {
  const newestOf = new Map<Frequency, string>()
  for (const { frequency, newest } of all) {
    if (newest && newest > (newestOf.get(frequency) ?? "")) newestOf.set(frequency, newest)
  }
  const daysBehind = ({ frequency, newest }: Followed) =>
    newest ? (Date.parse(newestOf.get(frequency) ?? newest) - Date.parse(newest)) / 86_400_000 : 0
  return all.filter((one) => daysBehind(one) > mostBehind[one.frequency])
}

/** Slugs of the series that have stopped. */
export const stoppedSeries = ({ series }: CommodityModel): ReadonlySet<string> => {
  const all = [...series.values()].map(({ points, record }) => ({
    slug: record.slug,
    frequency: record.frequency,
    newest: points.days.at(-1)
  }))
  return new Set(stoppedAmong(all).map(({ slug }) => slug))
}
