/** The tables in PostgreSQL. The first server or command creates them. */
import { readFileSync } from "node:fs"
import type { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Schedule } from "effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { databaseCause } from "./failures.ts"

/** A migration wraps the error of the database. */
const findSqlErrors = (defect: unknown): ReadonlyArray<SqlError> => {
  if (isSqlError(defect)) return [defect]
  return defect instanceof Error && isSqlError(defect.cause) ? [defect.cause] : []
}

/**
 * If a connection is lost in the middle of a transaction, its rollback also fails, and Effect reports the outage as a
 * defect; a migration does the same. This turns the defect back into an error. The database has already rolled back.
 */
export const failOnOutage = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchCause(work, (cause): Effect.Effect<never, E | SqlError> => {
    const [sqlError] = cause.reasons.flatMap((reason) =>
      Cause.isDieReason(reason) ? findSqlErrors(reason.defect) : []
    )
    return sqlError === undefined ? Effect.failCause(cause) : Effect.fail(sqlError)
  })

/** Increased when a table changes. Before the first release, an earlier layout is refused, not converted. */
const layouts = { console: 7, ledger: 4 } as const

/** Raised by the two checks below. */
const otherLayout = "P0L01"

/** The tables are of another version of Larder; `message` says what to use instead. A retry finds the same. */
export const isOtherLayout = (error: unknown): error is SqlError => {
  const cause = databaseCause(error)
  return cause instanceof Error && "code" in cause && cause.code === otherLayout
}

const refuseIf = (condition: string, problem: string) => `
  do $$ begin
    if exists (${condition}) then raise exception '${problem}' using errcode = '${otherLayout}'; end if;
  end $$`

const refuseEarlierLayout = (schema: keyof typeof layouts) =>
  refuseIf(
    `select from pg_tables where schemaname = '${schema}' and tablename <> 'migration'`,
    "an earlier version of Larder has written the tables of this database, and no version converts them: use a new database"
  )

const refuseNewerLayout = (schema: keyof typeof layouts) =>
  refuseIf(
    `select from ${schema}.migration where migration_id > ${layouts[schema]}`,
    "a newer version of Larder has written the tables of this database: use that version"
  )

/**
 * Creates a schema and its tables if there are none. Two servers that do so concurrently conflict; the second one retries,
 * and finds them created. Has no time-out: on large tables, a server with a time-out could never start.
 */
export const createSchema = (
  sql: PgClient.PgClient,
  schema: keyof typeof layouts,
  statements: ReadonlyArray<string>
) => {
  const create = Effect.forEach([refuseEarlierLayout(schema), ...statements], (statement) => sql.unsafe(statement), {
    discard: true
  })
  const loader = Migrator.fromRecord({ [`${String(layouts[schema]).padStart(4, "0")}_${schema}`]: create })
  return sql
    .unsafe(`create schema if not exists ${schema}`)
    .pipe(
      Effect.andThen(Migrator.make({})({ loader, table: `${schema}.migration` })),
      Effect.andThen(sql.unsafe(refuseNewerLayout(schema))),
      Effect.provideService(SqlClient.SqlClient, sql),
      failOnOutage,
      Effect.retry({ times: 20, schedule: Schedule.spaced("100 millis"), while: (error) => !isOtherLayout(error) })
    )
}

/** Each has a file in `tables/`. */
const tables = [
  "account",
  "api_key",
  "entry",
  "chain_start",
  "spent_in_month",
  "usage_of_day",
  "usage_of_month",
  "usage_of_endpoint"
]

const indexes = [
  "create index entry_but_charge on ledger.entry (account_id, position) where type <> 'charge'", // pages without charges
  "create index key_replaced on ledger.api_key (former_sha256) where former_sha256 is not null"
]

export const createLedgerTables = (sql: PgClient.PgClient) =>
  createSchema(sql, "ledger", [
    ...tables.map((name) => readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8")),
    ...indexes
  ])
