/** How a server registers with the database, and learns which of its charges were written. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { transact } from "../sql/database.ts"
import { texts } from "../sql/parameters.ts"
import { forgetSilentServers } from "../sql/statement-sql.ts"
import type { ServerStatements } from "../sql/statements.ts"

interface JoinAsked {
  /** The new name of the server. */
  readonly id: string
  /** The previous name of the server. */
  readonly previous: string
  /** Request ids of calls that wait for their charge. */
  readonly waiting: ReadonlyArray<string>
}

const charged = `
  select request_id from ledger.entry where type = 'charge' and request_id = any ($1::text[])`

export const joinStatements = (sql: PgClient.PgClient, { inTime }: ServerStatements) => ({
  /**
   * Registers a server, in place of the one that it was before it lost its connection. Statements in flight for the old
   * name end first, and can write nothing afterwards, so the answer is final: which of the calls that wait for their
   * charge are charged.
   */
  join: ({ id, previous, waiting }: JoinAsked): Promise<ReadonlySet<string>> =>
    inTime(
      transact(
        sql,
        Effect.gen(function* () {
          // waits while another session locks this table: groups would wait for it, too, so the ledger is not back
          yield* sql.unsafe("select from ledger.account where false for update")
          yield* sql.unsafe(forgetSilentServers)
          yield* sql.unsafe("delete from ledger.server where id = $1", [previous])
          yield* sql.unsafe("insert into ledger.server (id, seen_at) values ($1, clock_timestamp())", [id])
          const rows = yield* sql.unsafe<{ request_id: string }>(charged, [texts(waiting)])
          return new Set(rows.map(({ request_id }) => request_id))
        })
      )
    ),
  leave: (server: string): Promise<void> =>
    inTime(Effect.asVoid(sql.unsafe("delete from ledger.server where id = $1", [server])))
})

export type JoinStatements = ReturnType<typeof joinStatements>
