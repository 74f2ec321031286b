/** Databases of one's own on a PostgreSQL server. */
import { randomBytes } from "node:crypto"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"

const secret = () => randomBytes(12).toString("hex")

/**
 * The URL of a new empty database on the server with this superuser's URL. It belongs to a role of its own without any
 * privilege: that is what hosted servers give.
 */
export const newDatabase = async (url: string): Promise<string> => {
  const name = `larder_${secret()}`
  const password = secret()
  await Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    // These two statements take no parameters; names and password are hexadecimal digits.
    yield* sql.unsafe(`create role ${name} login password '${password}'`)
    yield* sql.unsafe(`create database ${name} owner ${name}`)
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })), Effect.runPromise)
  const database = new URL(url)
  database.username = name
  database.password = password
  database.pathname = name
  return database.href
}
