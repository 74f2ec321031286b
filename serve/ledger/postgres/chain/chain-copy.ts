/**
 * Copies the chain of a ledger between PostgreSQL and SQLite: links, their order and the head stay the same, and so does
 * the anchor. PostgreSQL numbers entries and records with one sequence. SQLite has two sequences without gaps, and
 * stores with each record the number of the entry before it.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Stream } from "effect"
import type { Sqlite } from "../../../persistence/index.ts"
import { readHead } from "../../embedded/head.ts"
import { copyIntoFile, copyIntoPostgres, streamRows } from "../sql/postgres-copy.ts"
import { readStoredHead } from "./chain.ts"

const recordsOfPostgres = `
  select (row_number() over (order by number))::float8 as number, after_entry::float8, kind, body
  from (
    select number, kind, body, count(*) filter (where kind is null) over (order by number) as after_entry
    from (
      select sequence as number, null as kind, null as body from ledger.entry
      union all
      select number, kind, body::text from ledger.record
    ) as link
  ) as link
  where kind is not null
  order by link.number`

interface CopiedRecord {
  readonly number: number
  readonly after_entry: number
  readonly kind: string
  readonly body: string
}

/** The triggers of the file have recorded the rows that were copied into it; those records are deleted first. */
export const copyChainIntoFile = Effect.fnUntraced(function* (sql: PgClient.PgClient, sqlite: Sqlite) {
  sqlite.exec("delete from ledger.record")
  const insert = sqlite.prepare("insert into ledger.record (number, after_entry, kind, body) values (?, ?, ?, ?)")
  yield* copyIntoFile(sql, sqlite, recordsOfPostgres, ({ after_entry, body, kind, number }: CopiedRecord) =>
    insert.run(number, after_entry, kind, body)
  )
  const { entries, hash, records } = yield* readStoredHead(sql)
  sqlite.run("update ledger.head set entries = $1, records = $2, hash = $3", [entries, records, hash])
})

/** Returns a function from entry numbers of a file to those of PostgreSQL. Numbers must be passed in ascending order. */
export const makeEntryNumbering = (sqlite: Sqlite): ((sequence: number) => number) => {
  const records = sqlite.prepare("select after_entry from ledger.record order by number").iterate()
  let next = records.next()
  let recordsBefore = 0
  return (sequence) => {
    for (; !next.done && Number(next.value.after_entry) < sequence; next = records.next()) recordsBefore++
    return sequence + recordsBefore
  }
}

/** Bodies are hashed as they are stored. Their column is `json`, because that type keeps the string unchanged. */
const insertRecords = `
  insert into ledger.record (number, kind, body)
  select number, kind, body::json from jsonb_to_recordset($1::text::jsonb) as record (number bigint, kind text, body text)`
const continueNumbers = `
  select setval('ledger.entry_sequence_seq', greatest(
    1, (select max(sequence) from ledger.entry), (select max(number) from ledger.record)))`
/** After a move, the numbers have no gaps. */
const setHead = `
  update ledger.head
  set entries = $1::bigint, records = $2::bigint, sequence = $1::bigint + $2::bigint, hash = $3`

/** Runs last: first deletes the records of copied rows, which the triggers of the database have written. */
export const copyChainIntoPostgres = Effect.fnUntraced(function* (sqlite: Sqlite, sql: PgClient.PgClient) {
  yield* sql.unsafe("truncate ledger.record")
  const rows = Stream.map(streamRows(sqlite, "ledger.record"), (row) => ({
    ...row,
    number: Number(row.number) + Number(row.after_entry)
  }))
  yield* copyIntoPostgres(sql, insertRecords, rows)
  yield* sql.unsafe(continueNumbers)
  yield* sql.unsafe("analyze ledger.record")
  const { entries, hash, records } = readHead(sqlite)
  yield* sql.unsafe(setHead, [entries, records, hash])
})
