/** The console's tables in a DuckDB file of their own, which this process alone holds. One statement at a time. */
import { mkdirSync } from "node:fs"
import path from "node:path"
import { DuckDb, type DuckDbError } from "@larder/warehouse/duckdb.ts"
import { Effect, Layer, Semaphore } from "effect"
import { type Cell, ConsoleDatabase, consoleUnavailable, type Statements } from "./console-database.ts"
import { copyRows, newTables } from "./copies.ts"
import { sumTables } from "./sums.ts"
import { backedUp, countsOf, definitions, TableCount } from "./tables.ts"

/** Not `console.duckdb`: a database takes its name from its file, and could not be told from the schema `console` then. */
export const consoleFileIn = (ledgerDirectory: string) => path.join(ledgerDirectory, "console-tables.duckdb")

const paramsOf = (cells: ReadonlyArray<Cell>) =>
  Object.fromEntries(cells.map((cell, index) => [String(index + 1), cell]))

const unavailable = Effect.mapError((error: DuckDbError) => consoleUnavailable(error))

const statementsOf = (db: DuckDb["Service"]): Statements => ({
  all: (row, sql, params = []) => unavailable(db.all(row, sql, paramsOf(params))),
  run: (sql, params = []) => Effect.map(unavailable(db.rows(sql, paramsOf(params))), (rows) => rows.length)
})

const open = Effect.fnUntraced(function* (ledgerDirectory: string) {
  yield* Effect.sync(() => mkdirSync(ledgerDirectory, { recursive: true, mode: 0o700 }))
  const db = yield* DuckDb.readWrite(consoleFileIn(ledgerDirectory))
  yield* db.run("set threads = 1; set memory_limit = '500MB'")
  for (const definition of definitions) yield* db.run(definition)
  const oneAtATime = yield* Semaphore.make(1)
  const inside = statementsOf(db)
  const alone = <A, E, R>(work: Effect.Effect<A, E, R>) => oneAtATime.withPermit(Effect.uninterruptible(work))
  return ConsoleDatabase.of({
    all: (row, sql, params) => alone(inside.all(row, sql, params)),
    run: (sql, params) => alone(inside.run(sql, params)),
    transaction: (work) =>
      alone(
        Effect.gen(function* () {
          yield* inside.run("begin")
          const done = yield* work(inside)
          yield* inside.run("commit")
          return done
        }).pipe(Effect.onError(() => Effect.ignore(inside.run("rollback"))))
      ),
    sums: sumTables,
    // everybody waits: four seconds for a million requests and 360,000 counts of days
    copyTo: (file) =>
      alone(
        Effect.gen(function* () {
          yield* Effect.mapError(newTables(file), consoleUnavailable)
          yield* unavailable(copyRows(db, file, { names: backedUp, direction: "into the file" }))
          return yield* inside.all(TableCount, countsOf(backedUp))
        })
      )
  })
})

/** `ledgerDirectory` is `$LARDER_HOME/ledger`. Fails with `FileInUse` where another process holds the file. */
export const embeddedConsole = (ledgerDirectory: string) => Layer.effect(ConsoleDatabase, open(ledgerDirectory))
