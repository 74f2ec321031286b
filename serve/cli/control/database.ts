/**
 * The ledger in PostgreSQL for one command, which ends even if the database does not answer. A commit cannot be
 * interrupted, so the command stops waiting for it, and exits.
 */
import { Effect, Fiber, type Redacted, Scope, Stream } from "effect"
import { Administration, administerPostgres, connect, LedgerUnavailable } from "../../ledger/index.ts"
import { ConsoleUnavailable } from "../../persistence/index.ts"
import { openBoundedScope } from "../../stop.ts"
import { maxSilence, silent, unanswered } from "./unanswered.ts"
import { longOperations } from "./wire.ts"

/** Long enough to close the connections of a database that answers. */
const closeTime = "2 seconds"

const pingInterval = "10 seconds"

/** Work that takes longer goes on, and is not waited for. */
const failWhenSilent = <A, E, R>(operation: string, work: Effect.Effect<A, E, R>) =>
  Effect.forkDetach(work).pipe(
    Effect.flatMap(Fiber.join),
    Effect.timeoutOrElse({ duration: maxSilence, orElse: () => Effect.fail(silent(operation, "database")) })
  )

/** Work that may take longer fails when the database answers nothing else either. `ping` is a short statement. */
const failWhenDatabaseIsSilent = <A, E, R, E2>(
  operation: string,
  work: Effect.Effect<A, E, R>,
  ping: Effect.Effect<unknown, E2>
) => {
  const watch = Effect.forever(
    Effect.andThen(failWhenSilent(operation, Effect.ignore(ping)), Effect.sleep(pingInterval))
  )
  return Effect.raceFirst(Effect.flatMap(Effect.forkDetach(work), Fiber.join), watch)
}

export const openDatabase = Effect.fnUntraced(function* <A, E, R>(open: Effect.Effect<A, E, R | Scope.Scope>) {
  const scope = yield* openBoundedScope(closeTime, Effect.void)
  return yield* failWhenSilent("connect", Scope.provide(open, scope))
})

/**
 * A database that refuses a statement says why with a code, such as 53100. Without one, or with the code of a lost
 * connection (08…) or of a server that ends (57P…), a commit may have been made.
 */
const isLost = (error: unknown): error is LedgerUnavailable | ConsoleUnavailable => {
  if (!(error instanceof LedgerUnavailable || error instanceof ConsoleUnavailable)) return false
  const { cause } = error
  return cause instanceof Error && !("code" in cause && /^(?!08|57P)(?=.*\d)[\dA-Z]{5}$/.test(String(cause.code)))
}

type Operations = Readonly<Record<string, (input: never) => Effect.Effect<unknown, unknown>>>

/** The same operations, which say what to do if their answer is lost. */
export const explainLostAnswers = <L>(
  operations: L & { readonly [N in keyof L]: Operations[string] },
  /** Needed for long operations. */
  ping: Effect.Effect<unknown, unknown> = Effect.void
): L =>
  Object.fromEntries(
    Object.entries<Operations[string]>(operations).map(([name, run]) => [
      name,
      (input: never) =>
        (longOperations.includes(name)
          ? failWhenDatabaseIsSilent(name, run(input), ping)
          : failWhenSilent(name, run(input))
        ).pipe(Effect.mapError((error) => (isLost(error) ? unanswered(name, `${error.message}.`) : error)))
    ])
  ) as L // each function has the input and the output of the original

export const reachDatabase = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const sql = yield* openDatabase(connect(url))
  const { entriesOf, ...operations } = administerPostgres(sql)
  return Administration.of({
    ...explainLostAnswers(operations, sql.unsafe("select 1")),
    entriesOf: (id) =>
      Stream.timeoutOrElse(entriesOf(id), {
        duration: maxSilence,
        orElse: () => Stream.fail(silent("entriesOf", "database"))
      })
  })
})
