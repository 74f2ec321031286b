/** Creates databases on a PostgreSQL server. */
import { randomBytes } from "node:crypto"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"

const secret = () => randomBytes(12).toString("hex")

/** Runs statements without parameters, each in its own transaction. */
const runStatements = (url: string, ...statements: ReadonlyArray<string>) =>
  PgClient.PgClient.use((sql) => Effect.forEach(statements, (statement) => sql.unsafe(statement))).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.runPromise
  )

/**
 * Creates an empty database on the server with this superuser's URL, and returns its URL. It belongs to a new role without
 * privileges, as on hosted servers.
 */
export const newDatabase = async (url: string): Promise<string> => {
  const name = `larder_${secret()}`
  const password = secret()
  // names and password are hexadecimal digits
  await runStatements(url, `create role ${name} login password '${password}'`, `create database ${name} owner ${name}`)
  const database = new URL(url)
  database.username = name
  database.password = password
  database.pathname = name
  return database.href
}

/** Databases that tests have returned, by server. */
const freeDatabases = new Map<string, Array<string>>()

/**
 * The same, until the scope ends: then the database is emptied for the next test, which takes a fifth of the time of a new
 * one. Tests that alter the role or the database, or work as superuser, need a new one.
 */
export const pooledDatabase = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => freeDatabases.get(url)?.pop() ?? newDatabase(url)),
    (database) =>
      Effect.promise(async () => {
        await runStatements(
          database,
          "select pg_terminate_backend(pid) from pg_stat_activity where usename = user and pid <> pg_backend_pid()",
          "drop owned by current_user cascade"
        )
        freeDatabases.set(url, [...(freeDatabases.get(url) ?? []), database])
      })
  )
