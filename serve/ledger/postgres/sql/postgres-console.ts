/** The console's tables in the PostgreSQL database of the ledger, shared by several servers. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Layer, type Redacted, Schedule } from "effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError } from "effect/sql/SqlError"
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
import { connect, transact } from "./database.ts"
import { failOnOutage } from "./outages.ts"
import { recordingInConsole } from "./recording.ts"

/** Pages and webhooks wait for a statement. */
const statementTimeout = "10 seconds"

const toConsoleUnavailable = Effect.mapError((error: SqlError) => consoleUnavailable(databaseCause(error)))

const withTimeout = <A>(query: Effect.Effect<A, SqlError>) =>
  toConsoleUnavailable(query).pipe(
    Effect.timeoutOrElse({
      duration: statementTimeout,
      orElse: () => Effect.fail(consoleUnavailable(`no answer within ${statementTimeout}`))
    })
  )

/** Two servers that create the tables concurrently conflict; on retry, the second finds them created. */
const retryPolicy = { times: 20, schedule: Schedule.spaced("100 millis") }

/** Has no time-out: no client waits for it, and with a time-out a server could never start on large tables. */
export const createConsoleTables = (sql: PgClient.PgClient) => {
  const create = Effect.forEach([...consoleTables, ...recordingInConsole], (statement) => sql.unsafe(statement), {
    discard: true
  })
  const loader = Migrator.fromRecord({ "0001_console": create })
  return sql.unsafe("create schema if not exists console").pipe(
    Effect.andThen(Migrator.make({})({ loader, table: "console.migration" })),
    Effect.provideService(SqlClient.SqlClient, sql),
    failOnOutage,
    Effect.retry(retryPolicy),
    Effect.mapError((error) => consoleUnavailable(databaseCause(error)))
  )
}

/** Inserts all rows with one statement, which splits the text. */
const insertRows = ({ columns, onConflict = "", table }: EncodedRows) => {
  const cells = Object.values(columns).map((type, index) => `cast(cells[${index + 1}] as ${type})`)
  return `
    insert into ${table} as kept (${Object.keys(columns).join(", ")})
    select ${cells.join(", ")}
    from (
      select string_to_array(line, chr(${cellSeparator.charCodeAt(0)})) as cells
      from (select unnest(string_to_array($1, chr(${rowSeparator.charCodeAt(0)}))) as line) as lines
    ) as calls
    ${onConflict}`
}

/** Whether `synchronous_commit` is off by default. The record that a card is about to be charged must be on disk. */
const commitsLate = (sql: PgClient.PgClient) =>
  sql.unsafe<{ setting: string }>("select current_setting('synchronous_commit') as setting").pipe(
    Effect.map(([row]) => row?.setting === "off"),
    toConsoleUnavailable
  )

const open = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const sql = yield* connect(url)
  yield* createConsoleTables(sql)
  const isLate = yield* commitsLate(sql)
  const flushCommit: Effect.Effect<unknown, SqlError> = isLate
    ? sql.unsafe("set local synchronous_commit = on")
    : Effect.void
  const durably = <A, E, R>(work: Effect.Effect<A, E, R>) => transact(sql, Effect.andThen(flushCommit, work))
  const ask = (statement: string, params: ReadonlyArray<SqlCell>) => sql.unsafe(statement, params)
  const inside = makeStatements((statement, params) => withTimeout(ask(statement, params)))
  const outside = isLate ? makeStatements((statement, params) => withTimeout(durably(ask(statement, params)))) : inside
  const transaction: ConsoleDatabase["Service"]["transaction"] = (work) =>
    durably(work(inside)).pipe(
      Effect.catchTag("SqlError", (error) => Effect.fail(consoleUnavailable(databaseCause(error))))
    )
  return ConsoleDatabase.of({
    ...outside,
    transaction,
    background: inside,
    append: (batchesOf) =>
      transaction(({ run }) =>
        Effect.forEach([...batchesOf(Number.POSITIVE_INFINITY)].flat(), (rows) => run(insertRows(rows), [rows.text]), {
          discard: true
        })
      )
  })
})

/** The driver's message is "Query failed"; the database's message is its cause. */
export const databaseCause = (error: unknown): unknown =>
  error instanceof SqlError ? (error.reason.cause ?? error) : error

export const postgresConsole = (url: Redacted.Redacted) => Layer.effect(ConsoleDatabase, open(url))
