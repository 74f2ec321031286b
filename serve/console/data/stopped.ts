/**
 * Series and feeds that have stopped, that is, are far behind the newest of the same frequency. The current time does
 * not matter: after a pause in reading, all of them are equally old.
 */
import type { Frequency } from "@larder/schemas"
import type { CommodityModel } from "@larder/warehouse"

/** Largest lag in days behind the newest of the same frequency at which a series or feed still counts as active. */
const mostBehind: Readonly<Record<Frequency, number>> = {
  daily: 14,
  weekly: 70, // the final values of a month are published with those of the next one: up to nine weeks
  biweekly: 70,
  monthly: 100, // a Class I price precedes its month, an average follows it: two months apart, plus one of slack
  annual: 400
}

interface Followed {
  readonly frequency: Frequency
  /** The newest day, if there is one. */
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
