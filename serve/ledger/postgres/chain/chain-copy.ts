/**
 * Copies the chain of a ledger between PostgreSQL and SQLite: links, their order and the head stay the same, and so does
 * the anchor. PostgreSQL numbers entries and records with one sequence. SQLite has two sequences without gaps, and
 * stores with each record after which entry it was written.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema, Stream } from "effect"
import type { Sqlite } from "../../../persistence/index.ts"
import { readHead } from "../../embedded/head.ts"
import { readNumberCell, readTextCell } from "../../embedded/tables.ts"
import { readStoredHead } from "./chain.ts"

const batchSize = 5_000

const recordsOfPostgres = `
  select json_build_array(row_number() over (order by number), after_entry, kind, body) as value
  from (
    select number, kind, body, count(*) filter (where kind is null) over (order by number) as after_entry
    from (
      select sequence as number, null as kind, null as body from ledger.entry
      union all
      select number, kind, body::text from ledger.record
    ) as link
  ) as link
  where kind is not null
  order by number`
const Copied = Schema.Tuple([Schema.Int, Schema.Int, Schema.String, Schema.String])
const decodeCopied = Schema.decodeUnknownEffect(Schema.Array(Copied))

/** The triggers of the file have recorded the rows that were copied into it; those records are deleted first. */
export const copyChainIntoFile = Effect.fnUntraced(function* (sql: PgClient.PgClient, sqlite: Sqlite) {
  sqlite.exec("delete from ledger.record")
  const insert = sqlite.prepare("insert into ledger.record (number, after_entry, kind, body) values (?, ?, ?, ?)")
  yield* sql.unsafe<{ value: unknown }>(recordsOfPostgres).stream.pipe(
    Stream.grouped(batchSize),
    Stream.mapEffect((rows) => decodeCopied(rows.map(({ value }) => value))),
    Stream.runForEach((rows) =>
      Effect.sync(() =>
        sqlite.transaction(() => {
          for (const row of rows) insert.run(...row)
        })
      )
    )
  )
  const { entries, hash, records } = yield* readStoredHead(sql)
  sqlite.run("update ledger.head set entries = $1, records = $2, hash = $3", [entries, records, hash])
})

const recordsOfFile = `
  select number, after_entry, kind, body from ledger.record where number > $1 order by number limit ${batchSize}`

function* readRecordBatches(sqlite: Sqlite) {
  let rows = sqlite.all(recordsOfFile, [0])
  while (rows.length > 0) {
    yield rows
    rows = sqlite.all(recordsOfFile, [readNumberCell(rows.at(-1), "number")])
  }
}

function* readRecordPlaces(sqlite: Sqlite) {
  for (const rows of readRecordBatches(sqlite)) for (const row of rows) yield readNumberCell(row, "after_entry")
}

/** Maps entry numbers of a file to those of PostgreSQL, in ascending order: each record before the entry adds one. */
export const makeEntryNumbering = (sqlite: Sqlite): ((sequence: number) => number) => {
  const places = readRecordPlaces(sqlite)
  let next = places.next()
  let before = 0
  return (sequence) => {
    for (; !next.done && next.value < sequence; next = places.next()) before++
    return sequence + before
  }
}

/** The text of a body is hashed. Its column is `json`, because that type keeps the text unchanged. */
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
  for (const rows of readRecordBatches(sqlite)) {
    const records = rows.map((row) => ({
      number: readNumberCell(row, "number") + readNumberCell(row, "after_entry"),
      kind: readTextCell(row, "kind"),
      body: readTextCell(row, "body")
    }))
    yield* sql.unsafe(insertRecords, [JSON.stringify(records)])
  }
  yield* sql.unsafe(continueNumbers)
  yield* sql.unsafe("analyze ledger.record")
  const { entries, hash, records } = readHead(sqlite)
  yield* sql.unsafe(setHead, [entries, records, hash])
})
