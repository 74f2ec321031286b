/** Guarantees of the console's database in PostgreSQL, which several servers share, even while it is down. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { postgresConsole } from "@larder/serve/ledger"
import { ConsoleDatabase, ConsoleUnavailable } from "@larder/serve/persistence"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Redacted, Schema } from "effect"
import { inject } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"
import { startPostgres } from "../support/postgres/server.ts"
import { consoleDatabases } from "../support/serve/console-databases.ts"
import { insert, rows, runOnNewTables } from "./rows.ts"

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
