/** Sums of calls agree with what was counted, on both databases and by two servers at once. Two seconds. */
import { assert, describe, it } from "@effect/vitest"
import { postgresConsole } from "@larder/serve/ledger"
import { ConsoleDatabase, gatherCalls, writeRequests } from "@larder/serve/persistence"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { inject } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"
import { consolePlaceNames, consolePlaces } from "../support/serve/console-databases.ts"

const days = ["2026-10-30", "2026-10-31"]
const endpoints = ["/v1/stores", "/v1/commodities"]

/** Calls of two rows, and of others each time: some keys are new, some were counted before. */
const countedBy = (server: number, time: number) =>
  [0, 1].map((part) => ({
    day: days[(server + time + part) % 2] ?? "",
    key_id: `key_${(server + part) * (time % 7)}`,
    endpoint: endpoints[(server + part) % 2] ?? "",
    status: 200
  }))

const count = (database: ConsoleDatabase["Service"], rows: ReturnType<typeof countedBy>) => {
  const gathering = gatherCalls(10)
  for (const { day, ...row } of rows) {
    const call = { ...row, id: crypto.randomUUID(), account_id: "acct_a", credits: 1, duration_ms: 1 }
    gathering.add({ ...call, occurred_at: `${day}T12:00:00.000Z` })
  }
  return writeRequests(database, gathering.take())
}

const Sum = Schema.Struct({ of: Schema.String, calls: Schema.Int })
const of = "account_id || ' ' || day || ' ' || endpoint || ' ' || cast(status as text)"
const checkSums = Effect.fnUntraced(function* ({ all }: ConsoleDatabase["Service"], calls: number) {
  const kept = yield* all(
    Sum,
    `select ${of} as of, cast(calls as double precision) as calls from console.status_of_endpoint order by 1`
  )
  const counted = yield* all(
    Sum,
    `select ${of} as of, cast(sum(calls) as double precision) as calls
    from console.usage_of_status group by 1 order by 1`
  )
  assert.deepStrictEqual(kept, counted)
  assert.strictEqual(
    kept.reduce((sum, row) => sum + row.calls, 0),
    calls
  )
})

describe.each(consolePlaceNames)("sums of calls in %s", (name) => {
  it.live("match the counted calls over batches and restarts", () =>
    Effect.gen(function* () {
      const { layer } = yield* consolePlaces[name]
      for (let time = 0; time < 6; time++) {
        yield* Effect.provide(
          ConsoleDatabase.use((database) => count(database, countedBy(0, time))),
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
const open = (url: string) =>
  Effect.map(Layer.build(Layer.fresh(postgresConsole(Redacted.make(url)))), (built) =>
    Context.get(built, ConsoleDatabase)
  )

describe("sums of calls in PostgreSQL", () => {
  it.live("match the counted calls when four servers count the same rows at the same time", () =>
    Effect.gen(function* () {
      const url = yield* database
      const counting = (server: number) =>
        Effect.flatMap(open(url), (one) =>
          Effect.forEach(
            Array.from({ length: 40 }, (_, time) => [...countedBy(server, time), ...countedBy(server + 1, time)]),
            (rows) => count(one, server % 2 === 0 ? rows : rows.toReversed()),
            { discard: true }
          )
        )
      yield* Effect.all([counting(0), counting(1), counting(2), counting(3)], { concurrency: "unbounded" })
      yield* checkSums(yield* open(url), 4 * 40 * 4)
    }).pipe(Effect.scoped)
  )
})
