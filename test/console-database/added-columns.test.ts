/** Columns that a newer version adds to tables that other servers use. Five seconds. */
import { setTimeout } from "node:timers/promises"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { createTables, postgresConsole } from "@larder/serve/console-database/postgres.ts"
import { connect } from "@larder/serve/ledger/postgres/database.ts"
import { Context, Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { inject } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"

const client = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url) })), (built) => Context.get(built, PgClient.PgClient))
const open = (url: string) => Layer.build(Layer.fresh(postgresConsole(Redacted.make(url))))

const isLostThere = (sql: PgClient.PgClient) =>
  Effect.map(
    sql`
      select from information_schema.columns
      where table_schema = 'console' and table_name = 'reversal' and column_name = 'is_lost'`,
    ({ length }) => length > 0
  )
const isAltering = (sql: PgClient.PgClient) =>
  Effect.map(
    sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'alter table%'`,
    ({ length }) => length > 0
  )

/** `alter table` is answered so many times as if the table was in use. */
const inUse = (url: string, times: number) => {
  const database = new URL(inject("postgresUrl")) // only a superuser may make such a trigger
  database.pathname = new URL(url).pathname
  return Effect.gen(function* () {
    const sql = yield* client(database.href)
    yield* sql`create sequence public.tries`
    yield* sql`grant usage on sequence public.tries to public`
    yield* sql.unsafe(`
      create function public.refuse() returns event_trigger language plpgsql as $$
      begin
        if nextval('public.tries') <= ${times} then raise exception using errcode = '55P03'; end if;
      end
      $$`)
    yield* sql`
      create event trigger refuse on ddl_command_start when tag in ('ALTER TABLE') execute function public.refuse()`
  }).pipe(Effect.scoped)
}

describe("a column that a starting server adds in PostgreSQL", () => {
  it.live("waits for a transaction that reads the table, while others can still read it", () =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(() => newDatabase(inject("postgresUrl")))
      const [backup, other] = [yield* client(url), yield* client(url)]
      yield* Effect.scoped(open(url))
      yield* other`alter table console.reversal drop column is_lost`
      const starting = yield* backup.withTransaction(
        Effect.gen(function* () {
          yield* backup`select from console.reversal`
          const starting = yield* Effect.forkScoped(open(url))
          for (const _ of ["at first", "and when it is tried again"]) {
            while (!(yield* isAltering(other))) yield* Effect.promise(() => setTimeout(5))
            yield* other`select from console.reversal`
          }
          assert.isUndefined(starting.pollUnsafe())
          assert.isFalse(yield* isLostThere(other))
          return starting
        })
      )
      yield* Fiber.join(starting)
      assert.isTrue(yield* isLostThere(other))
    }).pipe(Effect.scoped)
  )

  it.effect("is added after 100 attempts that failed because the table was in use", () =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(() => newDatabase(inject("postgresUrl")))
      const sql = yield* TestClock.withLive(connect(Redacted.make(url))) // it takes its time
      yield* createTables(sql)
      yield* sql`alter table console.reversal drop column is_lost`
      yield* TestClock.withLive(inUse(url, 100))
      const starting = yield* Effect.forkScoped(createTables(sql))
      while (starting.pollUnsafe() === undefined) {
        yield* TestClock.adjust("1 second")
        yield* Effect.promise(() => setTimeout(1))
      }
      yield* Fiber.join(starting)
      assert.isTrue(yield* isLostThere(sql))
    }).pipe(Effect.scoped)
  )
})
