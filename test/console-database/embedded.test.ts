/** Guarantees of the console's database in SQLite: its transactions, and how it writes the request log beside the ledger. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import type { SQLInputValue } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { embeddedConsole, LedgerFile } from "@larder/serve/ledger"
import { ConsoleDatabase, type RequestRecord, type Sqlite, type Thread } from "@larder/serve/persistence"
import { pruneRequests, writeRequests } from "@larder/serve/persistence/requests/batches.ts"
import { gatherCalls } from "@larder/serve/persistence/requests/gather-calls.ts"
import { Cause, Context, Effect, Exit, Layer, Schema } from "effect"
import { insert, rows, runOnNewTables } from "./rows.ts"

const maxKeptCalls = 10_000

const aCall = (number: number): RequestRecord => ({
  id: `req_${number}`,
  account_id: "acct_a",
  key_id: `key_${number % 1_000}`,
  endpoint: "/v1/stores",
  status: 200,
  credits: 100,
  duration_ms: 1.25,
  caller_request_id: null,
  traceparent: null,
  occurred_at: "2026-10-31T12:00:00.000Z"
})

/** New tables, the number of rows that each transaction of the main connection writes, and what the thread is asked to do. */
const openWatched = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-batches-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const sizes: Array<number> = []
  const inThread: Array<string> = []
  const file = Context.get(yield* Layer.build(LedgerFile.layer(path.join(folder, "ledger"))), LedgerFile)
  const run: Thread["run"] = (module, work, ...args) => {
    inThread.push(`${work.name} ${args[0]}`)
    return file.thread.run(module, work, ...args)
  }
  let rowsOfTransaction = 0
  const sqlite: Sqlite = {
    ...file.sqlite,
    prepare: (sql) => {
      const statement = file.sqlite.prepare(sql)
      const run = statement.run.bind(statement)
      statement.run = ((...cells: Array<SQLInputValue>) => {
        rowsOfTransaction++
        return run(...cells)
      }) as typeof run
      return statement
    },
    transaction: (work) => {
      rowsOfTransaction = 0
      const result = file.sqlite.transaction(work)
      sizes.push(rowsOfTransaction)
      return result
    }
  }
  const watched = Layer.succeed(LedgerFile, { ...file, sqlite, thread: { ...file.thread, run } })
  const built = yield* Layer.build(Layer.provide(embeddedConsole, watched))
  return { database: Context.get(built, ConsoleDatabase), inThread, sizes }
})

describe("the console's database in SQLite", () => {
  it.live("rejects and stops a transaction that waits, and commits no part of it", () =>
    runOnNewTables("SQLite")(
      Effect.gen(function* () {
        const { run, transaction } = yield* ConsoleDatabase
        let hasContinued = false
        const exit = yield* Effect.exit(
          transaction((inside) =>
            inside.run(insert, ["lost", ""]).pipe(
              Effect.andThen(Effect.sleep("10 millis")),
              Effect.andThen(
                Effect.sync(() => {
                  hasContinued = true
                })
              )
            )
          )
        )
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        assert.match(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", /a console transaction was asynchronous/)
        yield* run(insert, ["kept", ""])
        yield* Effect.sleep("50 millis")
        assert.isFalse(hasContinued)
        assert.deepStrictEqual(yield* rows, [{ id: "kept", body: "" }])
      })
    )
  )

  it.live("rejects the statements of a transaction after its end", () =>
    runOnNewTables("SQLite")(
      Effect.gen(function* () {
        const { transaction } = yield* ConsoleDatabase
        const late = yield* transaction((inside) => Effect.succeed(inside.run(insert, ["late", ""])))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(late)))
        assert.deepStrictEqual(yield* rows, [])
      })
    )
  )

  it.live("writes 1,700 requests in batches of at most 250 rows", () =>
    Effect.gen(function* () {
      const { database, sizes } = yield* openWatched
      const gathering = gatherCalls(maxKeptCalls)
      for (let number = 0; number < 1_700; number++) gathering.add(aCall(number))
      yield* writeRequests(database, gathering.take())
      assert.deepStrictEqual(sizes.slice(0, 7), [250, 250, 250, 250, 250, 250, 200])
      assert.isAtMost(Math.max(...sizes), 250)
      const Sums = Schema.Struct({ requests: Schema.Int, calls: Schema.Int, calls_of_all_keys: Schema.Int })
      const sums = yield* database.all(
        Sums,
        `select (select count(*) from console.request) as requests,
          (select sum(calls) from console.usage_of_status) as calls,
          (select sum(calls) from console.status_of_endpoint) as calls_of_all_keys`
      )
      assert.deepStrictEqual(sums, [{ requests: 1_700, calls: 1_700, calls_of_all_keys: 1_700 }])
    }).pipe(Effect.scoped)
  )

  // a second writer makes charges fail with "database is locked"
  it.live("writes the requests, and prunes them, on the connection that writes the ledger", () =>
    Effect.gen(function* () {
      const { database, inThread } = yield* openWatched
      const gathering = gatherCalls(maxKeptCalls + 600)
      for (let number = 0; number < maxKeptCalls + 600; number++) {
        const occurred_at = new Date(Date.parse("2026-10-31T12:00:00.000Z") + number).toISOString()
        gathering.add({ ...aCall(number), occurred_at })
      }
      yield* writeRequests(database, gathering.take())
      yield* pruneRequests(database, "acct_a", maxKeptCalls)
      const Count = Schema.Struct({ count: Schema.Int })
      const counts = yield* database.all(Count, "select count(*) as count from console.request")
      assert.deepStrictEqual(counts, [{ count: maxKeptCalls }])
      assert.isAbove(inThread.length, 0)
      for (const work of inThread) assert.match(work, /^readRows\s+select /)
    }).pipe(Effect.scoped)
  )
})
