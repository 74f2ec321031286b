/** The console's tables between PostgreSQL and DuckDB files: into a file for a backup, and out of one that moves. */
import type { PgClient } from "@effect/sql-pg"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Option, Schema, Stream } from "effect"
import { transact } from "../ledger/postgres/database.ts"
import { allTables, backedUp, countsOf, definitions, moved, TableCount } from "./tables.ts"

type Db = DuckDb["Service"]

/** Some 2 MB of rows. */
const rowsAtOnce = 5_000

const decodeCounts = Schema.decodeUnknownEffect(Schema.Array(TableCount))
const countsIn = (sql: PgClient.PgClient, names: ReadonlyArray<string>) =>
  Effect.flatMap(sql.unsafe(countsOf(names)), decodeCounts)

const Column = Schema.Struct({ name: Schema.String })
const columnsOf = `
  select column_name as name from duckdb_columns()
  where database_name = current_database() and schema_name = 'console' and table_name = $name
  order by column_index`

type Cells = Readonly<Record<string, string | number | boolean | null>>

const copyTable = Effect.fnUntraced(function* (sql: PgClient.PgClient, db: Db, name: string) {
  const columns = (yield* db.all(Column, columnsOf, { name })).map((column) => column.name)
  yield* sql.unsafe<Cells>(`select ${columns.join(", ")} from console.${name}`).stream.pipe(
    Stream.grouped(rowsAtOnce),
    Stream.runForEach((rows) =>
      db.append(
        "console",
        name,
        rows.map((row) => columns.map((column) => row[column] ?? null))
      )
    )
  )
})

/** Everything that a backup holds, of one moment, into a file that is not there yet. */
export const copyFromPostgres = Effect.fnUntraced(function* (sql: PgClient.PgClient, file: string) {
  const db = yield* DuckDb.readWrite(file)
  yield* db.run(definitions.join(";\n"))
  const counts = yield* transact(
    sql,
    Effect.gen(function* () {
      yield* sql.unsafe("set transaction isolation level repeatable read read only")
      for (const name of backedUp) yield* copyTable(sql, db, name)
      return yield* countsIn(sql, backedUp)
    })
  )
  yield* db.run("checkpoint")
  return counts
}, Effect.scoped)

const Row = Schema.Struct({ number: Schema.Int, row: Schema.String })

/** In the order in which they were written. */
const rowsIn = (db: Db, name: string) =>
  Stream.paginate(-1, (after: number) =>
    Effect.map(
      db.all(
        Row,
        `select rowid::double as number, to_json(t)::varchar as row
        from console.${name} as t
        where rowid > $after
        order by rowid
        limit ${rowsAtOnce}`,
        { after }
      ),
      (rows) => [rows, Option.fromUndefinedOr(rows.at(-1)?.number)] as const
    )
  )

const insertRows = (sql: PgClient.PgClient, name: string, rows: ReadonlyArray<typeof Row.Type>) =>
  sql.unsafe(
    `insert into console.${name}
    select * from jsonb_populate_recordset(null::console.${name}, $1::text::jsonb)`,
    [`[${rows.map(({ row }) => row).join(",")}]`]
  )

/** The first table that has rows. What the payment simulator notes when a server starts is worth nothing without payments. */
export const firstUsed = (sql: PgClient.PgClient) =>
  Effect.map(
    countsIn(
      sql,
      allTables.filter((name) => name !== "simulated")
    ),
    (counts) => counts.find(({ rows }) => rows > 0)
  )

/** Copies everything, sign-ins included: this is no older than they are. Within a transaction of the caller. */
export const copyIntoPostgres = Effect.fnUntraced(function* (db: Db, sql: PgClient.PgClient) {
  yield* sql.unsafe("delete from console.simulated")
  for (const name of moved) {
    yield* Stream.runForEach(Stream.grouped(rowsIn(db, name), rowsAtOnce), (rows) => insertRows(sql, name, rows))
  }
  const expected = yield* db.all(TableCount, countsOf(allTables))
  const found = yield* countsIn(sql, allTables)
  return expected.every(({ name, rows }) => found.some((other) => other.name === name && other.rows === rows))
})
