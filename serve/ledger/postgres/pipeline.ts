/**
 * The connection on which a server says its groups, one at a time. Statements that need not know each other's answers leave
 * together. A failure ends the connection, and with it a transaction that is still open; the next group has a new one.
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

/** Sends them together, and answers the rows of each. */
export type Ask = (
  statements: ReadonlyArray<Statement>
) => Effect.Effect<ReadonlyArray<ReadonlyArray<PgConnection.Row>>, SqlError>

export const makePipeline = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const pool = yield* PgPool.make({ ...sql.config, maxConnections: 1, multiplex: true })
  /** No other work uses the connection meanwhile. */
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
