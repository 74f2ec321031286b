/**
 * Usage as CSV files, for spreadsheets and programs: in full, by day, key and endpoint. A year of 300 keys has 330,000
 * rows. They are read a few days at a time, so that other pages and calls are handled in between.
 */
import { addDays } from "@larder/schemas"
import { Effect, Option, Stream } from "effect"
import { Administration, type UsageOfDay, usdOf } from "../../ledger/index.ts"
import { RequestLog } from "../../persistence/index.ts"
import { downloadCsv } from "../web/csv.ts"
import { type Page, type PageContext, PageNotFound } from "../web/page.ts"
import { countDays, type Period, readPeriod } from "../web/period.ts"
import { keyName, readCallsFilter } from "./calls-filter.ts"

export const usagePath = "/usage"

/** Reading this many rows takes ten milliseconds. */
const enoughRows = 1_000
const maxDays = 16

const chooseNextDays = (days: number, rows: number) => {
  if (rows < enoughRows) return Math.min(2 * days, maxDays)
  return rows < 2 * enoughRows ? days : Math.max(1, days >> 1)
}

/**
 * Reads the rows of a period in batches of days: more days if they have few rows, fewer if they have many. Days are
 * numbered, because days after the year 9999 do not compare as strings.
 */
export const readByDays = <A, E, R>(period: Period, read: (days: Period) => Effect.Effect<ReadonlyArray<A>, E, R>) => {
  const dayCount = countDays(period)
  return Stream.paginate({ start: 0, days: 1 }, ({ days, start }) => {
    const end = Math.min(start + days, dayCount)
    const batch = { from: addDays(period.from, start), to: addDays(period.from, end - 1) }
    return Effect.map(read(batch), (rows) => {
      const next = { start: end, days: chooseNextDays(days, rows.length) }
      return [rows, end === dayCount ? Option.none() : Option.some(next)] as const
    })
  })
}

/** The filters of a file, the same as on its page. An invalid period returns 404. */
const readFileQuery = Effect.fnUntraced(function* (context: PageContext) {
  const { keys, query } = yield* readCallsFilter(context)
  const { period } = readPeriod(context.url.searchParams, context.now)
  if (period === undefined) return yield* new PageNotFound()
  return { keys, period, query, fileName: (what: string) => `larder-${what}-${period.from}-${period.to}.csv` }
})

/** Omits rows with only refunded calls, like the page. */
const isCharged = ({ calls, credits }: UsageOfDay) => calls !== 0 || credits !== 0

const usageFile: Page<Administration> = {
  path: `${usagePath}.csv`,
  get: Effect.fnUntraced(function* (context) {
    const { fileName, keys, period, query } = yield* readFileQuery(context)
    const rows = readByDays(period, (days) => Administration.use((ledger) => ledger.usage({ ...query, ...days }))).pipe(
      Stream.filter(isCharged),
      Stream.map(({ calls, credits, day, endpoint, key_id }) => {
        return [day, key_id, keyName(keys, key_id), endpoint, calls, credits, usdOf(credits)]
      })
    )
    return yield* downloadCsv(fileName("usage"), ["day", "key_id", "key", "endpoint", "calls", "credits", "usd"], rows)
  })
}

const statusFile: Page<Administration | RequestLog> = {
  path: `${usagePath}/statuses.csv`,
  get: Effect.fnUntraced(function* (context) {
    const { fileName, keys, period, query } = yield* readFileQuery(context)
    const rows = readByDays(period, (days) => RequestLog.use((log) => log.statuses({ ...query, ...days }))).pipe(
      Stream.map(({ calls, day, endpoint, key_id, status }) => {
        return [day, key_id, keyName(keys, key_id), endpoint, status, calls]
      })
    )
    return yield* downloadCsv(fileName("statuses"), ["day", "key_id", "key", "endpoint", "status", "calls"], rows)
  })
}

export const usageFiles: ReadonlyArray<Page<Administration | RequestLog>> = [usageFile, statusFile]
