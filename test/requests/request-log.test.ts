/** The request log, on both databases. */
import { assert, describe, it } from "@effect/vitest"
import { ConsoleDatabase, layerRequestLog, RequestLog, type RequestRecord } from "@larder/serve/persistence"
import { pruneRequests, writeRequests } from "@larder/serve/persistence/requests/batches.ts"
import { gatherCalls } from "@larder/serve/persistence/requests/gather-calls.ts"
import { Effect, Layer } from "effect"
import { consoleDatabaseKinds, consoleDatabases } from "../support/serve/console-databases.ts"

const maxKeptCalls = 2_000
const started = Date.parse("2026-10-31T23:59:59.990Z")

/** The n-th call, ten milliseconds after the previous one. */
const call = (number: number, stated: Partial<RequestRecord> = {}): RequestRecord => ({
  id: `req_${String(number).padStart(6, "0")}`,
  account_id: "acct_a",
  key_id: "key_a",
  endpoint: "/v1/stores",
  status: 200,
  credits: 100,
  duration_ms: 1.25,
  caller_request_id: null,
  traceparent: null,
  occurred_at: new Date(started + 10 * number).toISOString(),
  ...stated
})
const gather = (calls: ReadonlyArray<RequestRecord>) => {
  const gathering = gatherCalls(maxKeptCalls)
  for (const call of calls) gathering.add(call)
  return gathering.take()
}
const refused = { status: 402, credits: 0, key_id: "key_b" }
const days = { from: "2026-10-31", to: "2026-11-30" }

const useLog =
  (name: (typeof consoleDatabaseKinds)[number]) =>
  <A, E>(work: Effect.Effect<A, E, RequestLog | ConsoleDatabase>) =>
    Effect.gen(function* () {
      const { layer } = yield* consoleDatabases[name]
      return yield* Effect.provide(work, layerRequestLog(maxKeptCalls).pipe(Layer.provideMerge(layer)))
    }).pipe(Effect.scoped)

describe.each(consoleDatabaseKinds)("the log of requests in %s", (name) => {
  const withLog = useLog(name)

  it.live("returns the recorded calls, newest first, by key, endpoint, status and id", () =>
    withLog(
      Effect.gen(function* () {
        const log = yield* RequestLog
        const unpaid = call(2, refused)
        const prices = call(3, { endpoint: "/v1/commodities/prices", credits: 10 })
        const foreign = call(4, { account_id: "acct_b", key_id: "key_c" })
        const own = [prices, unpaid, call(1)]
        for (const request of [call(1), unpaid, prices, foreign]) log.record(request)
        const query = { account_id: "acct_a", limit: 100 }
        assert.deepStrictEqual(yield* log.latest(query), own)
        assert.deepStrictEqual(yield* log.latest({ ...query, key_id: "key_b" }), [unpaid])
        assert.deepStrictEqual(yield* log.latest({ ...query, key_id: "key_c" }), [])
        assert.deepStrictEqual(yield* log.latest({ ...query, status: 402 }), [unpaid])
        assert.deepStrictEqual(yield* log.latest({ ...query, endpoint: "/v1/commodities/prices", status: 200 }), [
          prices
        ])
        assert.deepStrictEqual(yield* log.latest({ ...query, id: unpaid.id }), [unpaid])
        assert.deepStrictEqual(yield* log.latest({ ...query, id: foreign.id }), [])
        assert.strictEqual(log.dropped(), 0)
      })
    )
  )

  it.live("finds calls by the ids that their callers gave them", () =>
    withLog(
      Effect.gen(function* () {
        const log = yield* RequestLog
        const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        const traced = call(1, { traceparent })
        const named = call(2, { caller_request_id: "order-17" })
        const both = call(3, { caller_request_id: "order-17", traceparent })
        for (const request of [traced, named, both, call(4)]) log.record(request)
        const find = (id: string) => log.latest({ account_id: "acct_a", limit: 100, id })
        assert.deepStrictEqual(yield* find("order-17"), [both, named])
        assert.deepStrictEqual(yield* find(traceparent), [both, traced])
        assert.deepStrictEqual(yield* find("4bf92f3577b34da6a3ce929d0e0e4736"), [both, traced])
        assert.deepStrictEqual(yield* find("order-1"), [])
      })
    )
  )

  it.live("returns the last use of a key as a time while the call is kept, then as a day, then not at all", () =>
    withLog(
      Effect.gen(function* () {
        const log = yield* RequestLog
        const database = yield* ConsoleDatabase
        const old = { key_id: "key_old", occurred_at: "2026-08-04T12:00:00.000Z" }
        const older = { key_id: "key_older", occurred_at: "2026-08-01T12:00:00.000Z" }
        for (const request of [call(1), call(2), call(3, refused)]) log.record(request)
        for (const request of [call(4, old), call(5, older), call(6, { account_id: "acct_b" })]) log.record(request)
        const keys = ["key_a", "key_b", "key_old", "key_older", "key_never"]
        const query = { account_id: "acct_a", keys, today: "2026-11-01" }
        const expected = [
          ["key_a", call(2).occurred_at],
          ["key_b", call(3).occurred_at],
          ["key_old", old.occurred_at],
          ["key_older", older.occurred_at]
        ]
        assert.deepStrictEqual([...(yield* log.lastUses(query))].sort(), expected)
        yield* database.run("delete from console.request where occurred_at < $1", [call(3).occurred_at])
        const remaining = [["key_a", "2026-11-01"], expected[1], ["key_old", "2026-08-04"]]
        assert.deepStrictEqual([...(yield* log.lastUses(query))].sort(), remaining)
        assert.deepStrictEqual([...(yield* log.lastUses({ ...query, account_id: "acct_none" }))], [])
      })
    )
  )

  it.live("returns each call once over all pages, even if calls share a millisecond", () =>
    withLog(
      Effect.gen(function* () {
        const log = yield* RequestLog
        const recorded = Array.from({ length: 25 }, (_, index) =>
          call(index, { occurred_at: call(index >> 2).occurred_at })
        )
        recorded.forEach(log.record)
        const paged: Array<RequestRecord> = []
        for (;;) {
          const before = paged.at(-1)
          const page = yield* log.latest({ account_id: "acct_a", limit: 4, ...(before !== undefined && { before }) })
          if (page.length === 0) break
          paged.push(...page)
        }
        assert.deepStrictEqual(paged, recorded.toReversed())
      })
    )
  )

  it.live("counts calls by day, key, endpoint and status, over batches and restarts", () =>
    Effect.gen(function* () {
      const { layer } = yield* consoleDatabases[name]
      const opened = layerRequestLog(maxKeptCalls).pipe(Layer.provide(Layer.fresh(layer)), Layer.fresh)
      const first = RequestLog.use((log) =>
        Effect.sync(() => [call(0), call(1), call(2), call(2, refused)].forEach(log.record))
      )
      yield* Effect.provide(first, opened) // the end of the layer writes the gathered calls
      const counted = yield* Effect.provide(
        Effect.gen(function* () {
          const log = yield* RequestLog
          log.record(call(3))
          yield* log.latest({ account_id: "acct_a", limit: 1 })
          log.record(call(4, { account_id: "acct_b" }))
          log.record(call(5))
          return {
            all: yield* log.statuses({ account_id: "acct_a", ...days }),
            byStatus: yield* log.byStatus({ account_id: "acct_a", ...days }),
            oneKey: yield* log.byStatus({ account_id: "acct_a", ...days, key_id: "key_a", endpoint: "/v1/stores" }),
            oneEndpoint: yield* log.byStatus({ account_id: "acct_a", ...days, endpoint: "/v1/stores" }),
            uncalledEndpoint: yield* log.byStatus({ account_id: "acct_a", ...days, endpoint: "/v1/branded-foods" }),
            rows: yield* log.statuses({ account_id: "acct_a", ...days, key_id: "key_b", endpoint: "/v1/stores" }),
            october: yield* log.statuses({ account_id: "acct_a", from: "2026-10-01", to: "2026-10-31" })
          }
        }),
        opened
      )
      const dailyCalls = (day: string, calls: number, key_id = "key_a", status = 200) => ({
        day,
        key_id,
        endpoint: "/v1/stores",
        status,
        calls
      })
      assert.deepStrictEqual(counted, {
        all: [dailyCalls("2026-10-31", 1), dailyCalls("2026-11-01", 4), dailyCalls("2026-11-01", 1, "key_b", 402)],
        byStatus: [
          { status: 200, calls: 5 },
          { status: 402, calls: 1 }
        ],
        oneKey: [{ status: 200, calls: 5 }],
        oneEndpoint: [
          { status: 200, calls: 5 },
          { status: 402, calls: 1 }
        ],
        rows: [dailyCalls("2026-11-01", 1, "key_b", 402)],
        uncalledEndpoint: [],
        october: [dailyCalls("2026-10-31", 1)]
      })
    }).pipe(Effect.scoped)
  )

  it.live("adds up the calls of a key over any period, as they were counted on each day", () =>
    withLog(
      Effect.gen(function* () {
        const log = yield* RequestLog
        const noon = (day: number) => new Date(Date.UTC(2026, 0, day, 12)).toISOString()
        const dayOf = (day: number) => noon(day).slice(0, 10)
        for (let day = 1; day <= 120; day++) {
          const request = { occurred_at: noon(day), endpoint: day % 3 === 0 ? "/v1/commodities/prices" : "/v1/stores" }
          for (let count = 0; count < 1 + (day % 5); count++) log.record(call(day, request))
          log.record(call(day, { ...request, ...refused }))
          if (day === 50) log.record(call(day, { ...request, status: 402, credits: 0 }))
        }
        for (const [from, to] of [
          [1, 120],
          [2, 119],
          [10, 100],
          [20, 60],
          [28, 34],
          [49, 51],
          [51, 90],
          [17, 45],
          [1, 49],
          [30, 3],
          [90, 150],
          [121, 130]
        ] as const) {
          for (const endpoint of [undefined, "/v1/stores"]) {
            const query = { account_id: "acct_a", key_id: "key_a", ...(endpoint !== undefined && { endpoint }) }
            const period = { from: dayOf(from), to: dayOf(to) }
            const counted = new Map<number, number>()
            for (const { calls, status } of yield* log.statuses({ ...query, ...period })) {
              counted.set(status, (counted.get(status) ?? 0) + calls)
            }
            const expected = [...counted].map(([status, calls]) => ({ status, calls }))
            assert.deepStrictEqual(
              yield* log.byStatus({ ...query, ...period }),
              expected.toSorted((a, b) => a.status - b.status)
            )
          }
        }
      })
    )
  )

  it.live("adds up more calls than fit into 31 bits", () =>
    withLog(
      Effect.gen(function* () {
        const log = yield* RequestLog
        const { run } = yield* ConsoleDatabase
        for (const day of ["2026-10-30", "2026-10-31"]) {
          const calls = "'/v1/stores', 200, 2000000000"
          yield* run(`insert into console.usage_of_status values ($1, 'acct_a', 'key_a', ${calls})`, [day])
          yield* run(`insert into console.status_of_endpoint values ('acct_a', $1, ${calls})`, [day])
        }
        log.record(call(3))
        const query = { account_id: "acct_a", from: "2026-10-01", to: "2026-11-30" }
        const all = [{ status: 200, calls: 4_000_000_001 }]
        assert.deepStrictEqual(yield* log.byStatus(query), all)
        assert.deepStrictEqual(yield* log.byStatus({ ...query, key_id: "key_a" }), all)
      })
    )
  )

  it.live("writes a call without any read of the log", () =>
    withLog(
      Effect.gen(function* () {
        const log = yield* RequestLog
        const { run } = yield* ConsoleDatabase
        log.record(call(1))
        while ((yield* run("select id from console.request")) === 0) yield* Effect.sleep("20 millis")
      })
    )
  )

  it.live("keeps the latest calls of each account, and counts all of them", () =>
    withLog(
      Effect.gen(function* () {
        const log = yield* RequestLog
        const database = yield* ConsoleDatabase
        const many = Array.from({ length: maxKeptCalls + 500 }, (_, index) => call(index))
        yield* writeRequests(database, gather(many.slice(0, 300)))
        yield* writeRequests(database, gather([...many.slice(300), call(1, { account_id: "acct_b" })]))
        yield* pruneRequests(database, "acct_a", maxKeptCalls)
        assert.strictEqual(
          yield* database.run("select id from console.request where account_id = 'acct_a'"),
          maxKeptCalls
        )
        const [newest] = yield* log.latest({ account_id: "acct_a", limit: 1 })
        assert.strictEqual(newest?.id, many.at(-1)?.id)
        assert.strictEqual((yield* log.latest({ account_id: "acct_b", limit: 10 })).length, 1)
        const days = yield* log.statuses({ account_id: "acct_a", from: "2026-01-01", to: "2026-12-31" })
        assert.strictEqual(
          days.reduce((sum, { calls }) => sum + calls, 0),
          maxKeptCalls + 500
        )
      })
    )
  )

  it.live("drops and counts calls that cannot be written, and works again afterwards", () =>
    withLog(
      Effect.gen(function* () {
        const log = yield* RequestLog
        const { run } = yield* ConsoleDatabase
        yield* run("alter table console.request rename to moved")
        log.record(call(1))
        log.record(call(2))
        yield* log.statuses({ account_id: "acct_a", ...days })
        assert.strictEqual(log.dropped(), 2)
        yield* run("alter table console.moved rename to request")
        log.record(call(3))
        assert.deepStrictEqual(yield* log.latest({ account_id: "acct_a", limit: 5 }), [call(3)])
        assert.strictEqual(log.dropped(), 2)
      })
    )
  )
})

describe("the log of requests", () => {
  it.live("drops calls above its memory limit, and counts them", () =>
    useLog("PostgreSQL")(
      Effect.gen(function* () {
        const log = yield* RequestLog
        const key_id = "k".repeat(1_000)
        const recorded = 40_000
        for (let number = 0; number < recorded; number++)
          log.record(call(number, { account_id: `acct_${number % 40}`, key_id }))
        const held = recorded - log.dropped()
        assert.isAbove(held, 20_000)
        assert.isBelow(held, recorded)
        const [newest] = yield* log.latest({ account_id: `acct_${(held - 1) % 40}`, limit: 1 })
        assert.strictEqual(newest?.id, call(held - 1).id)
        for (let number = 0; number < recorded; number++) log.record(call(number))
        assert.strictEqual(log.dropped(), recorded - held) // one account needs memory only for its latest calls
      })
    )
  )
})

describe("the log of requests of two servers over one PostgreSQL", () => {
  it.live("is one log, in which no call is lost or counted twice", () =>
    Effect.gen(function* () {
      const { layer } = yield* consoleDatabases.PostgreSQL
      const server = (number: number) =>
        Effect.gen(function* () {
          const log = yield* RequestLog
          for (let batch = 0; batch < 20; batch++) {
            for (let part = 0; part < 10; part++)
              log.record(call(2 * (10 * batch + part) + number, { key_id: `key_${part}` }))
            yield* log.latest({ account_id: "acct_a", limit: 1 })
          }
          assert.strictEqual(log.dropped(), 0)
        }).pipe(Effect.provide(Layer.fresh(layerRequestLog(maxKeptCalls).pipe(Layer.provide(Layer.fresh(layer))))))
      yield* Effect.all([server(0), server(1)], { concurrency: "unbounded" })
      const log = layerRequestLog(maxKeptCalls).pipe(Layer.provide(layer))
      yield* Effect.gen(function* () {
        const { latest, statuses } = yield* RequestLog
        assert.strictEqual((yield* latest({ account_id: "acct_a", limit: 1_000 })).length, 400)
        const counted = yield* statuses({ account_id: "acct_a", from: "2026-10-31", to: "2026-12-01" })
        assert.strictEqual(
          counted.reduce((sum, { calls }) => sum + calls, 0),
          400
        )
      }).pipe(Effect.provide(log))
    }).pipe(Effect.scoped)
  )
})
