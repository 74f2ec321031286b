/** Copies the console's tables from PostgreSQL into a SQLite file for a backup, and back for a migration. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Option, Schema, Stream } from "effect"
import {
  allTables,
  backedUpTables,
  consoleUnavailable,
  type SqlCell,
  type Sqlite,
  selectCounts,
  TableCount
} from "../../../persistence/index.ts"
import { databaseCause } from "./postgres-console.ts"

const batchSize = 5_000

const decodeCounts = Schema.decodeUnknownEffect(Schema.Array(TableCount))
const countRows = (sql: PgClient.PgClient, names: ReadonlyArray<string>) =>
  Effect.flatMap(sql.unsafe(selectCounts(names)), decodeCounts)

const attempt = <A>(work: () => A) => Effect.try({ try: work, catch: consoleUnavailable })

const listColumns = (sqlite: Sqlite, name: string) =>
  sqlite.all(`select name from pragma_table_info('${name}') order by cid`).map((column) => String(column.name))

type Cells = Readonly<Record<string, SqlCell>>

const toInput = (cell: SqlCell = null) => (typeof cell === "boolean" ? Number(cell) : cell)

const copyTable = Effect.fnUntraced(function* (sql: PgClient.PgClient, sqlite: Sqlite, name: string) {
  const columns = yield* attempt(() => listColumns(sqlite, name))
  const insert = sqlite.prepare(`insert into console.${name} values (${columns.map(() => "?").join(", ")})`)
  yield* sql.unsafe<Cells>(`select ${columns.join(", ")} from console.${name}`).stream.pipe(
    Stream.grouped(batchSize),
    Stream.runForEach((rows) =>
      attempt(() =>
        sqlite.transaction(() => {
          for (const row of rows) insert.run(...columns.map((column) => toInput(row[column])))
        })
      )
    )
  )
})

/** Copies the tables that belong in a backup into the empty tables of `sqlite`. `sql` is in a transaction. */
export const copyConsoleIntoFile = (sql: PgClient.PgClient, sqlite: Sqlite) =>
  Effect.mapError(
    Effect.forEach(backedUpTables, (name) => copyTable(sql, sqlite, name), { discard: true }),
    (error) => consoleUnavailable(databaseCause(error))
  )

const readRowBatches = (sqlite: Sqlite, name: string) =>
  Stream.paginate(-1, (after: number) =>
    attempt(() => {
      const rows = sqlite.all(
        `select rowid as rowid_of_row, * from console.${name} where rowid > $1 order by rowid limit ${batchSize}`,
        [after]
      )
      const last = rows.at(-1)?.rowid_of_row
      return [[JSON.stringify(rows)], Option.map(Option.fromUndefinedOr(last), Number)] as const
    })
  )

/** Ignores keys that are not columns. */
const insertRows = (sql: PgClient.PgClient, name: string, rows: string) =>
  sql.unsafe(
    `insert into console.${name}
    select * from jsonb_populate_recordset(null::console.${name}, $1::text::jsonb)`,
    [rows]
  )

/** The first table with rows, except `simulated`, where a starting server writes settings that need no copy. */
export const findUsedTable = (sql: PgClient.PgClient) =>
  Effect.map(
    countRows(
      sql,
      allTables.filter((name) => name !== "simulated")
    ),
    (counts) => counts.find(({ rows }) => rows > 0)
  )

/** Copies all tables, including sessions, in the caller's transaction. Returns whether the row counts match. */
export const copyConsoleIntoPostgres = Effect.fnUntraced(function* (sqlite: Sqlite, sql: PgClient.PgClient) {
  yield* sql.unsafe("delete from console.simulated")
  for (const name of allTables) {
    yield* Stream.runForEach(readRowBatches(sqlite, name), (rows) => insertRows(sql, name, rows))
  }
  const expected = yield* Effect.flatMap(
    attempt(() => sqlite.all(selectCounts(allTables))),
    decodeCounts
  )
  const counts = yield* countRows(sql, allTables)
  return expected.every(({ name, rows }) => counts.some((other) => other.name === name && other.rows === rows))
})
