/**
 * The console's tables in the SQLite file of the ledger. Like the ledger's groups, all writes run synchronously on the
 * main thread's connection: a second connection that writes would make a group fail with "database is locked" whenever
 * its thread does not get the processor for a second. `background` reads in a thread.
 */
import { Cause, type Context, Effect, Exit, Layer } from "effect"
import {
  ConsoleDatabase,
  type ConsoleUnavailable,
  consoleUnavailable,
  insertWriteBatch,
  makeStatements,
  readRows,
  type Sqlite,
  type Statements,
  type Thread
} from "../../persistence/index.ts"
import { LedgerFile } from "./ledger-file.ts"

type Database = ConsoleDatabase["Service"]

/** Rows per transaction, which takes a millisecond or less. Requests wait until it ends, and come before the next one. */
const maxRowsPerTransaction = 250
const threadModule = new URL("../../persistence/in-thread.ts", import.meta.url).href

const attempt = <A>(work: () => A) => Effect.try({ try: work, catch: consoleUnavailable })
const attemptAsync = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: consoleUnavailable })

/** If the work is still running, interrupts it and returns a defect. */
const requireEnd = <A, E>(exit: Exit.Exit<A, E>): Exit.Exit<A, E> => {
  const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  if (!Cause.isAsyncFiberError(defect)) return exit
  defect.fiber.interruptUnsafe()
  return Exit.die(new Error("a console transaction was asynchronous; it must run synchronously"))
}

/** Thrown to roll back. */
class RolledBack<E> {
  readonly cause: Cause.Cause<E>
  constructor(cause: Cause.Cause<E>) {
    this.cause = cause
  }
}

const makeTransaction =
  (sqlite: Sqlite) =>
  <A, E, R>(work: (statements: Statements) => Effect.Effect<A, E, R>) =>
    Effect.contextWith((context: Context.Context<R>): Effect.Effect<A, E | ConsoleUnavailable> => {
      let hasEnded = false
      const transactionStatements = makeStatements((sql, params) =>
        Effect.suspend(() =>
          hasEnded
            ? Effect.die(new Error("a statement ran after its console transaction had ended"))
            : attempt(() => sqlite.all(sql, params))
        )
      )
      try {
        return sqlite.transaction(() => {
          const exit = requireEnd(Effect.runSyncExitWith(context)(Effect.suspend(() => work(transactionStatements))))
          if (Exit.isSuccess(exit)) return exit
          throw new RolledBack(exit.cause)
        })
      } catch (error) {
        return error instanceof RolledBack ? Effect.failCause(error.cause) : Effect.fail(consoleUnavailable(error))
      } finally {
        hasEnded = true
      }
    })

/** Lets requests run that have arrived. */
const nextTurn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

const makeBackground = (sqlite: Sqlite, { run }: Thread): Pick<Database, "append" | "background"> => ({
  background: {
    all: makeStatements((sql, params) => attemptAsync(() => run(threadModule, readRows, sql, params))).all,
    run: (sql, params) =>
      Effect.andThen(
        nextTurn,
        attempt(() => sqlite.run(sql, params))
      )
  },
  append: (batchesOf) =>
    Effect.forEach(
      batchesOf(maxRowsPerTransaction),
      (batch) =>
        Effect.andThen(
          nextTurn,
          attempt(() => insertWriteBatch(sqlite, batch))
        ),
      { discard: true }
    )
})

const make = Effect.map(LedgerFile, ({ sqlite, thread }) =>
  ConsoleDatabase.of({
    all: makeStatements((sql, params) => attempt(() => sqlite.all(sql, params))).all,
    run: (sql, params) => attempt(() => sqlite.transaction(() => sqlite.all(sql, params).length)),
    transaction: makeTransaction(sqlite),
    ...makeBackground(sqlite, thread)
  })
)

export const embeddedConsole: Layer.Layer<ConsoleDatabase, never, LedgerFile> = Layer.effect(ConsoleDatabase, make)
