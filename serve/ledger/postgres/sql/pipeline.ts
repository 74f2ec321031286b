/**
 * The connection on which a server sends its groups, one at a time. Statements that do not need each other's answers
 * are pipelined. A failure closes the connection, and with it an open transaction; the next group gets a new
 * connection.
 */
import type { PgClient } from "@effect/sql-pg"
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

export interface Statement {
  readonly text: string
  readonly params?: ReadonlyArray<unknown>
}

/** Sends the statements together, and returns the rows of each. */
export type Ask = (
  statements: ReadonlyArray<Statement>
) => Effect.Effect<ReadonlyArray<ReadonlyArray<PgConnection.Row>>, SqlError>

export const makePipeline = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const pool = yield* PgPool.make({ ...sql.config, maxConnections: 1, multiplex: true })
  /** Runs work that uses the connection exclusively. */
  return <A, E>(work: (ask: Ask) => Effect.Effect<A, E>): Effect.Effect<A, E | SqlError> =>
    pool.use((connection) => {
      const ask: Ask = (statements) =>
        Effect.forEach(
          statements,
          ({ params, text }) => Effect.map(connection.query(text, params), ({ rows }) => rows),
          {
            concurrency: "unbounded"
          }
        )
      return Effect.onError(work(ask), () => pool.invalidate(connection))
    })
})
