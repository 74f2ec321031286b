/**
 * `ledger.duckdb`: the tables that journal files are taken up into, and what is read from them. Used by one caller at a
 * time. It is opened anew after an error, because DuckDB gives up a database whose disk was full at the wrong moment.
 */
import { DuckDb, type DuckDbError, type OpenError } from "@larder/warehouse/duckdb.ts"
import { Effect, Exit, Schema, Scope, Semaphore } from "effect"
import { Account, ApiKey, Entry } from "./records.ts"
import type { Snapshot } from "./store.ts"
import { definitions, takeUp } from "./tables.ts"

/** The background work of one ledger; the API's own reading comes first. */
const settings = "set threads = 1; set memory_limit = '1GB'"
/** Decoding a page stands in the way of requests for some milliseconds. */
const entriesPerPage = 1_000

const timestamp = (column: string) => `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ') as ${column}`
/** Numbers leave as doubles, which are exact up to 2 ** 53: BIGINT would arrive as bigint. */
const entryColumns = `sequence::double as sequence, type, ${timestamp("occurred_at")}, account_id, key_id, endpoint,
  credits::double as credits, request_id, note`

const sequenceNow = "select coalesce(max(sequence), 0)::double as sequence from entry"
const balances = `
  select id, name, ${timestamp("created_at")}, coalesce(balance, 0)::double as balance
  from account
  left join (select account_id, sum(credits) as balance from entry group by account_id) on account_id = id
  order by created_at, id`
const keys = `
  select id, account_id, name, scopes, budget_credits::double as budget_credits, sha256, last4, ${timestamp("created_at")},
    ${timestamp("revoked_at")}, revision
  from api_key
  order by api_key.created_at, id`
const spending = `
  select key_id, (year(occurred_at) * 12 + month(occurred_at) - 1)::integer as month, -sum(credits)::double as spent
  from entry
  where type = 'charge'
  group by all`
const entriesOfAccount = `
  select ${entryColumns}
  from entry
  where account_id = $account_id and sequence > $after
  order by entry.sequence
  limit ${entriesPerPage}`

const Sequence = Schema.Struct({ sequence: Schema.Int })
const Balance = Schema.Struct({ ...Account.fields, balance: Schema.Int })
const SpentInMonth = Schema.Struct({ key_id: Schema.String, month: Schema.Int, spent: Schema.Int })

export type DatabaseError = DuckDbError | OpenError

export interface LedgerDatabase {
  readonly sequence: Effect.Effect<number, DatabaseError>
  readonly load: Effect.Effect<Snapshot, DatabaseError>
  readonly entriesAfter: (accountId: string, after: number) => Effect.Effect<ReadonlyArray<Entry>, DatabaseError>
  /** Takes up a whole journal file, durably. Doing it twice does nothing the second time. */
  readonly takeUp: (journalFile: string) => Effect.Effect<void, DatabaseError>
}

const open = Effect.fnUntraced(function* (file: string) {
  const db = yield* DuckDb.readWrite(file)
  yield* db.run(settings)
  yield* db.run(["begin", ...definitions, "commit"].join(";\n"))
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
  const use = <A>(work: (db: DuckDb["Service"]) => Effect.Effect<A, DatabaseError>): Effect.Effect<A, DatabaseError> =>
    oneAtATime.withPermit(Effect.uninterruptible(Effect.flatMap(opened, work).pipe(Effect.onError(() => close))))

  yield* Effect.addFinalizer(() => oneAtATime.withPermit(close))
  yield* use(() => Effect.void)

  const database: LedgerDatabase = {
    sequence: use((db) => Effect.map(db.all(Sequence, sequenceNow), (rows) => rows[0]?.sequence ?? 0)),
    load: use((db) =>
      Effect.all({
        sequence: Effect.map(db.all(Sequence, sequenceNow), (rows) => rows[0]?.sequence ?? 0),
        accounts: Effect.map(db.all(Balance, balances), (rows) =>
          rows.map(({ balance, ...account }) => ({ account, balance }))
        ),
        keys: db.all(ApiKey, keys),
        spending: db.all(SpentInMonth, spending)
      })
    ),
    entriesAfter: (account_id, after) => use((db) => db.all(Entry, entriesOfAccount, { account_id, after })),
    takeUp: (journalFile) => use((db) => db.run(takeUp(journalFile)))
  }
  return database
})
