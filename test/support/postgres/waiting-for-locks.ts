/** Waits until sessions of a database wait for a lock of another session. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"

export const untilWaitingForLocks = Effect.fnUntraced(function* (sql: PgClient.PgClient, sessions = 1) {
  for (;;) {
    yield* sql`select pg_stat_clear_snapshot()` // within a transaction, PostgreSQL would repeat its first result
    const waiting = yield* sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    if (waiting.length >= sessions) return
    yield* Effect.sleep("5 millis")
  }
})
