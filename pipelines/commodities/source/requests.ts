/** Requests to the two services: the addresses of the reports, the query for a window of days, the key. */
import { addDays, isDay } from "@larder/schemas"
import { Config, Option, Redacted } from "effect"
import type { SourceRequest } from "../../run/origins/origin.ts"
import type { DayRange } from "../../run/pipeline.ts"
import { thresholds } from "../../run/thresholds.ts"
import type { Feed } from "../catalog.ts"

const base = {
  "gov-mars": "https://marsapi.ams.usda.gov/services/v1.2/reports/",
  "gov-mpr": "https://mpr.datamart.ams.usda.gov/services/v1.1/reports/"
}

/** `2026-09-01` → `09/01/2026`, as both services require. */
const formatAmerican = (day: string) => `${day.slice(5, 7)}/${day.slice(8, 10)}/${day.slice(0, 4)}`

const addWindow = (url: string, feed: Feed, window: DayRange) => {
  const condition = `${feed.window_field}=${formatAmerican(window.from)}:${formatAmerican(window.to)}`
  return `${url}${url.includes("?") ? "&" : "?"}q=${encodeURIComponent(condition)}`
}

const shiftDay = (day: string, days: number) => {
  const shifted = addDays(day, days)
  return isDay(shifted) ? shifted : day
}

/**
 * Returns the window to request from a feed so that no reading of these days is missed. The service finds reports by
 * other days, such as the beginning of a year-to-date report or the week of the report that restates the reading.
 */
export const widenWindow = ({ from, to }: DayRange, { window_reach_days }: Feed): DayRange => ({
  from: shiftDay(from, -window_reach_days),
  to: shiftDay(to, window_reach_days)
})

/**
 * Whether all feeds of a service are empty for days that are known to have rows: then the service no longer supports
 * the field by which days are requested. One or two feeds may really have no rows.
 */
export const areAllEmpty = (rows: ReadonlyArray<number>) =>
  thresholds.emptyFeeds.isMetBy(rows.length) && rows.every((count) => count === 0)

export const allEmptyExplanation =
  "like every other report of this service: it may no longer support the field by which days are requested"

/** The key of My Market News. Whitespace around it comes from copying; an empty key counts as missing. */
export const marsKey = Config.option(Config.Redacted("MARS_API_KEY")).pipe(
  Config.map((key) => {
    const text = Option.match(key, { onNone: () => "", onSome: (set) => Redacted.value(set).trim() })
    return text === "" ? undefined : Redacted.make(text)
  })
)

/** Makes the requests for a feed, in order of preference. The My Market News key is the user name of HTTP Basic. */
export const feedRequests = (
  feed: Feed,
  window: DayRange | undefined,
  key: Redacted.Redacted | undefined
): ReadonlyArray<SourceRequest> =>
  feed.paths.map((path) => {
    const url = base[feed.source] + path
    return {
      url: window === undefined ? url : addWindow(url, feed, window),
      accept: "application/json",
      ...(feed.source === "gov-mars" ? { keyVariable: "MARS_API_KEY" } : {}),
      ...(feed.source === "gov-mars" && key !== undefined ? { basicUser: key } : {})
    }
  })
