/** Usage as files, for spreadsheets and programs: in full, by day, key and endpoint. */
import { Effect, Stream } from "effect"
import { Administration } from "../../ledger/administration.ts"
import { usdOf } from "../../ledger/money.ts"
import { RequestLog } from "../../requests/request-log.ts"
import { csvFile } from "../csv.ts"
import { type Page, type PageContext, PageNotFound } from "../page.ts"
import { type CallsAsked, callsAsked, isAsked, keysOf, nameOf } from "./calls-asked.ts"
import { type Period, periodAsked } from "./period.ts"

export const usagePath = "/usage"

const usageOf = (account_id: string, period: Period, asked: CallsAsked) =>
  Effect.map(
    Administration.use((ledger) => ledger.usage({ account_id, ...period })),
    (rows) => rows.filter(isAsked(asked))
  )
const statusesOf = (account_id: string, period: Period, asked: CallsAsked) =>
  Effect.map(
    RequestLog.use((log) => log.statuses({ account_id, ...period })),
    (rows) => rows.filter(isAsked(asked))
  )

/** What a file of calls is about, as its page would show it; there is none for what is no period. */
const asFile = Effect.fnUntraced(function* ({ account, now, url }: PageContext) {
  const keys = yield* keysOf(account.id)
  const asked = yield* callsAsked(url.searchParams, keys)
  const { period } = periodAsked(url.searchParams, now)
  if (period === undefined) return yield* new PageNotFound()
  return { keys, asked, period, name: (what: string) => `larder-${what}-${period.from}-${period.to}.csv` }
})

const usageFile: Page<Administration> = {
  path: `${usagePath}.csv`,
  get: Effect.fnUntraced(function* (context) {
    const { asked, keys, name, period } = yield* asFile(context)
    const rows = yield* usageOf(context.account.id, period, asked)
    return yield* csvFile(
      name("usage"),
      ["day", "key_id", "key", "endpoint", "calls", "credits", "usd"],
      Stream.fromIterable(rows).pipe(
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
    const rows = yield* statusesOf(context.account.id, period, asked)
    return yield* csvFile(
      name("statuses"),
      ["day", "key_id", "key", "endpoint", "status", "calls"],
      Stream.fromIterable(rows).pipe(
        Stream.map((row) => [row.day, row.key_id, nameOf(keys, row.key_id), row.endpoint, row.status, row.calls])
      )
    )
  })
}

export const usageFiles: ReadonlyArray<Page<Administration | RequestLog>> = [usageFile, statusFile]
