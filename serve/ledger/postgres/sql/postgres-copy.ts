/** Copies rows from PostgreSQL into a SQLite file for a backup, and back for a migration. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Option, Schema, Stream } from "effect"
import {
  allTables,
  backedUpTables,
  consoleUnavailable,
  type SqlCell,
  type Sqlite,
  selectCounts,
  TableCount,
  writtenAtStart
} from "../../../persistence/index.ts"
import { toLedgerUnavailable } from "../../errors.ts"
import { databaseCause } from "./failures.ts"

const batchSize = 5_000

const attempt = <A>(work: () => A) => Effect.try({ try: work, catch: toLedgerUnavailable("be copied") })

/** Writes the rows of a query into the file, one transaction per batch. */
export const copyIntoFile = <A extends object>(
  sql: PgClient.PgClient,
  sqlite: Sqlite,
  query: string,
  write: (row: A) => void
) =>
  sql.unsafe<A>(query).stream.pipe(
    Stream.grouped(batchSize),
    Stream.runForEach((rows) =>
      attempt(() =>
        sqlite.transaction(() => {
          for (const row of rows) write(row)
        })
      )
    )
  )

/** The rows of a table in the file, with one more field, `rowid_of_row`. */
export const streamRows = (sqlite: Sqlite, table: string) =>
  Stream.paginate(-1, (after: number) =>
    attempt(() => {
      const rows = sqlite.all(
        `select rowid as rowid_of_row, * from ${table} where rowid > $1 order by rowid limit ${batchSize}`,
        [after]
      )
      return [rows, Option.map(Option.fromUndefinedOr(rows.at(-1)?.rowid_of_row), Number)] as const
    })
  )

/** Inserts rows as columns of the table. Ignores fields that are not columns. */
export const insertInto = (table: string) =>
  `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::text::jsonb)`

/** `$1` of the statement is a batch of rows as JSON. */
export const copyIntoPostgres = <E>(sql: PgClient.PgClient, statement: string, rows: Stream.Stream<object, E>) =>
  rows.pipe(
    Stream.grouped(batchSize),
    Stream.runForEach((batch) => sql.unsafe(statement, [JSON.stringify(batch)]))
  )

const decodeCounts = Schema.decodeUnknownEffect(Schema.Array(TableCount))
const countRows = (sql: PgClient.PgClient, names: ReadonlyArray<string>) =>
  Effect.flatMap(sql.unsafe(selectCounts(names)), decodeCounts)

const toInput = (cell: SqlCell = null) => (typeof cell === "boolean" ? Number(cell) : cell)

const copyConsoleTable = (sql: PgClient.PgClient, sqlite: Sqlite, name: string) => {
  const columns = sqlite
    .all(`select name from pragma_table_info('${name}') order by cid`)
    .map((column) => String(column.name))
  const insert = sqlite.prepare(`insert into console.${name} values (${columns.map(() => "?").join(", ")})`)
  return copyIntoFile<Readonly<Record<string, SqlCell>>>(
    sql,
    sqlite,
    `select ${columns.join(", ")} from console.${name}`,
    (row) => insert.run(...columns.map((column) => toInput(row[column])))
  )
}

/** Copies the tables that belong in a backup into the empty tables of `sqlite`. `sql` is in a transaction. */
export const copyConsoleIntoFile = (sql: PgClient.PgClient, sqlite: Sqlite) =>
  Effect.mapError(
    Effect.forEach(backedUpTables, (name) => copyConsoleTable(sql, sqlite, name), { discard: true }),
    (error) => consoleUnavailable(databaseCause(error))
  )

/** The first table with rows, except those to which a starting server writes: their rows are replaced. */
export const findUsedTable = (sql: PgClient.PgClient) =>
  Effect.map(
    countRows(
      sql,
      allTables.filter((name) => !writtenAtStart.includes(name))
    ),
    (counts) => counts.find(({ rows }) => rows > 0)
  )

/** Copies all tables, including sessions, in the caller's transaction. Returns whether the row counts match. */
export const copyConsoleIntoPostgres = Effect.fnUntraced(function* (sqlite: Sqlite, sql: PgClient.PgClient) {
  for (const name of writtenAtStart) yield* sql.unsafe(`delete from console.${name}`)
  for (const name of allTables) {
    const table = `console.${name}`
    yield* copyIntoPostgres(sql, insertInto(table), streamRows(sqlite, table))
  }
  const expected = yield* Effect.flatMap(
    attempt(() => sqlite.all(selectCounts(allTables))),
    decodeCounts
  )
  const counts = yield* countRows(sql, allTables)
  return expected.every(({ name, rows }) => counts.some((other) => other.name === name && other.rows === rows))
})
