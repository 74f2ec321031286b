/**
 * The tables and functions in the schema `ledger` of a PostgreSQL database: made once, by whoever comes first. The rules
 * that several servers must keep together are functions there, one file each; a group of calls is one of them.
 */
import { readFileSync } from "node:fs"
import { Effect, Schedule } from "effect"
import { Migrator, SqlClient } from "effect/sql"

const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8")

/** In the order in which they need each other. */
const tables = ["account", "api_key", "entry", "spent_in_month", "usage_of_day", "server", "holding"]
const functions = [
  "month_of",
  "moment_of",
  "chain_link",
  "chain",
  "fields_of",
  "book",
  "admit",
  "take_group",
  "join_servers",
  "forget_silent_servers"
]

const create = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const name of tables) yield* sql.unsafe(read(`./tables/${name}.sql`))
  for (const name of functions) yield* sql.unsafe(read(`./functions/${name}.sql`))
})

/** Two servers that start at once on a new database get in each other's way; the second one finds the work done. */
export const prepareSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe("create schema if not exists ledger")
  yield* Migrator.make({})({ loader: Migrator.fromRecord({ "0001_ledger": create }), table: "ledger.migration" })
}).pipe(Effect.retry({ times: 20, schedule: Schedule.spaced("100 millis") }))
