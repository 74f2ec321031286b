/** The tables of the schema `ledger` in PostgreSQL, one file each. The first server or command creates them. */
import { readFileSync } from "node:fs"
import { Effect, Schedule } from "effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { failOnOutage } from "./outages.ts"
import { recordingInLedger } from "./recording.ts"

const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8")

const run = (statements: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  )

const tables = [
  "account",
  "api_key",
  "entry",
  "expiring_grant",
  "record",
  "head",
  "spent_in_month",
  "usage_of_day",
  "usage_of_month",
  "usage_of_endpoint",
  "server",
  "holding",
  "slice"
]

const indexes = [
  "create index entry_but_charge on ledger.entry (account_id, position) where type <> 'charge'", // pages without charges
  "create index key_replaced on ledger.api_key (former_sha256) where former_sha256 is not null",
  "create index grant_left on ledger.expiring_grant (expires_at) where credits_left > 0",
  "create unique index entry_sequence on ledger.entry (sequence)", // the order of the chain
  "create index account_asked on ledger.account (leased_by) where lease_asked"
]

const insertHead = "insert into ledger.head values ('ledger', 0, 0, 0, '')"

/** Two servers that start together on a new database conflict; the second one retries, and finds the work done. */
export const prepareSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe("create schema if not exists ledger")
  const create = [...tables.map((name) => read(`./tables/${name}.sql`)), ...indexes, ...recordingInLedger, insertHead]
  const loader = Migrator.fromRecord({ "0001_ledger": run(create) })
  yield* Migrator.make({})({ loader, table: "ledger.migration" })
}).pipe(failOnOutage, Effect.retry({ times: 20, schedule: Schedule.spaced("100 millis") }))
