/** Publication times of weekly survey reports: the third federal workday of the next week, shortly after one o'clock. */
import { type Day, dayOf, dayOfUsDate, isFederalWorkday, usDate, weekdayOf } from "./calendar.ts"
import { surveyReleases } from "./facts.ts"
import { chance } from "./random.ts"

export interface Release {
  readonly day: Day
  /** `MM/DD/YYYY HH:MM:SS`, without a zone, as the service prints it. */
  readonly published: string
}

/** Three reports that the shutdown of October 2013 delayed; their real times are unknown. */
const heldBack: ReadonlyMap<Day, string> = new Map([
  [dayOf("2013-09-28"), "10/17/2013 13:04:11"],
  [dayOf("2013-10-05"), "10/17/2013 13:09:32"],
  [dayOf("2013-10-12"), "10/17/2013 13:14:05"]
])

const twoDigits = (value: number) => String(value).padStart(2, "0")

const thirdWorkdayAfter = (saturday: Day) => {
  let day = saturday
  for (let workdays = 0; workdays < 3; ) if (isFederalWorkday(++day)) workdays++
  return day
}

const known = surveyReleases()

export const releaseOf = (reportWeek: Day): Release => {
  const seen = known.get(reportWeek) ?? heldBack.get(reportWeek)
  if (seen) return { day: dayOfUsDate(seen), published: seen }
  const random = chance(`release ${usDate(reportWeek)}`)
  const day = thirdWorkdayAfter(reportWeek)
  const minute = weekdayOf(day) === 3 && !random.happens(0.1) ? 4 : random.whole(1, 3)
  return { day, published: `${usDate(day)} 13:${twoDigits(minute)}:${twoDigits(random.whole(1, 59))}` }
}
