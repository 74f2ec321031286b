/**
 * The tables and functions in the schema `ledger` of a PostgreSQL database: made once, by whoever comes first. The rules
 * that several servers must keep together are functions there, one file each; a group of calls is one of them.
 */
import { readFileSync } from "node:fs"
import { Effect, Schedule } from "effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { asOutage } from "./outages.ts"
import { moneyOut, usageOfEndpoint, usageOfMonth } from "./sums-of-entries.ts"

const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8")

const run = (statements: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  )

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

const create = [
  ...tables.map((name) => read(`./tables/${name}.sql`)),
  ...functions.map((name) => read(`./functions/${name}.sql`))
]

/**
 * A balance may be below 0, by as much as money went out of its account, and pages of a statement without charges are found
 * by an index. Written for tables of the first version; a new database has almost all of it already. 10 million entries take
 * 12 seconds, in which calls through servers of the first version are refused.
 */
const coverBalances = [
  "alter table ledger.entry drop constraint if exists entry_balance_check",
  "alter table ledger.account drop constraint if exists account_balance_check",
  "alter table ledger.account add column if not exists money_out bigint not null default 0",
  "create index if not exists entry_but_charge on ledger.entry (account_id, position) where type <> 'charge'",
  `update ledger.account set money_out = sums.money_out from (${moneyOut}) as sums where id = account_id`,
  "alter table ledger.account drop constraint if exists account_is_covered",
  "alter table ledger.account add constraint account_is_covered check (balance + money_out >= 0)",
  read("./functions/book.sql")
]

/**
 * Usage of months and endpoints is summed up, which a page of a year needs. A group locks its accounts before it calls the
 * function that books: so one that waits here books into the sums, too. 330,000 rows of usage take two seconds: calls
 * through running servers wait for one or two, and are refused then, for five seconds more.
 */
const sumUsage = [
  "lock table ledger.account in exclusive mode",
  read("./tables/usage_of_month.sql"),
  read("./tables/usage_of_endpoint.sql"),
  `insert into ledger.usage_of_month (account_id, month, key_id, endpoint, calls, credits) ${usageOfMonth}
    order by account_id, month, key_id, endpoint`,
  `insert into ledger.usage_of_endpoint (account_id, day, endpoint, calls, credits) ${usageOfEndpoint}`,
  read("./functions/book.sql")
]

/** Two servers that start at once on a new database get in each other's way; the second one finds the work done. */
export const prepareSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe("create schema if not exists ledger")
  const loader = Migrator.fromRecord({
    "0001_ledger": run(create),
    "0002_covered_balances": run(coverBalances),
    "0003_summed_usage": run(sumUsage)
  })
  yield* Migrator.make({})({ loader, table: "ledger.migration" })
}).pipe(asOutage, Effect.retry({ times: 20, schedule: Schedule.spaced("100 millis") }))
