/** Days as numbers, and their two formats: `2026-04-30` in most of the CSV, `4/30/2026` in the JSON and in some of the CSV. */

const millisecondsPerDay = 86_400_000
const firstDay = Date.UTC(2014, 0, 1) / millisecondsPerDay
const dayCount = 8_000 // to 2035

const iso: Array<string> = []
const american: Array<string> = []
for (let day = 0; day < dayCount; day++) {
  const text = new Date((firstDay + day) * millisecondsPerDay).toISOString().slice(0, 10)
  iso.push(text)
  american.push(`${Number(text.slice(5, 7))}/${Number(text.slice(8))}/${text.slice(0, 4)}`)
}

const findFormatted = (list: ReadonlyArray<string>, day: number) => {
  const text = list[day]
  if (text === undefined)
    throw new Error(`Day ${day} after 2014-01-01 is beyond the days that the generator can format`)
  return text
}

/** Days since 2014-01-01. */
export const parseDay = (date: string) => Date.parse(`${date}T00:00:00Z`) / millisecondsPerDay - firstDay
export const formatIsoDate = (day: number) => findFormatted(iso, day)
export const formatAmericanDate = (day: number) => findFormatted(american, day)
