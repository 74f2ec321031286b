/**
 * The console's tables in the SQLite file of the ledger. Like the ledger's groups, statements and transactions run
 * synchronously on the main thread's connection. `background` and `append` use a thread.
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

/** Rows per transaction, which takes a millisecond or less. Charges wait until it ends. */
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

const makeBackground = ({ run }: Thread): Pick<Database, "append" | "background"> => ({
  background: makeStatements((sql, params) => attemptAsync(() => run(threadModule, readRows, sql, params))),
  append: (batchesOf) =>
    Effect.forEach(
      batchesOf(maxRowsPerTransaction),
      (batch) => attemptAsync(() => run(threadModule, insertWriteBatch, batch)),
      {
        discard: true
      }
    )
})

const make = Effect.map(LedgerFile, ({ sqlite, thread }) =>
  ConsoleDatabase.of({
    all: makeStatements((sql, params) => attempt(() => sqlite.all(sql, params))).all,
    run: (sql, params) => attempt(() => sqlite.transaction(() => sqlite.all(sql, params).length)),
    transaction: makeTransaction(sqlite),
    ...makeBackground(thread)
  })
)

export const embeddedConsole: Layer.Layer<ConsoleDatabase, never, LedgerFile> = Layer.effect(ConsoleDatabase, make)
