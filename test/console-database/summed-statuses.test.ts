/** Sums of calls match the counted calls, in both databases and with several concurrent servers. Takes two seconds. */
import { assert, describe, it } from "@effect/vitest"
import { postgresConsole } from "@larder/serve/ledger"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { writeRequests } from "@larder/serve/persistence/requests/batches.ts"
import { gatherCalls } from "@larder/serve/persistence/requests/gather-calls.ts"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { inject } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"
import { consoleDatabaseKinds, consoleDatabases } from "../support/serve/console-databases.ts"

const days = ["2026-10-30", "2026-10-31"]
const endpoints = ["/v1/stores", "/v1/commodities"]

/** Calls for two rows, which vary with the time: some keys are new, others were counted before. */
const makeCounts = (server: number, time: number) =>
  [0, 1].map((part) => ({
    day: days[(server + time + part) % 2] ?? "",
    key_id: `key_${(server + part) * (time % 7)}`,
    endpoint: endpoints[(server + part) % 2] ?? "",
    status: 200
  }))

const count = (database: ConsoleDatabase["Service"], rows: ReturnType<typeof makeCounts>) => {
  const gathering = gatherCalls(10)
  for (const { day, ...row } of rows) {
    const call = { ...row, id: crypto.randomUUID(), account_id: "acct_a", credits: 1, duration_ms: 1 }
    gathering.add({ ...call, occurred_at: `${day}T12:00:00.000Z`, caller_request_id: null, traceparent: null })
  }
  return writeRequests(database, gathering.take())
}

const Sum = Schema.Struct({ name: Schema.String, calls: Schema.Int })
const sumName = "account_id || ' ' || day || ' ' || endpoint || ' ' || cast(status as text)"
const checkSums = Effect.fnUntraced(function* ({ all }: ConsoleDatabase["Service"], calls: number) {
  const sums = yield* all(
    Sum,
    `select ${sumName} as name, cast(calls as double precision) as calls from console.status_of_endpoint order by 1`
  )
  const counted = yield* all(
    Sum,
    `select ${sumName} as name, cast(sum(calls) as double precision) as calls
    from console.usage_of_status group by 1 order by 1`
  )
  assert.deepStrictEqual(sums, counted)
  assert.strictEqual(
    sums.reduce((sum, row) => sum + row.calls, 0),
    calls
  )
})

describe.each(consoleDatabaseKinds)("sums of calls in %s", (name) => {
  it.live("match the counted calls over batches and restarts", () =>
    Effect.gen(function* () {
      const { layer } = yield* consoleDatabases[name]
      for (let time = 0; time < 6; time++) {
        yield* Effect.provide(
          ConsoleDatabase.use((database) => count(database, makeCounts(0, time))),
          Layer.fresh(layer)
        )
      }
      yield* Effect.provide(
        ConsoleDatabase.use((database) => checkSums(database, 12)),
        Layer.fresh(layer)
      )
    }).pipe(Effect.scoped)
  )
})

const database = Effect.promise(() => newDatabase(inject("postgresUrl")))
const openDatabase = (url: string) =>
  Effect.map(Layer.build(Layer.fresh(postgresConsole(Redacted.make(url)))), (built) =>
    Context.get(built, ConsoleDatabase)
  )

describe("sums of calls in PostgreSQL", () => {
  it.live("match the counted calls when four servers count the same rows at the same time", () =>
    Effect.gen(function* () {
      const url = yield* database
      const countRows = (server: number) =>
        Effect.flatMap(openDatabase(url), (database) =>
          Effect.forEach(
            Array.from({ length: 40 }, (_, time) => [...makeCounts(server, time), ...makeCounts(server + 1, time)]),
            (rows) => count(database, server % 2 === 0 ? rows : rows.toReversed()),
            { discard: true }
          )
        )
      yield* Effect.all([countRows(0), countRows(1), countRows(2), countRows(3)], { concurrency: "unbounded" })
      yield* checkSums(yield* openDatabase(url), 4 * 40 * 4)
    }).pipe(Effect.scoped)
  )
})
