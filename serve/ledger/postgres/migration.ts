/**
 * Moves an embedded ledger into PostgreSQL: entries as they are, hashes and all, in one transaction. It ends only when the
 * database says the same of every account as the old ledger did, and its whole content adds up. A mark in the folder then
 * keeps servers from opening the old ledger, which would spend the same credits twice.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, type Redacted, Schema, Stream } from "effect"
import { embeddedStore } from "../embedded/embedded-store.ts"
import { markAsMoved } from "../embedded/moved.ts"
import type { Snapshot } from "../machine.ts"
import type { Entry } from "../records.ts"
import { connect, placeOf, unavailable } from "./database.ts"
import { verifyContents } from "./verification.ts"

export class CannotMove extends Schema.TaggedError<CannotMove>()("CannotMove", { problem: Schema.String }) {
  override get message() {
    return `The ledger was not moved: ${this.problem}`
  }
}

/** Some 2 MB of JSON a statement. */
const entriesAtOnce = 5_000

const write = (sql: PgClient.PgClient, statement: string, rows: ReadonlyArray<unknown>) =>
  Effect.mapError(sql.unsafe(statement, [JSON.stringify(rows)]), unavailable("be written"))

const insertAll = (table: string, rest = "") =>
  `insert into ledger.${table} select * from jsonb_populate_recordset(null::ledger.${table}, $1::text::jsonb) ${rest}`

const insertEntries = (sql: PgClient.PgClient, entries: ReadonlyArray<Entry>) => write(sql, insertAll("entry"), entries)

/** Where the sums that servers keep beside the entries come from. */
const sums = [
  `insert into ledger.spent_in_month (key_id, month, credits)
  select key_id, ledger.month_of(ledger.moment_of(occurred_at)), -sum(credits)
  from ledger.entry where type = 'charge' group by 1, 2`,
  `insert into ledger.usage_of_day (account_id, day, key_id, endpoint, calls, credits)
  select account_id, (occurred_at at time zone 'UTC')::date, key_id, endpoint, count(*), -sum(credits)
  from ledger.entry where type = 'charge' group by 1, 2, 3, 4`,
  "select setval(pg_get_serial_sequence('ledger.entry', 'sequence'), greatest(1, (select max(sequence) from ledger.entry)))"
]

const rowsOf = ({ accounts }: Snapshot) =>
  accounts.map(({ account, head: { balance, hash, position } }) => ({ ...account, position, balance, hash }))

/** What the database says of each account, as the old ledger says it. */
const headsIn = (sql: PgClient.PgClient) =>
  sql
    .unsafe<{ head: string }>(
      "select id || ' ' || position || ' ' || balance || ' ' || hash as head from ledger.account"
    )
    .pipe(
      Effect.map((rows) => new Set(rows.map(({ head }) => head))),
      Effect.mapError(unavailable("be read"))
    )

const compare = Effect.fnUntraced(function* (sql: PgClient.PgClient, snapshot: Snapshot) {
  const found = yield* headsIn(sql)
  const missing = rowsOf(snapshot).filter(
    ({ balance, hash, id, position }) => !found.has(`${id} ${position} ${balance} ${hash}`)
  )
  if (missing[0] !== undefined || found.size !== snapshot.accounts.length) {
    return `the database holds another ledger: it has ${found.size} accounts, and ${missing.length} of the ${snapshot.accounts.length} accounts of this one are not the same there`
  }
  return undefined
})

const copy = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  snapshot: Snapshot,
  entriesOf: (accountId: string) => Stream.Stream<Entry, unknown>
) {
  const accounts = rowsOf(snapshot)
  yield* write(sql, insertAll("account"), accounts)
  yield* write(sql, insertAll("api_key"), snapshot.keys)
  yield* Stream.fromIterable(accounts).pipe(
    Stream.flatMap(({ id }) => entriesOf(id)),
    Stream.grouped(entriesAtOnce),
    Stream.runForEach((entries) => insertEntries(sql, entries))
  )
  for (const statement of sums) yield* Effect.mapError(sql.unsafe(statement), unavailable("be written"))
})

/** Repeating it after a crash is safe: a database that holds this very ledger already is accepted. */
export const moveToPostgres = Effect.fn("PostgresLedger.moveHere")(function* (
  directory: string,
  url: Redacted.Redacted
) {
  const sql = yield* connect(url)
  const store = yield* embeddedStore(directory)
  const snapshot = yield* store.load
  const moved = yield* sql.withTransaction(
    Effect.gen(function* () {
      const isEmpty = (yield* headsIn(sql)).size === 0
      if (isEmpty) yield* copy(sql, snapshot, store.entriesOf)
      const difference = yield* compare(sql, snapshot)
      if (difference !== undefined) return yield* new CannotMove({ problem: difference })
      const { problems, ...totals } = yield* verifyContents(sql)
      if (problems.length > 0) return yield* new CannotMove({ problem: problems.join("; ") })
      return totals
    })
  )
  yield* markAsMoved(directory, placeOf(url))
  return { ...moved, place: placeOf(url) }
}, Effect.scoped)
