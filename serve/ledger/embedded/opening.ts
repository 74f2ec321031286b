/**
 * What a start reads: the snapshot and the entries after it, checked before anything is served. The entries before it were
 * checked when it was taken; `larder-serve ledger verify` reads them again.
 */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Result, Schema } from "effect"
import { Booking } from "../administration.ts"
import { beginning, type ChainHead } from "../chain.ts"
import { LedgerDamaged } from "../errors.ts"
import type { Snapshot } from "../machine.ts"
import { isMoneyOut } from "../money-out.ts"
import { Account, ApiKey } from "../records.ts"
import { beginWithSnapshot, end, type Purpose, problemsOf } from "./check-entries.ts"
import { timestamp } from "./columns.ts"
import { followAll, lastCovered, lastEntry, snapshotProblems } from "./snapshot.ts"

type Db = DuckDb["Service"]

const Head = Schema.Struct({
  account_id: Schema.String,
  position: Schema.Int,
  balance: Schema.Int,
  hash: Schema.String
})
const heads = (of: Purpose) => `
  select account_id, position::double as position, balance::double as balance, hash from ${of}_head`

/**
 * Keys with their months, some thousand a row: 1.2 million sums, of 100,000 keys in a year. The text of a key's id is then
 * made and hashed once, not once a month, which halves the time of a start.
 */
const SpentByKeys = Schema.Struct({
  keys: Schema.fromJsonString(
    Schema.Array(
      Schema.Struct({ key_id: Schema.String, months: Schema.Array(Schema.Int), spent: Schema.Array(Schema.Int) })
    )
  )
})
const spending = `
  select to_json(list(k))::varchar as keys
  from (
    select key_id, list(month) as months, list(spent) as spent from opening_spending group by key_id
  ) as k
  group by hash(key_id) % 64`
const readSpending = (db: Db) =>
  Effect.map(db.all(SpentByKeys, spending), (rows) =>
    rows.flatMap(({ keys }) =>
      keys.flatMap(({ key_id, months, spent }) =>
        months.map((month, index) => ({ key_id, month, spent: spent[index] ?? 0 }))
      )
    )
  )

/** Records leave as JSON: 100,000 keys take 0.9 s, against 1.7 s column by column. */
const Row = Schema.Struct({ id: Schema.String, record: Schema.String })
const accounts = `
  select id, to_json(a)::varchar as record
  from (select id, name, ${timestamp("created_at")} from account) as a
  order by created_at, id`
const keys = `
  select id, to_json(k)::varchar as record
  from (
    select id, account_id, name, scopes, budget_credits, sha256, last4, ${timestamp("created_at")},
      ${timestamp("revoked_at")}, revision
    from api_key
  ) as k
  order by created_at, id`

const unknownHeads = `
  select format('the snapshot has account {}, which is not there', account_id) as problem
  from opening_head
  where account_id not in (select id from account)
  union all
  select format('key {} was charged, and is not there', key_id)
  from opening_spending
  where key_id not in (select id from api_key)`

const refuseOn = (place: string, problems: ReadonlyArray<string>) =>
  problems[0] === undefined ? Effect.void : Effect.fail(new LedgerDamaged({ place, problem: problems[0] }))

/** Checks what came after the snapshot, and returns the number of the last entry. The sums stay for what comes next. */
export const checkSinceSnapshot = Effect.fnUntraced(function* (db: Db, file: string) {
  yield* refuseOn(file, yield* snapshotProblems(db))
  yield* beginWithSnapshot(db, "opening")
  return yield* checkOn(db, file, yield* lastCovered(db))
})

/** The same for the entries after a number that has been reached. */
export const checkOn = Effect.fnUntraced(function* (db: Db, file: string, reached: number) {
  const last = yield* lastEntry(db)
  yield* refuseOn(file, yield* followAll(db, "opening", reached, last))
  yield* refuseOn(file, yield* problemsOf(db, unknownHeads))
  return last
})

export const headsIn = (db: Db, of: Purpose) =>
  Effect.map(
    db.all(Head, heads(of)),
    (rows) => new Map(rows.map(({ account_id, ...head }): [string, ChainHead] => [account_id, head]))
  )

const MoneyOut = Schema.Struct({ account_id: Schema.String, credits: Schema.Int })
/** Few entries are no charges, and blocks of charges alone are passed over. What is damaged may be any number. */
const moneyOut = `
  select account_id, least(${Number.MAX_SAFE_INTEGER}, -sum(credits))::double as credits
  from entry
  where ${isMoneyOut}
  group by account_id`

/** Credits that have gone out of each account with money. */
export const moneyOutIn = (db: Db) =>
  Effect.map(
    db.all(MoneyOut, moneyOut),
    (rows) => new Map(rows.map(({ account_id, credits }): [string, number] => [account_id, credits]))
  )

const BookedEntry = Schema.Struct({
  account_id: Schema.String,
  type: Booking.fields.type,
  reference: Schema.String
})
const bookedEntries = `
  select account_id, type, request_id as reference
  from entry
  where type in ('top_up', 'auto_recharge', 'refund', 'adjustment') and key_id is null and request_id is not null`

const readRecords = <A>(db: Db, file: string, table: string, sql: string, record: Schema.Decoder<A>) => {
  const decode = Schema.decodeUnknownResult(record)
  const damaged = (id: string, problem: string) =>
    new LedgerDamaged({ place: file, problem: `${table} ${id} cannot be read: ${problem.replaceAll(/\s+/g, " ")}` })
  return Effect.flatMap(db.all(Row, sql), (rows) =>
    Effect.fromResult(
      Result.all(
        rows.map((row) => Result.mapError(decode(JSON.parse(row.record)), ({ message }) => damaged(row.id, message)))
      )
    )
  )
}

/** The state of the ledger at the entry that was reached. The sums are dropped. */
export const readState = Effect.fnUntraced(function* (db: Db, file: string, sequence: number) {
  const arrived = yield* headsIn(db, "opening")
  const records = yield* readRecords(db, file, "account", accounts, Account)
  const snapshot: Snapshot = {
    sequence,
    accounts: records.map((account) => ({ account, head: arrived.get(account.id) ?? beginning })),
    keys: yield* readRecords(db, file, "key", keys, ApiKey),
    spending: yield* readSpending(db),
    booked: yield* db.all(BookedEntry, bookedEntries)
  }
  yield* end(db, "opening")
  return snapshot
})
