/** How a server becomes known to the database, and learns what became of its charges. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { givenBack } from "../expiring-grants.ts"
import { Entry, plainEntry } from "../records.ts"
import { transact } from "./database.ts"
import { bookEntries, whileFree } from "./leases.ts"
import { texts } from "./parameters.ts"
import { entryRow } from "./sql-text.ts"
import { forgetSilentServers, type ServerStatements } from "./statements.ts"

export interface JoinAsked {
  /** The new name of the server. */
  readonly id: string
  /** The name that it was known by before. */
  readonly previous: string
  /** Request ids of calls that wait for their charge. */
  readonly waiting: ReadonlyArray<string>
  /** Request ids of calls that were answered with an error. */
  readonly answered: ReadonlyArray<string>
}

const charged = `
  select request_id from ledger.entry where type = 'charge' and request_id = any ($1::text[])`

/** Charges that are to be given back, oldest first. */
const toGiveBack = `
  select ${entryRow} as value
  from ledger.entry
  where type = 'charge' and request_id = any ($1::text[])
    and not exists (
      select from ledger.entry as refund where refund.request_id = entry.request_id and refund.type = 'refund'
    )
  order by sequence`
const decodeEntries = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ value: Entry })))

const refundOf = ({ value }: { readonly value: Entry }) => ({
  ...value,
  type: "refund" as const,
  credits: -value.credits,
  budget_credits: null,
  ...plainEntry,
  grants: givenBack(value.grants),
  note: "the call was answered with an error"
})

/** Gives calls back that were charged and answered with an error, each once. */
const giveBack = Effect.fnUntraced(function* (sql: PgClient.PgClient, requestIds: ReadonlyArray<string>) {
  const find = Effect.flatMap(sql.unsafe(toGiveBack, [texts(requestIds)]), decodeEntries)
  const found = yield* find
  if (found.length === 0) return
  const accounts = [...new Set(found.map(({ value }) => value.account_id))]
  yield* whileFree(
    sql,
    accounts,
    Effect.flatMap(find, (rows) => bookEntries(sql, rows.map(refundOf)))
  )
})

export const joinStatements = (sql: PgClient.PgClient, { inTime }: ServerStatements) => ({
  /**
   * Makes a server known, in place of the one that it was before it lost its connection. What is still in flight for the
   * old one ends first, and can write nothing afterwards, so the answer is final: which of the calls that still wait for
   * their charge are charged. Calls that were answered with an error meanwhile get back what they were charged.
   */
  join: ({ answered, id, previous, waiting }: JoinAsked): Promise<ReadonlySet<string>> =>
    inTime(
      Effect.gen(function* () {
        const rows = yield* transact(
          sql,
          Effect.gen(function* () {
            // groups would wait for a table that another session has locked: then the ledger is not back
            yield* sql.unsafe("select from ledger.account where false for update")
            yield* sql.unsafe(forgetSilentServers)
            yield* sql.unsafe("delete from ledger.server where id = $1", [previous])
            yield* sql.unsafe("insert into ledger.server (id, seen_at) values ($1, clock_timestamp())", [id])
            return yield* sql.unsafe<{ request_id: string }>(charged, [texts(waiting)])
          })
        )
        if (answered.length > 0) yield* giveBack(sql, answered)
        return new Set(rows.map(({ request_id }) => request_id))
      })
    ),
  leave: (server: string): Promise<void> =>
    inTime(Effect.asVoid(sql.unsafe("delete from ledger.server where id = $1", [server])))
})

export type JoinStatements = ReturnType<typeof joinStatements>
