/**
 * The days that a probe reads of a report. A first run reads its whole history, in which names, days and texts change, so
 * a probe reads a window of each era.
 */
import { addDays } from "@larder/schemas"
import type { Feed } from "../commodities/catalog.ts"
import { requestedDaysAhead } from "../commodities/source/fetch-feed.ts"
import type { DayRange } from "../run/pipeline.ts"

/** Number of days in which a report of this frequency appears at least once, even if one is late. */
const spanDays: Readonly<Record<Feed["frequency"], number>> = {
  daily: 14,
  weekly: 28,
  biweekly: 42,
  monthly: 93,
  annual: 400
}

/** A week is final after four more reports have restated it. */
const finalAfterDays = 35

/** `window_reach_days` also covers year-to-date reports, which begin on 1 January. */
const countDays = ({ frequency, revision_status, window_reach_days }: Feed) =>
  spanDays[frequency] + window_reach_days + (revision_status === "final" ? finalAfterDays : 0)

export const newestWindow = (feed: Feed, today: string): DayRange => ({
  from: addDays(today, -countDays(feed)),
  to: addDays(today, requestedDaysAhead)
})

/**
 * A day in each era. Reports of My Market News repeat keys until 2009, state no time of publication until February 2018,
 * and then end weeks on their Monday, at least until 2022, with a freight. Datamart begins in 2012; barrels end in 2025.
 */
const eras: Readonly<Record<Feed["source"], ReadonlyArray<string>>> = {
  "gov-mars": ["2020-06-01", "2014-06-02", "2004-06-07"],
  "gov-mpr": ["2020-06-01", "2014-06-02"]
}

/** Windows of earlier eras, the newest first. */
export const eraWindows = (feed: Feed): ReadonlyArray<DayRange> =>
  eras[feed.source].map((from) => ({ from, to: addDays(from, countDays(feed)) }))
