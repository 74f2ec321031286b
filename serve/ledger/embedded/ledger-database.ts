/**
 * `ledger.duckdb`, used by one caller at a time, on one connection: temporary tables stay for the next caller. It is opened
 * anew after an error, because DuckDB gives up a database whose disk was full at the wrong moment.
 */
import { DuckDb, type DuckDbError, type OpenError } from "@larder/warehouse/duckdb.ts"
import { Effect, Exit, Scope, Semaphore } from "effect"
import { define } from "./tables.ts"
import { upToDate } from "./usage.ts"

/** The background work of one ledger; the API's own reading comes first. */
export const backgroundSettings = "set threads = 1; set memory_limit = '1GB'"

export type DatabaseError = DuckDbError | OpenError

export interface LedgerDatabase {
  readonly file: string
  /** Runs to its end, alone. `close` leaves the file whole and to others; the next caller opens it again. */
  readonly use: <A, E>(
    work: (db: DuckDb["Service"], close: Effect.Effect<void>) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E | DatabaseError>
}

const open = Effect.fnUntraced(function* (file: string) {
  const db = yield* DuckDb.readWrite(file)
  yield* db.run(backgroundSettings)
  yield* define(db)
  yield* db.run(["begin", ...upToDate, "commit"].join(";\n"))
  return db
})

export const openDatabase = Effect.fnUntraced(function* (file: string) {
  let current: { readonly db: DuckDb["Service"]; readonly scope: Scope.Closeable } | undefined
  const oneAtATime = yield* Semaphore.make(1)

  const close = Effect.suspend(() => {
    const scope = current?.scope
    current = undefined
    return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
  })
  const opened = Effect.suspend(() =>
    current === undefined
      ? Effect.gen(function* () {
          const scope = yield* Scope.make()
          const db = yield* open(file).pipe(
            Scope.provide(scope),
            Effect.onError(() => Scope.close(scope, Exit.void))
          )
          current = { db, scope }
          return db
        })
      : Effect.succeed(current.db)
  )
  const use: LedgerDatabase["use"] = (work) =>
    oneAtATime.withPermit(
      Effect.uninterruptible(Effect.flatMap(opened, (db) => work(db, close)).pipe(Effect.onError(() => close)))
    )

  yield* Effect.addFinalizer(() => oneAtATime.withPermit(close))
  yield* use(() => Effect.void)
  const database: LedgerDatabase = { file, use }
  return database
})
