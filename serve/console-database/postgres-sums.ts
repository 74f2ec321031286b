/**
 * In PostgreSQL calls are summed up by triggers, because servers of a version that knows no sums may count there as well,
 * for as long as they are upgraded one by one. What a server adds to the sums itself, as an earlier version did, is left out.
 */
import { readFileSync } from "node:fs"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { transact } from "../ledger/postgres/database.ts"
import { addToSums, type SumTable, sumAnew, sumTables } from "./sums.ts"

/** What a statement has counted, by its kind: rows as they are now, less what they were. */
const changes = {
  inserted: "counted as counts",
  updated: `(
    select day, account_id, key_id, endpoint, status, calls from counted
    union all
    select day, account_id, key_id, endpoint, status, -calls from replaced
  ) as counts`
}

/**
 * Adds it to the sums, in the transaction of the statement. One that inserts and updates comes here twice, and takes the sums
 * in no common order: so one server adds after the other, and no two of them wait for each other.
 */
const summing = (kind: keyof typeof changes) => `
  create or replace function console.sum_${kind}() returns trigger
  language plpgsql as $$
  begin
    perform pg_advisory_xact_lock('console.status_of_endpoint'::regclass::oid::bigint);
    ${sumTables.map((of) => `${addToSums(of, changes[kind])};`).join("\n")}
    return null;
  end
  $$`

const triggers = [
  `create or replace trigger sum_inserted after insert on console.usage_of_status
  referencing new table as counted
  for each statement execute function console.sum_inserted()`,
  `create or replace trigger sum_updated after update on console.usage_of_status
  referencing old table as replaced new table as counted
  for each statement execute function console.sum_updated()`,
  "drop function if exists console.sum_statuses()" // of an earlier version, for both
]

const leaveOut = readFileSync(new URL("./functions/leave_out.sql", import.meta.url), "utf8").trim()
/** Outside a trigger the depth is 0. */
const leaveOutOf = ({ table }: SumTable) => `
  create trigger is_summed before insert on console.${table}
  for each row when (pg_trigger_depth() = 0) execute function console.leave_out()`

const notSummed = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ table: string }>`
      select relname as table
      from pg_trigger join pg_class on pg_class.oid = tgrelid
      where tgname = 'is_summed' and relnamespace = 'console'::regnamespace`,
    (found) => sumTables.filter(({ table }) => !found.some((summed) => summed.table === table))
  )

/**
 * Once, by whoever comes first: three million rows take five seconds. What other servers count waits meanwhile, and
 * then is in the sums; after ten seconds they drop it, and say so.
 */
export const keepSums = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  if ((yield* notSummed(sql)).length === 0) return
  yield* transact(
    sql,
    Effect.gen(function* () {
      yield* sql`lock table console.usage_of_status in share row exclusive mode`
      yield* sql`set local work_mem = '256MB'` // the usual 4 MB would sort millions of rows on the disk, and take ten seconds
      const missing = yield* notSummed(sql)
      if (missing.length === 0) return
      const made = missing.flatMap((of) => [sumAnew(of), leaveOutOf(of)])
      for (const statement of [leaveOut, summing("inserted"), summing("updated"), ...triggers, ...made]) {
        yield* sql.unsafe(statement)
      }
    })
  )
})
