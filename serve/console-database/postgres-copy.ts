/** The console's tables between PostgreSQL and SQLite: into a file for a backup, and out of one that moves. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Option, Schema, Stream } from "effect"
import type { Cell, Sqlite } from "../persistence/sqlite.ts"
import { consoleUnavailable } from "./console-database.ts"
import { because } from "./postgres.ts"
import { allTables, backedUp, countsOf, TableCount } from "./tables.ts"

/** Some 2 MB of rows. */
const rowsAtOnce = 5_000

const decodeCounts = Schema.decodeUnknownEffect(Schema.Array(TableCount))
const countsIn = (sql: PgClient.PgClient, names: ReadonlyArray<string>) =>
  Effect.flatMap(sql.unsafe(countsOf(names)), decodeCounts)

const attempt = <A>(work: () => A) => Effect.try({ try: work, catch: consoleUnavailable })

const columnsOf = (sqlite: Sqlite, name: string) =>
  sqlite.all(`select name from pragma_table_info('${name}') order by cid`).map((column) => String(column.name))

type Cells = Readonly<Record<string, Cell>>

const inputOf = (cell: Cell = null) => (typeof cell === "boolean" ? Number(cell) : cell)

const copyTable = Effect.fnUntraced(function* (sql: PgClient.PgClient, sqlite: Sqlite, name: string) {
  const columns = yield* attempt(() => columnsOf(sqlite, name))
  const insert = sqlite.prepare(`insert into console.${name} values (${columns.map(() => "?").join(", ")})`)
  yield* sql.unsafe<Cells>(`select ${columns.join(", ")} from console.${name}`).stream.pipe(
    Stream.grouped(rowsAtOnce),
    Stream.runForEach((rows) =>
      attempt(() =>
        sqlite.transaction(() => {
          for (const row of rows) insert.run(...columns.map((column) => inputOf(row[column])))
        })
      )
    )
  )
})

/** Everything that a backup holds, into empty tables. Within a transaction of the caller. */
export const copyTables = (sql: PgClient.PgClient, sqlite: Sqlite) =>
  Effect.mapError(
    Effect.forEach(backedUp, (name) => copyTable(sql, sqlite, name), { discard: true }),
    (error) => consoleUnavailable(because(error))
  )

/** In the order in which they were written, as JSON. */
const rowsIn = (sqlite: Sqlite, name: string) =>
  Stream.paginate(-1, (after: number) =>
    attempt(() => {
      const rows = sqlite.all(
        `select rowid as rowid_of_row, * from console.${name} where rowid > $1 order by rowid limit ${rowsAtOnce}`,
        [after]
      )
      const last = rows.at(-1)?.rowid_of_row
      return [[JSON.stringify(rows)], Option.map(Option.fromUndefinedOr(last), Number)] as const
    })
  )

/** Keys that are no columns are left out. */
const insertRows = (sql: PgClient.PgClient, name: string, rows: string) =>
  sql.unsafe(
    `insert into console.${name}
    select * from jsonb_populate_recordset(null::console.${name}, $1::text::jsonb)`,
    [rows]
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

/**
 * Copies everything, sign-ins included: this is no older than they are. Within a transaction of the caller. Says whether
 * the database then has as many rows.
 */
export const copyIntoPostgres = Effect.fnUntraced(function* (sqlite: Sqlite, sql: PgClient.PgClient) {
  yield* sql.unsafe("delete from console.simulated")
  for (const name of allTables) {
    yield* Stream.runForEach(rowsIn(sqlite, name), (rows) => insertRows(sql, name, rows))
  }
  const expected = yield* Effect.flatMap(
    attempt(() => sqlite.all(countsOf(allTables))),
    decodeCounts
  )
  const found = yield* countsIn(sql, allTables)
  return expected.every(({ name, rows }) => found.some((other) => other.name === name && other.rows === rows))
})
