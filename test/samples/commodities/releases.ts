/** Publication times of weekly survey reports: the third federal workday of the next week, shortly after one o'clock. */
import { type Day, formatUsDate, getWeekday, isFederalWorkday, parseDay, parseUsDate } from "./calendar.ts"
import { readSurveyReleases } from "./facts.ts"
import { makeRandomStream } from "./random.ts"

export interface Release {
  readonly day: Day
  /** `MM/DD/YYYY HH:MM:SS`, without a zone, as the service prints it. */
  readonly published: string
}

/** Three reports that the shutdown of October 2013 delayed; their real times are unknown. */
const delayedReleases: ReadonlyMap<Day, string> = new Map([
  [parseDay("2013-09-28"), "10/17/2013 13:04:11"],
  [parseDay("2013-10-05"), "10/17/2013 13:09:32"],
  [parseDay("2013-10-12"), "10/17/2013 13:14:05"]
])

const twoDigits = (value: number) => String(value).padStart(2, "0")

const thirdWorkdayAfter = (saturday: Day) => {
  let day = saturday
  for (let workdays = 0; workdays < 3; ) if (isFederalWorkday(++day)) workdays++
  return day
}

const known = readSurveyReleases()

export const findRelease = (reportWeek: Day): Release => {
  const published = known.get(reportWeek) ?? delayedReleases.get(reportWeek)
  if (published) return { day: parseUsDate(published), published }
  const random = makeRandomStream(`release ${formatUsDate(reportWeek)}`)
  const day = thirdWorkdayAfter(reportWeek)
  const minute = getWeekday(day) === 3 && !random.happens(0.1) ? 4 : random.whole(1, 3)
  return { day, published: `${formatUsDate(day)} 13:${twoDigits(minute)}:${twoDigits(random.whole(1, 59))}` }
}
