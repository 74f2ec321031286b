/**
 * In PostgreSQL calls are summed up by triggers, because servers of a version that knows no sums may count there as well,
 * for as long as they are upgraded one by one. What a server adds to the sums itself, as a DuckDB file needs it, is left out.
 */
import { readFileSync } from "node:fs"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { transact } from "../ledger/postgres/database.ts"
import { sumStatuses } from "./tables.ts"

const functions = ["sum_statuses", "leave_out"].map((name) =>
  readFileSync(new URL(`./functions/${name}.sql`, import.meta.url), "utf8").trim()
)
/** Outside a trigger the depth is 0. */
const triggers = [
  `create trigger sum_inserted after insert on console.usage_of_status
  referencing new table as counted
  for each statement execute function console.sum_statuses()`,
  `create trigger sum_updated after update on console.usage_of_status
  referencing old table as replaced new table as counted
  for each statement execute function console.sum_statuses()`,
  `create trigger is_summed before insert on console.status_of_endpoint
  for each row when (pg_trigger_depth() = 0) execute function console.leave_out()`
]

const isSummed = (sql: PgClient.PgClient) =>
  Effect.map(
    sql`select from pg_trigger where tgrelid = 'console.status_of_endpoint'::regclass and tgname = 'is_summed'`,
    (found) => found.length > 0
  )

/**
 * Once, by whoever comes first: three million rows take some five seconds. What other servers count waits meanwhile, and
 * then is in the sums; after ten seconds they drop it, and say so.
 */
export const keepSums = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  if (yield* isSummed(sql)) return
  yield* transact(
    sql,
    Effect.gen(function* () {
      yield* sql`lock table console.usage_of_status in share row exclusive mode`
      if (yield* isSummed(sql)) return
      for (const statement of [sumStatuses(), ...functions, ...triggers]) yield* sql.unsafe(statement)
    })
  )
})
