/** Days as numbers since 1970-01-01, the two date formats of the sources, federal and exchange holidays. */

export type Day = number

export const parseDay = (iso: string): Day => Date.parse(`${iso}T00:00:00Z`) / 86_400_000
export const formatDay = (day: Day) => new Date(day * 86_400_000).toISOString().slice(0, 10)
/** `MM/DD/YYYY`. */
export const formatUsDate = (day: Day) => formatDay(day).replace(/(\d+)-(\d+)-(\d+)/, "$2/$3/$1")
export const parseUsDate = (text: string): Day => parseDay(text.replace(/(\d+)\/(\d+)\/(\d+).*/, "$3-$1-$2"))
/** 0 is Sunday. */
export const getWeekday = (day: Day) => (((day + 4) % 7) + 7) % 7
const getYear = (day: Day) => Number(formatDay(day).slice(0, 4))
/** `YYYY-MM`. */
export const getMonth = (day: Day) => formatDay(day).slice(0, 7)
export const getNextMonth = (month: string) => getMonth(parseDay(`${month}-01`) + 31)
export const getLastDay = (month: string): Day => parseDay(`${getNextMonth(month)}-01`) - 1
export const listMonths = (first: string, last: string) => {
  const months: Array<string> = []
  for (let month = first; month <= last; month = getNextMonth(month)) months.push(month)
  return months
}

const monthNames = "January February March April May June July August September October November December".split(" ")
export const getMonthName = (month: string) => String(monthNames[Number(month.slice(5)) - 1])

export const listDays = (first: Day, last: Day, step = 1) => {
  const days: Array<Day> = []
  for (let day = first; day <= last; day += step) days.push(day)
  return days
}

/** The n-th given weekday of a month; n = -1 is the last one. */
const findNthWeekday = (n: number, weekday: number, month: string): Day => {
  if (n < 0) return getLastDay(month) - ((getWeekday(getLastDay(month)) - weekday + 7) % 7)
  const first = parseDay(`${month}-01`)
  return first + ((weekday - getWeekday(first) + 7) % 7) + 7 * (n - 1)
}

/** A holiday on a Sunday moves to Monday, one on a Saturday to Friday. */
const getObservedDay = (day: Day): Day => {
  if (getWeekday(day) === 0) return day + 1
  return getWeekday(day) === 6 ? day - 1 : day
}

const makeHolidayTest = (list: (year: number) => ReadonlyArray<Day>) => {
  const known = new Map<number, ReadonlySet<Day>>()
  return (day: Day) => {
    const year = getYear(day)
    const days = known.get(year) ?? new Set(list(year))
    known.set(year, days)
    return days.has(day)
  }
}

const listMondayHolidays = (year: number) => [
  findNthWeekday(3, 1, `${year}-01`),
  findNthWeekday(3, 1, `${year}-02`),
  findNthWeekday(-1, 1, `${year}-05`),
  findNthWeekday(1, 1, `${year}-09`)
]

const isFederalHoliday = makeHolidayTest((year) => [
  ...listMondayHolidays(year),
  findNthWeekday(2, 1, `${year}-10`),
  findNthWeekday(4, 4, `${year}-11`),
  getObservedDay(parseDay(`${year}-01-01`)),
  getObservedDay(parseDay(`${year + 1}-01-01`)),
  ...(year >= 2021 ? [getObservedDay(parseDay(`${year}-06-19`))] : []),
  getObservedDay(parseDay(`${year}-07-04`)),
  getObservedDay(parseDay(`${year}-11-11`)),
  getObservedDay(parseDay(`${year}-12-25`))
])

/** Western Easter Sunday, by the anonymous Gregorian computus. */
const computeEaster = (year: number): Day => {
  const a = year % 19
  const b = Math.floor(year / 100)
  const c = year % 100
  const d = b - Math.floor(b / 4) - Math.floor((8 * b + 13) / 25)
  const h = (19 * a + d + 15) % 30
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7
  const m = Math.floor((a + 11 * h + 22 * l) / 451)
  const n = h + l - 7 * m + 114
  return parseDay(`${year}-${String(Math.floor(n / 31)).padStart(2, "0")}-01`) + (n % 31)
}

/** The dairy spot market is also closed on Good Friday and on the day after Thanksgiving. */
const isExchangeHoliday = makeHolidayTest((year) => [
  ...listMondayHolidays(year),
  computeEaster(year) - 2,
  findNthWeekday(4, 4, `${year}-11`),
  findNthWeekday(4, 4, `${year}-11`) + 1,
  ...(getWeekday(parseDay(`${year}-01-01`)) === 6 ? [] : [getObservedDay(parseDay(`${year}-01-01`))]),
  ...(year >= 2022 ? [getObservedDay(parseDay(`${year}-06-19`))] : []),
  getObservedDay(parseDay(`${year}-07-04`)),
  getObservedDay(parseDay(`${year}-12-25`))
])

const isWeekend = (day: Day) => getWeekday(day) === 0 || getWeekday(day) === 6
export const isTradingDay = (day: Day) => !isWeekend(day) && !isExchangeHoliday(day)
export const isFederalWorkday = (day: Day) => !isWeekend(day) && !isFederalHoliday(day)

/** The first federal workday on or after a day. */
export const findWorkdayFrom = (day: Day): Day => (isFederalWorkday(day) ? day : findWorkdayFrom(day + 1))
/** The last federal workday on or before a day. */
export const findWorkdayUpTo = (day: Day): Day => (isFederalWorkday(day) ? day : findWorkdayUpTo(day - 1))
