/** The connections of a server to the PostgreSQL database of the ledger, array parameters, and the meaning of errors. */
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { LedgerUnavailable, toLedgerUnavailable } from "../../errors.ts"
import { createLedgerTables, failOnOutage } from "./schema.ts"

/** One connection listens; joining, operators, exports and checks use the others. Groups use a separate connection. */
const maxConnections = 5

export const databaseUnavailable = (action: string) => (cause: unknown) =>
  toLedgerUnavailable(action)(databaseCause(cause))

/** The driver's message is "Query failed"; the error of the database is its cause. */
export const databaseCause = (error: unknown): unknown => {
  if (!(error instanceof Error) || error instanceof LedgerUnavailable) return error
  const cause = "reason" in error && error.reason instanceof Error ? error.reason : error.cause
  return cause instanceof Error ? databaseCause(cause) : error
}

const readSqlState = (error: unknown): string =>
  error instanceof LedgerUnavailable && error.cause instanceof Error && "code" in error.cause
    ? String(error.cause.code)
    : ""

/** The transaction was rolled back, and a retry may succeed: a deadlock, or a conflict with another transaction. */
export const wasRolledBack = (error: unknown): boolean =>
  isSqlError(error)
    ? error.reason._tag === "SerializationError" || error.reason._tag === "DeadlockError"
    : ["40P01", "40001"].includes(readSqlState(error))

/** The database refused a group because of its content (integrity constraints), so it was not written. */
export const wasRefused = (error: unknown): boolean => readSqlState(error).startsWith("23")

/** The disk of the database is full, so the group was not written. */
export const wasDiskFull = (error: unknown): boolean => readSqlState(error) === "53100"

/** Another session has locked an account of the group for longer than a group waits, so it was not written. */
export const wasLockedOut = (error: unknown): boolean => readSqlState(error) === "55P03"

export const transact = <A, E, R>(sql: PgClient.PgClient, work: Effect.Effect<A, E, R>) =>
  failOnOutage(sql.withTransaction(work))

/** The driver checks the values. It requires the element type, because an array may be empty or contain only nulls. */
const bindArray = (values: ReadonlyArray<unknown>, type: number) => Result.getOrThrow(PgTypes.array(values, type))

export const textArray = (values: ReadonlyArray<unknown>) => bindArray(values, PgTypes.OID.text)
export const integerArray = (values: ReadonlyArray<unknown>) =>
  bindArray(
    values.map((value) => (typeof value === "number" ? BigInt(value) : value)),
    PgTypes.OID.int8
  )
export const booleanArray = (values: ReadonlyArray<boolean>) => bindArray(values, PgTypes.OID.bool)

/** A statement with decoded rows. */
export const makeQuery = <S extends Schema.Constraint>(row: S, statement: string) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(row))
  return (sql: PgClient.PgClient, params?: ReadonlyArray<unknown>) =>
    Effect.flatMap(sql.unsafe(statement, params), decode)
}

/** A statement that returns one row, decoded. */
export const makeRowQuery = <S extends Schema.Constraint>(row: S, statement: string) => {
  const decode = Schema.decodeUnknownEffect(row)
  return (sql: PgClient.PgClient, params?: ReadonlyArray<unknown>) =>
    Effect.flatMap(sql.unsafe(statement, params), ([first]) => decode(first))
}

/** Creates the tables if there are none. The URL contains a password, so errors name only host and database. */
export const connect = Effect.fn("PostgresLedger.connect")(function* (url: Redacted.Redacted) {
  const client = PgClient.layer({
    url,
    applicationName: "larder-serve",
    maxConnections,
    keepAlive: "5 seconds"
  })
  return yield* Effect.gen(function* () {
    const context = yield* Layer.build(client)
    const sql = Context.get(context, PgClient.PgClient)
    yield* refuseUnsupported(sql)
    yield* createLedgerTables(sql)
    return sql
  }).pipe(Effect.mapError(databaseUnavailable(`be reached at ${redactedUrl(url)}`)))
})

class UnsupportedDatabase extends Schema.TaggedError<UnsupportedDatabase>()("UnsupportedDatabase", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}

/** Transactions lock accounts and then read what others wrote until then. At a stricter level, such a read fails. */
const refuseUnsupported = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const [settings] = yield* sql.unsafe<{ version: number; isolation: string }>(
    "select current_setting('server_version_num')::integer as version, current_setting('default_transaction_isolation') as isolation"
  )
  if (settings === undefined || settings.version < 140_000) {
    return yield* new UnsupportedDatabase({
      problem: `PostgreSQL 14 or newer is required, and this is ${settings?.version}`
    })
  }
  if (settings.isolation !== "read committed") {
    const problem = `default_transaction_isolation is ${settings.isolation}, and must be read committed for this role or database`
    return yield* new UnsupportedDatabase({ problem })
  }
})

/** The address of the database without its user, password and parameters, for messages. */
export const redactedUrl = (url: Redacted.Redacted) => {
  const { host, pathname } = URL.parse(Redacted.value(url)) ?? { host: "?", pathname: "" }
  return `postgres://${host}${pathname}`
}

export interface SqlStatement {
  readonly query: string
  readonly params?: ReadonlyArray<unknown>
}

export type SendStatements = (
  statements: ReadonlyArray<SqlStatement>
) => Effect.Effect<ReadonlyArray<ReadonlyArray<PgConnection.Row>>, SqlError>

/**
 * The connection on which a server sends its groups, one at a time. Statements that do not depend on each other's
 * results are pipelined. A failure closes the connection and an open transaction; the next group gets a new one.
 */
export const openGroupConnection = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const pool = yield* PgPool.make({ ...sql.config, maxConnections: 1, multiplex: true })
  return <A, E>(work: (send: SendStatements) => Effect.Effect<A, E>): Effect.Effect<A, E | SqlError> =>
    pool.use((connection) => {
      const send: SendStatements = (statements) =>
        Effect.forEach(
          statements,
          ({ params, query }) => Effect.map(connection.query(query, params), ({ rows }) => rows),
          { concurrency: "unbounded" }
        )
      return Effect.onError(work(send), () => pool.invalidate(connection))
    })
})
