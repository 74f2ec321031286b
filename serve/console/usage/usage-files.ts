/**
 * Usage as CSV files, for spreadsheets and programs: in full, by day, key and endpoint. A year of 300 keys has 330,000
 * rows. They are read a few days at a time, so that other pages and calls are answered in between.
 */
import { daysBefore } from "@larder/schemas"
import { Effect, Option, Stream } from "effect"
import { Administration, type UsageOfDay, usdOf } from "../../ledger/index.ts"
import { RequestLog } from "../../persistence/index.ts"
import { csvFile } from "../web/csv.ts"
import { type Page, type PageContext, PageNotFound } from "../web/page.ts"
import { lengthOf, type Period, periodAsked } from "../web/period.ts"
import { callsAsked, callsOf, keysOf, nameOf } from "./calls-asked.ts"

export const usagePath = "/usage"

/** Reading this many rows takes ten milliseconds. */
const enoughAtOnce = 1_000
const mostDays = 16

const daysAfter = (days: number, rows: number) => {
  if (rows < enoughAtOnce) return Math.min(2 * days, mostDays)
  return rows < 2 * enoughAtOnce ? days : Math.max(1, days >> 1)
}

/**
 * Reads the rows of a period in batches of days, with as many days as it takes to get enough rows. Days are counted by
 * number and never go beyond the period, because a day after the year 9999 does not compare as text.
 */
export const byDays = <A, E, R>(period: Period, read: (days: Period) => Effect.Effect<ReadonlyArray<A>, E, R>) => {
  const all = lengthOf(period)
  return Stream.paginate({ begin: 0, days: 1 }, ({ begin, days }) => {
    const end = Math.min(begin + days, all)
    const asked = { from: daysBefore(period.from, -begin), to: daysBefore(period.from, 1 - end) }
    return Effect.map(read(asked), (rows) => {
      const next = { begin: end, days: daysAfter(days, rows.length) }
      return [rows, end === all ? Option.none() : Option.some(next)] as const
    })
  })
}

/** The filters of a file, the same as on its page. An invalid period gives 404. */
const asFile = Effect.fnUntraced(function* ({ account, now, url }: PageContext) {
  const keys = yield* keysOf(account.id)
  const asked = yield* callsAsked(url.searchParams, keys)
  const { period } = periodAsked(url.searchParams, now)
  if (period === undefined) return yield* new PageNotFound()
  return { keys, asked, period, name: (what: string) => `larder-${what}-${period.from}-${period.to}.csv` }
})

/** Omits rows whose calls were all refunded, like the page. */
const isCharged = ({ calls, credits }: UsageOfDay) => calls !== 0 || credits !== 0

const usageFile: Page<Administration> = {
  path: `${usagePath}.csv`,
  get: Effect.fnUntraced(function* (context) {
    const { asked, keys, name, period } = yield* asFile(context)
    const of = callsOf(context.account.id, asked)
    const rows = byDays(period, (days) => Administration.use((ledger) => ledger.usage({ ...of, ...days })))
    return yield* csvFile(
      name("usage"),
      ["day", "key_id", "key", "endpoint", "calls", "credits", "usd"],
      rows.pipe(
        Stream.filter(isCharged),
        Stream.map((row) => [
          row.day,
          row.key_id,
          nameOf(keys, row.key_id),
          row.endpoint,
          row.calls,
          row.credits,
          usdOf(row.credits)
        ])
      )
    )
  })
}

const statusFile: Page<Administration | RequestLog> = {
  path: `${usagePath}/statuses.csv`,
  get: Effect.fnUntraced(function* (context) {
    const { asked, keys, name, period } = yield* asFile(context)
    const of = callsOf(context.account.id, asked)
    const rows = byDays(period, (days) => RequestLog.use((log) => log.statuses({ ...of, ...days })))
    return yield* csvFile(
      name("statuses"),
      ["day", "key_id", "key", "endpoint", "status", "calls"],
      Stream.map(rows, (row) => [row.day, row.key_id, nameOf(keys, row.key_id), row.endpoint, row.status, row.calls])
    )
  })
}

export const usageFiles: ReadonlyArray<Page<Administration | RequestLog>> = [usageFile, statusFile]
