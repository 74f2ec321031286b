/**
 * Finds the series and feeds that have stopped: their newest day is much older than the newest one of the same
 * frequency. Today's date is not used: after a pause in reading, all of them would seem to have stopped.
 */
import type { Frequency } from "@larder/schemas"
import type { CommodityModel } from "@larder/warehouse"

/** Days that a series or feed may lag behind the most recent one of its frequency before it counts as stopped. */
const maxDaysBehind: Readonly<Record<Frequency, number>> = {
  daily: 14,
  weekly: 70, // final values of a month are published with those of the next month, up to nine weeks later
  biweekly: 70,
  monthly: 100, // Class I prices are published before their month, averages after it: two months, and one of slack
  annual: 400
}

interface HasNewestDay {
  readonly frequency: Frequency
  /** Day of its newest value; null or undefined without values. */
  readonly newest: string | null | undefined
}

export const findStopped = <A extends HasNewestDay>(items: ReadonlyArray<A>): ReadonlyArray<A> => {
  const newestByFrequency = new Map<Frequency, string>()
  for (const { frequency, newest } of items) {
    if (newest && newest > (newestByFrequency.get(frequency) ?? "")) newestByFrequency.set(frequency, newest)
  }
  const daysBehind = ({ frequency, newest }: HasNewestDay) =>
    newest ? (Date.parse(newestByFrequency.get(frequency) ?? newest) - Date.parse(newest)) / 86_400_000 : 0
  return items.filter((item) => daysBehind(item) > maxDaysBehind[item.frequency])
}

/** Slugs of the series that have stopped. */
export const findStoppedSlugs = ({ series }: CommodityModel): ReadonlySet<string> => {
  const newestDays = [...series.values()].map(({ metric, record }) => ({
    slug: record.slug,
    frequency: record.frequency,
    newest: metric.points.days.at(-1)
  }))
  return new Set(findStopped(newestDays).map(({ slug }) => slug))
}
