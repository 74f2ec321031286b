/** The console's tables in the PostgreSQL database that keeps the ledger, shared by several servers. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Layer, type Redacted, Schedule, Schema } from "effect"
import { SqlError } from "effect/sql/SqlError"
import { connect, transact } from "../ledger/postgres/database.ts"
import { type Cell, ConsoleDatabase, consoleUnavailable, type Statements } from "./console-database.ts"
import { copyFromPostgres } from "./postgres-copy.ts"
import { keepSums } from "./postgres-sums.ts"
import { addColumn, addedColumns, tableDefinitions } from "./tables.ts"

const indexes = {
  request_of_account: "console.request (account_id, occurred_at desc)",
  usage_of_key: "console.usage_of_status (account_id, key_id, day)",
  payment_of_account: "console.payment (account_id, created_at desc)",
  session_of_person: "console.session (person_id)",
  known_browser_of_person: "console.known_browser (person_id)"
}

/** A page or a webhook waits for it. */
const longestStatement = "10 seconds"

const unavailable = Effect.mapError((error: SqlError) => consoleUnavailable(because(error)))

const inTime = <A>(asked: Effect.Effect<A, SqlError>) =>
  unavailable(asked).pipe(
    Effect.timeoutOrElse({
      duration: longestStatement,
      orElse: () => Effect.fail(consoleUnavailable(`no answer within ${longestStatement}`))
    })
  )

/** Those that are there already are left alone: `if not exists` would first wait for everybody who writes. */
const missingIndexes = (sql: PgClient.PgClient) =>
  Effect.map(sql<{ name: string }>`select indexname as name from pg_indexes where schemaname = 'console'`, (found) =>
    Object.entries(indexes)
      .filter(([index]) => !found.some(({ name }) => name === index))
      .map(([index, columns]) => `create index if not exists ${index} on ${columns}`)
  )

/** Left alone like those indexes, where they are there. */
const missingColumns = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ name: string }>`
      select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'console'`,
    (found) =>
      addedColumns
        .filter(({ column, table }) => !found.some(({ name }) => name === `${table}.${column}`))
        .map(addColumn)
  )

/** Two servers that start at once on a new database get in each other's way; the second one finds the work done. */
const again = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.retry(work, { times: 20, schedule: Schedule.spaced("100 millis") })

const isLockedOut = ({ reason }: SqlError) => reason._tag === "LockTimeoutError"

/**
 * Whoever comes after a statement that waits for the whole table waits as well, also those who only read, and a backup
 * reads for minutes: so it gives up soon, and lets them go ahead before it tries again.
 */
const addToTable = (sql: PgClient.PgClient, column: string) =>
  transact(sql, Effect.andThen(sql`set local lock_timeout = '1s'`, sql.unsafe(column))).pipe(
    Effect.retry({ while: isLockedOut, schedule: Schedule.spaced("1 second") })
  )

/** However long it takes: nobody waits for an answer, and a server that gave up would never start on large tables. */
export const createTables = (sql: PgClient.PgClient) =>
  Effect.gen(function* () {
    for (const definition of tableDefinitions) yield* again(sql.unsafe(definition))
    for (const column of yield* missingColumns(sql)) yield* again(addToTable(sql, column))
    for (const index of yield* missingIndexes(sql)) yield* again(sql.unsafe(index))
    yield* keepSums(sql)
  }).pipe(unavailable)

type Ask = (statement: string, params: ReadonlyArray<Cell>) => Effect.Effect<ReadonlyArray<unknown>, SqlError>

const statementsOf = (ask: Ask): Statements => ({
  all: (row, statement, params = []) =>
    inTime(ask(statement, params)).pipe(
      Effect.flatMap((rows) => Schema.decodeUnknownEffect(Schema.Array(row))(rows)),
      Effect.catchTag("SchemaError", (error) => Effect.die(error)) // our SQL and our schema disagree: a bug
    ),
  run: (statement, params = []) => Effect.map(inTime(ask(statement, params)), (rows) => rows.length)
})

const Setting = Schema.Struct({ setting: Schema.String })
const decodeSettings = Schema.decodeUnknownEffect(Schema.Array(Setting))

/** Whether this database or role says that a commit need not be on the disk. That a card is about to be charged must be. */
const commitsLate = (sql: PgClient.PgClient) =>
  sql.unsafe("select current_setting('synchronous_commit') as setting").pipe(
    Effect.flatMap(decodeSettings),
    Effect.map(([found]) => found?.setting === "off"),
    Effect.mapError((error) => consoleUnavailable(because(error)))
  )

const open = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const sql = yield* connect(url)
  yield* createTables(sql)
  const isLate = yield* commitsLate(sql)
  const toTheDisk: Effect.Effect<unknown, SqlError> = isLate
    ? sql.unsafe("set local synchronous_commit = on")
    : Effect.void
  const durably = <A, E, R>(work: Effect.Effect<A, E, R>) => transact(sql, Effect.andThen(toTheDisk, work))
  const ask: Ask = (statement, params) => sql.unsafe(statement, params)
  const inside = statementsOf(ask)
  return ConsoleDatabase.of({
    ...statementsOf(isLate ? (statement, params) => durably(ask(statement, params)) : ask),
    transaction: (work) =>
      durably(work(inside)).pipe(
        Effect.catchTag("SqlError", (error) => Effect.fail(consoleUnavailable(because(error))))
      ),
    sums: [],
    copyTo: (file) => Effect.mapError(copyFromPostgres(sql, file), (error) => consoleUnavailable(because(error)))
  })
})

/** The driver says "Query failed"; what the database said is its cause. */
const because = (error: unknown): unknown => (error instanceof SqlError ? (error.reason.cause ?? error) : error)

export const postgresConsole = (url: Redacted.Redacted) => Layer.effect(ConsoleDatabase, open(url))
