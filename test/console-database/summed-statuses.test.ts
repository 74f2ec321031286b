/** Sums of calls agree with what was counted, whatever the version of the server that counts. Three seconds. */
import { readFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { ConsoleDatabase } from "@larder/serve/console-database/console-database.ts"
import { postgresConsole } from "@larder/serve/console-database/postgres.ts"
import { writeRequests } from "@larder/serve/requests/batches.ts"
import { gatherer } from "@larder/serve/requests/gathered.ts"
import { Context, Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { inject } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"
import { consolePlaceNames, consolePlaces } from "../support/serve/console-databases.ts"

const days = ["2026-10-30", "2026-10-31"]
const endpoints = ["/v1/stores", "/v1/commodities"]

/** Two rows, and others each time: some keys are new, some were counted before. */
const countedBy = (server: number, time: number) =>
  [0, 1].map((part) => ({
    day: days[(server + time + part) % 2] ?? "",
    key_id: `key_${(server + part) * (time % 7)}`,
    endpoint: endpoints[(server + part) % 2] ?? "",
    status: 200
  }))

/** As a version counts that knows no sums: the same rows in the same order, and one call each. */
const countOnly = (database: ConsoleDatabase["Service"], rows: ReturnType<typeof countedBy>) =>
  database.transaction(({ run }) =>
    run(
      `insert into console.usage_of_status as counted (day, account_id, key_id, endpoint, status, calls)
      select day, 'acct_a', key_id, endpoint, 200, 1
      from (
        select unnest(string_to_array($1, ' ')) as day, unnest(string_to_array($2, ' ')) as key_id,
          unnest(string_to_array($3, ' ')) as endpoint
      ) as calls
      order by day, key_id, endpoint
      on conflict (account_id, day, key_id, endpoint, status) do update set calls = counted.calls + excluded.calls`,
      [
        rows.map(({ day }) => day).join(" "),
        rows.map(({ key_id }) => key_id).join(" "),
        rows.map(({ endpoint }) => endpoint).join(" ")
      ]
    )
  )

const countAndSum = (database: ConsoleDatabase["Service"], rows: ReturnType<typeof countedBy>) => {
  const gathering = gatherer(10)
  for (const { day, ...row } of rows) {
    const call = { ...row, id: crypto.randomUUID(), account_id: "acct_a", credits: 1, duration_ms: 1 }
    gathering.add({ ...call, occurred_at: `${day}T12:00:00.000Z` })
  }
  return writeRequests(database, gathering.take())
}

const Sum = Schema.Struct({ of: Schema.String, calls: Schema.Int })
const monthOfDay = "cast(substr(day, 1, 4) as integer) * 12 + cast(substr(day, 6, 2) as integer) - 1"
const sums = {
  status_of_endpoint: {
    kept: "concat_ws(' ', account_id, day, endpoint, status)",
    counted: "concat_ws(' ', account_id, day, endpoint, status)"
  },
  status_of_month: {
    kept: "concat_ws(' ', account_id, month, key_id, endpoint, status)",
    counted: `concat_ws(' ', account_id, ${monthOfDay}, key_id, endpoint, status)`
  }
}
const checkSums = Effect.fnUntraced(function* ({ all }: ConsoleDatabase["Service"], calls: number) {
  for (const [table, of] of Object.entries(sums)) {
    const kept = yield* all(
      Sum,
      `select ${of.kept} as of, cast(calls as double precision) as calls from console.${table} order by 1`
    )
    const counted = yield* all(
      Sum,
      `select ${of.counted} as of, cast(sum(calls) as double precision) as calls
      from console.usage_of_status group by 1 order by 1`
    )
    assert.deepStrictEqual(kept, counted)
    assert.strictEqual(
      kept.reduce((sum, row) => sum + row.calls, 0),
      calls
    )
  }
})

describe.each(consolePlaceNames)("sums of calls in %s", (name) => {
  it.live("match the counted calls when versions with and without sums take turns", () =>
    Effect.gen(function* () {
      const { layer } = yield* consolePlaces[name]
      for (const [time, count] of [countOnly, countAndSum, countOnly, countOnly, countAndSum, countOnly].entries()) {
        yield* Effect.provide(
          ConsoleDatabase.use((database) => count(database, countedBy(0, time))),
          Layer.fresh(layer)
        )
      }
      for (const _ of ["again", "and again"]) {
        yield* Effect.provide(
          ConsoleDatabase.use((database) => checkSums(database, 12)),
          Layer.fresh(layer)
        )
      }
    }).pipe(Effect.scoped)
  )
})

const database = Effect.promise(() => newDatabase(inject("postgresUrl")))
const client = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url) })), (built) => Context.get(built, PgClient.PgClient))
const open = (url: string) =>
  Effect.map(Layer.build(Layer.fresh(postgresConsole(Redacted.make(url)))), (built) =>
    Context.get(built, ConsoleDatabase)
  )

/** Leaves the tables of a version that knew no sums. */
const forgetSums = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  yield* sql`drop table console.status_of_endpoint, console.status_of_month`
  yield* sql`drop function console.sum_inserted, console.sum_updated, console.leave_out cascade`
})

/** Leaves the tables of a version that summed up no months. */
const forgetMonths = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  yield* sql`drop table console.status_of_month`
  yield* sql`drop function console.sum_inserted, console.sum_updated cascade`
  const statements = readFileSync(new URL("./sums-of-endpoints.sql", import.meta.url), "utf8").split(";\n\n")
  for (const statement of statements) yield* sql.unsafe(statement)
})
/** As that version counts: it adds to the sums, where the triggers leave it out. */
const countAndSumDays = (database: ConsoleDatabase["Service"], rows: ReturnType<typeof countedBy>) =>
  database.transaction(({ run }) =>
    Effect.andThen(
      countOnly(database, rows),
      run(
        `insert into console.status_of_endpoint as sums (account_id, day, endpoint, status, calls)
        values ('acct_a', $1, '/v1/stores', 200, 2)
        on conflict (account_id, day, endpoint, status) do update set calls = sums.calls + excluded.calls`,
        [days[0] ?? ""]
      )
    )
  )

describe("sums of calls in PostgreSQL", () => {
  it.live("match the counted calls when servers with and without sums count at the same time", () =>
    Effect.gen(function* () {
      const url = yield* database
      const older = [yield* open(url), yield* open(url)]
      yield* forgetSums(yield* client(url))
      const counting = (
        one: ConsoleDatabase["Service"],
        count: typeof countOnly | typeof countAndSum,
        server: number
      ) =>
        Effect.forEach(
          Array.from({ length: 40 }, (_, time) => countedBy(server, time)),
          (rows) => count(one, rows),
          { discard: true }
        )
      const newer = (server: number) => Effect.flatMap(open(url), (one) => counting(one, countAndSum, server))
      yield* Effect.all([...older.map((one, server) => counting(one, countOnly, server)), newer(0), newer(1)], {
        concurrency: "unbounded"
      })
      yield* checkSums(yield* open(url), 4 * 40 * 2)
    }).pipe(Effect.scoped)
  )

  it.live("include months once newer servers start, while servers of the older version still count", () =>
    Effect.gen(function* () {
      const url = yield* database
      const sql = yield* client(url)
      const older = [yield* open(url), yield* open(url)]
      yield* forgetMonths(sql)
      const counting = (
        one: ConsoleDatabase["Service"],
        count: typeof countAndSumDays | typeof countAndSum,
        server: number
      ) =>
        Effect.forEach(
          Array.from({ length: 40 }, (_, time) => countedBy(server, time)),
          (rows) => count(one, rows),
          { discard: true }
        )
      for (const [server, one] of older.entries()) yield* counting(one, countAndSumDays, server)
      const newer = (server: number) => Effect.flatMap(open(url), (one) => counting(one, countAndSum, server))
      yield* Effect.all([...older.map((one, server) => counting(one, countAndSumDays, server)), newer(0), newer(1)], {
        concurrency: "unbounded"
      })
      yield* checkSums(yield* open(url), 6 * 40 * 2)
    }).pipe(Effect.scoped)
  )

  it.live("match the counted calls for a role that searches the console's schema first", () =>
    Effect.gen(function* () {
      const url = yield* database
      yield* (yield* client(url))`alter role current_user set search_path = console, public`
      for (const [time, calls] of [2, 4].entries()) {
        const one = yield* open(url)
        yield* countAndSum(one, countedBy(0, time))
        yield* checkSums(one, calls)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("are built by a starting server that waits for a lock, even for an hour", () =>
    Effect.gen(function* () {
      const url = yield* database
      const sql = yield* client(url)
      const older = yield* open(url)
      yield* countOnly(older, countedBy(0, 1))
      yield* forgetSums(sql)
      const starting = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`lock table console.usage_of_status in row exclusive mode`
          const starting = yield* Effect.forkScoped(open(url))
          while ((yield* waiting(sql)) < 1) yield* Effect.promise(() => setTimeout(20))
          yield* TestClock.adjust("1 hour")
          assert.isUndefined(starting.pollUnsafe())
          return starting
        })
      )
      yield* checkSums(yield* Fiber.join(starting), 2)
    }).pipe(Effect.scoped)
  )

  it.live("are added without a deadlock when two servers add the same rows in opposite order", () =>
    Effect.gen(function* () {
      const url = yield* database
      const sql = yield* client(url)
      const [one, other] = [yield* open(url), yield* open(url)]
      const [stores, commodities] = ["/v1/stores", "/v1/commodities"].map((endpoint) => ({
        ...{ day: "2026-10-31", status: 200 },
        endpoint
      }))
      if (stores === undefined || commodities === undefined) return assert.fail()
      const known = { key_id: "key_a" }
      yield* countOnly(one, [
        { ...commodities, ...known },
        { ...stores, ...known }
      ])
      const counting = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`select from console.status_of_endpoint where endpoint = ${stores.endpoint} for update`
          // what is changed is added before what is new
          const first = [
            { ...stores, ...known },
            { ...commodities, key_id: "key_b" }
          ]
          const second = [
            { ...commodities, ...known },
            { ...stores, key_id: "key_c" }
          ]
          const ahead = yield* Effect.forkScoped(countOnly(one, first))
          while ((yield* waiting(sql)) < 1) yield* Effect.promise(() => setTimeout(20))
          const behind = yield* Effect.forkScoped(countOnly(other, second))
          while ((yield* waiting(sql)) < 2) yield* Effect.promise(() => setTimeout(20))
          return [ahead, behind]
        })
      )
      yield* Fiber.joinAll(counting)
      yield* checkSums(one, 6)
    }).pipe(Effect.scoped)
  )
})

/** How many statements wait for a lock. */
const waiting = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  yield* sql`select pg_stat_clear_snapshot()` // else a transaction sees the same for ever
  const found = yield* sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return found.length
})
