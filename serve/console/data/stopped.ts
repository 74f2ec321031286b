/**
 * Series and feeds that have stopped, that is, are far behind the newest of the same frequency. The current time does
 * not matter: after a pause in reading, all of them are equally old.
 */
import type { Frequency } from "@larder/schemas"
import type { CommodityModel } from "@larder/warehouse"

/** Largest lag in days behind the newest of the same frequency at which a series or feed still counts as active. */
const maxDaysBehind: Readonly<Record<Frequency, number>> = {
  daily: 14,
  weekly: 70, // the final values of a month are published with those of the next one: up to nine weeks
  biweekly: 70,
  monthly: 100, // a Class I price precedes its month, an average follows it: two months apart, plus one of slack
  annual: 400
}

interface Dated {
  readonly frequency: Frequency
  /** The newest day, if there is one. */
  readonly newest: string | null | undefined
}

export const findStopped = <A extends Dated>(all: ReadonlyArray<A>): ReadonlyArray<A> => {
  const newestByFrequency = new Map<Frequency, string>()
  for (const { frequency, newest } of all) {
    if (newest && newest > (newestByFrequency.get(frequency) ?? "")) newestByFrequency.set(frequency, newest)
  }
  const daysBehind = ({ frequency, newest }: Dated) =>
    newest ? (Date.parse(newestByFrequency.get(frequency) ?? newest) - Date.parse(newest)) / 86_400_000 : 0
  return all.filter((series) => daysBehind(series) > maxDaysBehind[series.frequency])
}

/** Slugs of the series that have stopped. */
export const findStoppedSeries = ({ series }: CommodityModel): ReadonlySet<string> => {
  const all = [...series.values()].map(({ points, record }) => ({
    slug: record.slug,
    frequency: record.frequency,
    newest: points.days.at(-1)
  }))
  return new Set(findStopped(all).map(({ slug }) => slug))
}
