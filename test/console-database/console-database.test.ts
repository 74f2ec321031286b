/** Guarantees of the console's database, in SQLite and PostgreSQL, even if processes are killed. Takes ten seconds. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { allTables, ConsoleDatabase, ConsoleUnavailable, type Statements } from "@larder/serve/persistence"
import { Cause, Effect, Exit, Layer, Schema } from "effect"
import { oncePerFile } from "../support/once-per-file.ts"
import type { Environment } from "../support/programs.ts"
import { consoleDatabaseKinds, consoleDatabases } from "../support/serve/console-databases.ts"
import { insert, rows } from "./rows.ts"

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
