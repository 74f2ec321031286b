/** Guarantees of the console's database, in SQLite and PostgreSQL, even if processes are killed. Takes ten seconds. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import type { SQLInputValue } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { embeddedConsole, LedgerFile, postgresConsole } from "@larder/serve/ledger"
import {
  allTables,
  ConsoleDatabase,
  ConsoleUnavailable,
  type RequestRecord,
  type Sqlite,
  type Statements,
  type Thread
} from "@larder/serve/persistence"
import { pruneRequests, writeRequests } from "@larder/serve/persistence/requests/batches.ts"
import { gatherCalls } from "@larder/serve/persistence/requests/gather-calls.ts"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer, Redacted, Schema } from "effect"
import { inject } from "vitest"
import { oncePerFile } from "../support/once-per-file.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { startPostgres } from "../support/postgres/server.ts"
import type { Environment } from "../support/programs.ts"
import { consoleDatabaseKinds, consoleDatabases } from "../support/serve/console-databases.ts"

const maxKeptCalls = 10_000

const Row = Schema.Struct({ id: Schema.String, body: Schema.String })
const insert = "insert into console.simulated (id, kind, body) values ($1, 'test', $2)"
const rows = ConsoleDatabase.use(({ all }) => all(Row, "select id, body from console.simulated order by id"))

describe.each(consoleDatabaseKinds)("the console's database in %s", (name) => {
  const stores = oncePerFile(Effect.flatMap(consoleDatabases[name], ({ layer }) => Layer.build(layer)))
  /** Runs on tables that are opened once and emptied before each test. */
  const runEmptied = <A, E>(work: Effect.Effect<A, E, ConsoleDatabase>) =>
    Effect.gen(function* () {
      const { run } = yield* ConsoleDatabase
      yield* Effect.forEach(allTables, (table) => run(`delete from console.${table}`), { discard: true })
      return yield* work
    }).pipe((emptied) => Effect.flatMap(stores, (services) => Effect.provideContext(emptied, services)))

  it.live("returns texts, numbers and booleans in the type in which they were written", () =>
    runEmptied(
      Effect.gen(function* () {
        const { all, run } = yield* ConsoleDatabase
        yield* run(
          `insert into console.request (id, account_id, key_id, endpoint, status, credits, duration_ms, occurred_at)
          values ($1, $2, $3, $4, $5, $6, $7, $8)`,
          ["req_ä'\"", "a", "k", "/v1/stores", 200, 2_000_000_000, 0.125, "2026-11-01T00:00:00.000Z"]
        )
        const account = ["pers_a", "a", "a@example.com", "", true, ""]
        yield* run("insert into console.person values ($1, $2, $3, $4, $5, $6)", account)
        const person = Schema.Struct({ email: Schema.String, is_operator: Schema.Boolean })
        assert.deepStrictEqual(yield* all(person, "select email, is_operator from console.person"), [
          { email: "a@example.com", is_operator: true }
        ])
        const request = Schema.Struct({ id: Schema.String, credits: Schema.Int, duration_ms: Schema.Finite })
        assert.deepStrictEqual(
          yield* all(
            request,
            "select id, credits, duration_ms from console.request where (cast($1 as text) is null or key_id = $1) limit cast($2 as integer)",
            [null, 5]
          ),
          [{ id: "req_ä'\"", credits: 2_000_000_000, duration_ms: 0.125 }]
        )
      })
    )
  )

  it.live("counts the rows that a statement returns", () =>
    runEmptied(
      Effect.gen(function* () {
        const { run } = yield* ConsoleDatabase
        const insertOnce = `${insert} on conflict (id) do nothing returning id`
        assert.deepStrictEqual([yield* run(insertOnce, ["a", ""]), yield* run(insertOnce, ["a", ""])], [1, 0])
        const change = "update console.simulated set body = $1 where body = $2 returning id"
        assert.deepStrictEqual([yield* run(change, ["new", ""]), yield* run(change, ["new", ""])], [1, 0])
      })
    )
  )

  it.live(
    "commits a whole transaction, and no part of one that fails, dies, is interrupted or violates a constraint",
    () =>
      runEmptied(
        Effect.gen(function* () {
          const { run, transaction } = yield* ConsoleDatabase
          yield* transaction((inside) => Effect.andThen(inside.run(insert, ["a", "1"]), inside.run(insert, ["b", "2"])))
          const committed = yield* rows
          assert.strictEqual(committed.length, 2)

          const ends: ReadonlyArray<(inside: Statements) => Effect.Effect<unknown, unknown>> = [
            () => Effect.fail("no"),
            () => Effect.die(new Error("a bug")),
            () => Effect.interrupt,
            (inside) => inside.run(insert, ["a", "is there already"])
          ]
          for (const end of ends) {
            const exit = yield* Effect.exit(
              transaction((inside) =>
                Effect.andThen(inside.run("update console.simulated set body = 'x'"), end(inside))
              )
            )
            assert.isTrue(Exit.isFailure(exit))
            assert.deepStrictEqual(yield* rows, committed)
          }
          yield* run(insert, ["c", "3"])
          assert.strictEqual((yield* rows).length, 3)
        })
      )
  )

  it.live("reports an error in a statement, and runs the next one", () =>
    runEmptied(
      Effect.gen(function* () {
        const { run } = yield* ConsoleDatabase
        const error = yield* Effect.flip(run("select absent from console.nowhere"))
        assert.instanceOf(error, ConsoleUnavailable)
        assert.match(error.message, /nowhere/)
        assert.strictEqual(yield* run("select id from console.simulated"), 0)
      })
    )
  )

  it.live("lets only one of 20 concurrent transactions change the same row", () =>
    runEmptied(
      Effect.gen(function* () {
        const { run, transaction } = yield* ConsoleDatabase
        yield* run(insert, ["lock", ""])
        const claims = Array.from({ length: 20 }, (_, index) =>
          transaction((inside) =>
            inside.run("update console.simulated set body = $1 where id = 'lock' and body = '' returning id", [
              `${index}`
            ])
          )
        )
        const changedRows = yield* Effect.all(claims, { concurrency: "unbounded" })
        assert.strictEqual(
          changedRows.reduce((sum, count) => sum + count),
          1
        )
      })
    )
  )

  it.live("still contains its rows after it is opened again", () =>
    Effect.gen(function* () {
      const { layer } = yield* consoleDatabases[name]
      yield* Effect.provide(
        ConsoleDatabase.use(({ run }) => run(insert, ["a", "1"])),
        Layer.fresh(layer)
      )
      assert.deepStrictEqual(yield* Effect.provide(rows, Layer.fresh(layer)), [{ id: "a", body: "1" }])
    }).pipe(Effect.scoped)
  )

  const access = name === "PostgreSQL" ? "stays open to other processes" : "refuses other processes"
  it.live(
    `${access} while one writes, and after a kill contains each transaction that returned, and no partial one`,
    () =>
      Effect.gen(function* () {
        const { environment, layer } = yield* consoleDatabases[name]
        const whileWriting = Effect.exit(Effect.provide(rows, Layer.fresh(layer)))
        const { exit, lastPrinted } = yield* killWriter(environment, whileWriting)
        if (name === "PostgreSQL") assert.isTrue(Exit.isSuccess(exit))
        else assert.isTrue(Exit.isFailure(exit) && /is in use by another process/.test(Cause.pretty(exit.cause)))
        assert.isAbove(lastPrinted, 20)
        const ids = (yield* Effect.provide(rows, layer)).map(({ id }) => id)
        const listNumbers = (prefix: string) =>
          ids.flatMap((id) => (id.startsWith(prefix) ? [Number(id.slice(prefix.length))] : [])).sort((a, b) => a - b)
        assert.deepStrictEqual(listNumbers("first-"), listNumbers("second-"))
        assert.deepStrictEqual(
          listNumbers("first-"),
          listNumbers("first-").map((_, index) => index + 1)
        )
        assert.isAtLeast(listNumbers("first-").length, lastPrinted)
      }).pipe(Effect.scoped)
  )
})

const writer = fileURLToPath(new URL("./writer.ts", import.meta.url))

/** Kills a writing process, and returns the last number whose transaction had returned. */
const killWriter = <A>(environment: Environment, whileWriting: Effect.Effect<A>) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [writer], { env: environment, stdio: ["ignore", "pipe", "inherit"] })
    const lines = createInterface({ input: child.stdout })
    const closed = once(lines, "close")
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null
    let lastPrinted = 0
    lines.on("line", (line) => {
      lastPrinted = Number(line)
    })
    await once(lines, "line")
    const exit = await Effect.runPromise(whileWriting)
    while (lastPrinted < 50 && !hasEnded()) await sleep(5)
    child.kill("SIGKILL")
    await closed
    return { exit, lastPrinted }
  })

/** Runs on new tables. */
const runOnNewTables =
  (name: (typeof consoleDatabaseKinds)[number]) =>
  <A, E>(work: Effect.Effect<A, E, ConsoleDatabase>) =>
    Effect.flatMap(consoleDatabases[name], ({ layer }) => Effect.provide(work, layer)).pipe(Effect.scoped)

const aCall = (number: number): RequestRecord => ({
  id: `req_${number}`,
  account_id: "acct_a",
  key_id: `key_${number % 1_000}`,
  endpoint: "/v1/stores",
  status: 200,
  credits: 100,
  duration_ms: 1.25,
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

describe("the console's database in PostgreSQL", () => {
  it.live("keeps rows that others write while a transaction fails", () =>
    runOnNewTables("PostgreSQL")(
      Effect.gen(function* () {
        const { run, transaction } = yield* ConsoleDatabase
        const started = yield* Deferred.make<void>()
        const failing = yield* Effect.forkChild(
          transaction((inside) =>
            inside
              .run(insert, ["lost", ""])
              .pipe(
                Effect.andThen(Deferred.succeed(started, undefined)),
                Effect.andThen(Effect.sleep("50 millis")),
                Effect.andThen(Effect.fail("no"))
              )
          )
        )
        yield* Deferred.await(started)
        yield* run(insert, ["kept", ""])
        assert.isTrue(Exit.isFailure(yield* Fiber.await(failing)))
        assert.deepStrictEqual(
          (yield* rows).map(({ id }) => id),
          ["kept"]
        )
      })
    )
  )

  it.live("creates its tables once if five servers start at the same time", () =>
    Effect.gen(function* () {
      const { layer } = yield* consoleDatabases.PostgreSQL
      const starts = Array.from({ length: 5 }, (_, index) =>
        Effect.provide(
          ConsoleDatabase.use(({ run }) => run(insert, [`server-${index}`, ""])),
          Layer.fresh(layer)
        )
      )
      yield* Effect.all(starts, { concurrency: "unbounded" })
      assert.strictEqual((yield* Effect.provide(rows, layer)).length, 5)
    }).pipe(Effect.scoped)
  )

  it.live("commits synchronously, even if the database is set to asynchronous commits", () =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(() => newDatabase(inject("postgresUrl")))
      const sql = Context.get(yield* Layer.build(PgClient.layer({ url: Redacted.make(url) })), PgClient.PgClient)
      yield* sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = off`)
      const { all, transaction } = Context.get(yield* Layer.build(postgresConsole(Redacted.make(url))), ConsoleDatabase)
      const Setting = Schema.Struct({ setting: Schema.String })
      const setting = "select current_setting('synchronous_commit') as setting"
      const found = [yield* all(Setting, setting), yield* transaction((inside) => inside.all(Setting, setting))]
      assert.deepStrictEqual(found, [[{ setting: "on" }], [{ setting: "on" }]])
    }).pipe(Effect.scoped)
  )

  it.live("rejects statements while PostgreSQL is down, loses nothing, and works again afterwards", () =>
    Effect.gen(function* () {
      const postgres = yield* Effect.acquireRelease(
        Effect.promise(() => startPostgres()),
        ({ remove }) => Effect.promise(remove)
      )
      const url = yield* Effect.promise(postgres.newDatabase)
      yield* Effect.gen(function* () {
        const { run, transaction } = yield* ConsoleDatabase
        yield* run(insert, ["before", ""])
        const failure = yield* Effect.flip(
          transaction((inside) =>
            inside
              .run(insert, ["lost", ""])
              .pipe(
                Effect.andThen(Effect.promise(postgres.kill)),
                Effect.andThen(inside.run(insert, ["lost, too", ""]))
              )
          )
        )
        assert.instanceOf(failure, ConsoleUnavailable)
        assert.instanceOf(yield* Effect.flip(run(insert, ["refused", ""])), ConsoleUnavailable)
        yield* Effect.promise(postgres.restart)
        yield* Effect.eventually(run(insert, ["after", ""]))
        assert.deepStrictEqual(
          (yield* rows).map(({ id }) => id),
          ["after", "before"]
        )
      }).pipe(Effect.provide(postgresConsole(Redacted.make(url))))
    }).pipe(Effect.scoped)
  )
})
