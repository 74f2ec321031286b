/** The connections of a server to the PostgreSQL database of the ledger, array parameters, and the meaning of errors. */
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { toLedgerUnavailable } from "../../errors.ts"
import { databaseCause, NoResponse } from "./failures.ts"
import { createLedgerTables, failOnOutage, isOtherLayout } from "./schema.ts"

/** Milliseconds in which a connection is opened, statements are answered, and a call that was read gets its outcome. */
export const maxWait = 5_000

/** For operators, exports, checks and refunds. Calls use separate connections. */
const maxConnections = 5

export const databaseUnavailable = (action: string) => (cause: unknown) =>
  toLedgerUnavailable(action)(databaseCause(cause))

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
  }).pipe(
    Effect.mapError((error) => {
      const isUnsuitable = error instanceof UnsupportedDatabase || isOtherLayout(error)
      return databaseUnavailable(`be ${isUnsuitable ? "used" : "reached"} at ${redactedUrl(url)}`)(error)
    })
  )
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

export type UseConnection = <A, E>(
  work: (send: SendStatements) => Effect.Effect<A, E>
) => Effect.Effect<A, E | SqlError>

/**
 * A connection of a server for its calls, for one work at a time. Statements that do not depend on each other's results
 * are pipelined. A failure closes the connection and an open transaction; the next work gets a new one.
 */
export const openCallConnection = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const pool = yield* PgPool.make({ ...sql.config, maxConnections: 1, multiplex: true, connectTimeout: maxWait })
  const use: UseConnection = (work) =>
    pool.use((connection) => {
      const send: SendStatements = (statements) =>
        Effect.forEach(
          statements,
          ({ params, query }) => Effect.map(connection.query(query, params), ({ rows }) => rows),
          { concurrency: "unbounded" }
        )
      return Effect.onError(work(send), () => pool.invalidate(connection))
    })
  return use
})

/**
 * Abandons work that takes too long, because callers wait for it: a lost connection may not be detected for minutes. Also
 * abandons it when `givenUp` fires. The database may still complete it.
 */
export const runWithDeadline = <A>(start: (signal: AbortSignal) => Promise<A>, givenUp?: AbortSignal): Promise<A> => {
  const { promise, reject, resolve } = Promise.withResolvers<A>()
  const controller = new AbortController()
  const abandon = (cause: unknown) => {
    reject(cause)
    controller.abort()
  }
  const giveUp = () => abandon(givenUp?.reason)
  givenUp?.addEventListener("abort", giveUp)
  const timer = setTimeout(() => abandon(new NoResponse(`no response within ${maxWait / 1_000} seconds`)), maxWait)
  start(controller.signal)
    .then(resolve, reject)
    .finally(() => {
      clearTimeout(timer)
      givenUp?.removeEventListener("abort", giveUp)
    })
  return promise
}
