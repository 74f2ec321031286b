/** The console's tables in the PostgreSQL database of the ledger, shared by several servers. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Layer, type Redacted } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import {
  ConsoleDatabase,
  cellSeparator,
  consoleTables,
  consoleUnavailable,
  type EncodedRows,
  makeStatements,
  rowSeparator,
  type SqlCell
} from "../../../persistence/index.ts"
import { failAfter } from "../../errors.ts"
import { connect, transact } from "./database.ts"
import { databaseCause } from "./failures.ts"
import { createSchema } from "./schema.ts"

/** Pages and webhooks wait for a statement. */
const statementTimeout = "10 seconds"

const toConsoleUnavailable = Effect.mapError((error: unknown) => consoleUnavailable(databaseCause(error)))

const withTimeout = <A>(query: Effect.Effect<A, SqlError>) =>
  toConsoleUnavailable(query).pipe(failAfter(statementTimeout, consoleUnavailable))

export const createConsoleTables = (sql: PgClient.PgClient) =>
  toConsoleUnavailable(createSchema(sql, "console", consoleTables))

/** Inserts all rows with one statement, which splits the string that contains them. */
const insertRows = ({ columns, onConflict = "", table }: EncodedRows) => {
  const cells = Object.values(columns).map((type, index) => `cast(cells[${index + 1}] as ${type})`)
  return `
    insert into ${table} as kept (${Object.keys(columns).join(", ")})
    select ${cells.join(", ")}
    from (
      select string_to_array(line, chr(${cellSeparator.charCodeAt(0)}), '') as cells
      from (select unnest(string_to_array($1, chr(${rowSeparator.charCodeAt(0)}))) as line) as lines
    ) as split
    ${onConflict}`
}

/** Whether `synchronous_commit` is off by default. The record that a card is about to be charged must be on disk. */
const commitsAsynchronously = (sql: PgClient.PgClient) =>
  sql.unsafe<{ setting: string }>("select current_setting('synchronous_commit') as setting").pipe(
    Effect.map(([row]) => row?.setting === "off"),
    toConsoleUnavailable
  )

const open = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const sql = yield* connect(url)
  yield* createConsoleTables(sql)
  const isAsynchronous = yield* commitsAsynchronously(sql)
  const flushCommit: Effect.Effect<unknown, SqlError> = isAsynchronous
    ? sql.unsafe("set local synchronous_commit = on")
    : Effect.void
  const runDurably = <A, E, R>(work: Effect.Effect<A, E, R>) => transact(sql, Effect.andThen(flushCommit, work))
  const query = (statement: string, params: ReadonlyArray<SqlCell>) => sql.unsafe(statement, params)
  const statements = makeStatements((statement, params) => withTimeout(query(statement, params)))
  const durableStatements = isAsynchronous
    ? makeStatements((statement, params) => withTimeout(runDurably(query(statement, params))))
    : statements
  const transaction: ConsoleDatabase["Service"]["transaction"] = (work) =>
    runDurably(work(statements)).pipe(
      Effect.catchTag("SqlError", (error) => Effect.fail(consoleUnavailable(databaseCause(error))))
    )
  return ConsoleDatabase.of({
    ...durableStatements,
    transaction,
    background: statements,
    append: (batchesOf) =>
      transaction(({ run }) =>
        Effect.forEach([...batchesOf(Number.POSITIVE_INFINITY)].flat(), (rows) => run(insertRows(rows), [rows.text]), {
          discard: true
        })
      )
  })
})

export const postgresConsole = (url: Redacted.Redacted) => Layer.effect(ConsoleDatabase, open(url))
