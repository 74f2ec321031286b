/**
 * Moves an embedded ledger into PostgreSQL, in one transaction. Entries keep their numbers and hashes. The transaction commits only if every account has the same head in the database as in the old
 * ledger, and all data is consistent. A mark in the folder, written before the commit, prevents servers from opening
 * the old ledger and spending the same credits twice.
 */
import { existsSync } from "node:fs"
import type { PgClient } from "@effect/sql-pg"
import { Effect, type Redacted, Schema, Stream } from "effect"
import type { Sqlite } from "../../persistence/index.ts"
import { emptyHead } from "../chain/chain.ts"
import { openEmbeddedStore } from "../embedded/embedded-store.ts"
import { ledgerPath, openLedgerFile } from "../embedded/ledger-file.ts"
import { writeMigrationMark } from "../embedded/migration-mark.ts"
import type { LedgerSnapshot } from "../rules/ledger-state.ts"
import { connect, databaseUnavailable, makeRowQuery, redactedUrl, transact } from "./sql/database.ts"
import { createConsoleTables } from "./sql/postgres-console.ts"
import {
  copyConsoleIntoPostgres,
  copyIntoPostgres,
  findUsedTable,
  insertInto,
  streamRows
} from "./sql/postgres-copy.ts"
import { reversedCredits, spentByMonth, usageOfDay, usageOfEndpoint, usageOfMonth } from "./sql/sums-of-entries.ts"
import { verifyContents } from "./verify-database.ts"

class CannotMove extends Schema.TaggedError<CannotMove>()("CannotMove", { problem: Schema.String }) {
  override get message() {
    return `The ledger was not moved: ${this.problem}`
  }
}

/** Sets the heads of accounts, and the sums and statistics that are derived from the entries. */
const sumStatements = [
  `update ledger.account
  set position = coalesce(newest.position, start.position, 0), balance = coalesce(newest.balance, start.balance, 0),
    hash = coalesce(newest.hash, start.hash, ''), reversed_credits = coalesce(sums.reversed_credits, 0)
  from ledger.account as known
  left join lateral (
    select position, balance, hash from ledger.entry where account_id = known.id order by position desc limit 1
  ) as newest on true
  left join ledger.chain_start as start on start.account_id = known.id
  left join (${reversedCredits}) as sums on sums.account_id = known.id
  where account.id = known.id`,
  `insert into ledger.spent_in_month (key_id, month, credits) ${spentByMonth}`,
  `insert into ledger.usage_of_day (account_id, day, key_id, endpoint, calls, credits) ${usageOfDay}
    order by account_id, day, key_id, endpoint`,
  `insert into ledger.usage_of_month (account_id, month, key_id, endpoint, calls, credits) ${usageOfMonth}
    order by account_id, month, key_id, endpoint`,
  `insert into ledger.usage_of_endpoint (account_id, day, endpoint, calls, credits) ${usageOfEndpoint}`,
  // otherwise PostgreSQL assumes until its own analysis that accounts are small, and sorts all entries for each page
  "analyze ledger.account, ledger.api_key, ledger.entry, ledger.spent_in_month, ledger.usage_of_day, ledger.usage_of_month, ledger.usage_of_endpoint"
]

/** PostgreSQL would begin this itself a minute later, and pages of the console would wait for it. */
const vacuumTables = `
  vacuum (analyze) ledger.entry, ledger.usage_of_day, ledger.usage_of_month, ledger.usage_of_endpoint,
    console.usage_of_status, console.status_of_endpoint, console.request`

/** The next entry gets the number after the copied ones. */
const continueNumbers = "select setval('ledger.entry_sequence_seq', (select max(sequence) from ledger.entry))"

const formatHeads = ({ accounts }: LedgerSnapshot) =>
  accounts.map(({ account: { id }, head: { balance, hash, position } }) => `${id} ${position} ${balance} ${hash}`)

const listEmptyAccounts = ({ accounts }: LedgerSnapshot) =>
  accounts.map(({ account }) => ({ ...account, ...emptyHead, reversed_credits: 0 }))

const readHeads = (sql: PgClient.PgClient) =>
  sql
    .unsafe<{ head: string }>(
      "select id || ' ' || position || ' ' || balance || ' ' || hash as head from ledger.account"
    )
    .pipe(
      Effect.map((rows) => new Set(rows.map(({ head }) => head))),
      Effect.mapError(databaseUnavailable("be read"))
    )

const findDifference = Effect.fnUntraced(function* (sql: PgClient.PgClient, snapshot: LedgerSnapshot) {
  const heads = yield* readHeads(sql)
  const missing = formatHeads(snapshot).filter((head) => !heads.has(head))
  if (missing[0] !== undefined || heads.size !== snapshot.accounts.length) {
    return `the database contains another ledger: it has ${heads.size} ${heads.size === 1 ? "account" : "accounts"}, and ${missing.length} of the ${snapshot.accounts.length} accounts of this one are different or missing there`
  }
  return undefined
})

const copyLedger = Effect.fnUntraced(function* (sql: PgClient.PgClient, snapshot: LedgerSnapshot, sqlite: Sqlite) {
  const copy = <E>(table: string, rows: Stream.Stream<object, E>) => copyIntoPostgres(sql, insertInto(table), rows)
  yield* copy("ledger.account", Stream.fromIterable(listEmptyAccounts(snapshot)))
  yield* copy("ledger.api_key", Stream.fromIterable(snapshot.keys))
  yield* copy("ledger.entry", streamRows(sqlite, "ledger.entry"))
  yield* copy("ledger.chain_start", streamRows(sqlite, "ledger.chain_start"))
  yield* sql.unsafe(continueNumbers)
  for (const statement of sumStatements) yield* sql.unsafe(statement)
})

/** Copies what the console stores. This process has these tables exclusively, like the folder's ledger. */
const copyConsole = Effect.fnUntraced(function* (sql: PgClient.PgClient, sqlite: Sqlite) {
  const usedTable = yield* findUsedTable(sql)
  if (usedTable !== undefined) {
    const problem = `the database has no ledger, but ${usedTable.rows} rows in console.${usedTable.name}; choose an empty database`
    return yield* new CannotMove({ problem })
  }
  if (yield* copyConsoleIntoPostgres(sqlite, sql)) return
  return yield* new CannotMove({ problem: "the console's tables were not copied completely" })
})

const countPeopleAndPayments = makeRowQuery(
  Schema.Struct({ people: Schema.Int, payments: Schema.Int }),
  `
  select (select count(*) from console.person)::integer as people,
    (select count(*) from console.payment)::integer as payments`
)

/** Opening a folder creates a ledger in it. This check leaves a wrong `LARDER_HOME` unchanged. */
const requireLedger = (directory: string) =>
  existsSync(ledgerPath(directory))
    ? Effect.void
    : Effect.fail(new CannotMove({ problem: `there is no ledger in ${directory}. Is LARDER_HOME the right folder?` }))

/**
 * Repeating the move after a crash is safe: a database that already contains this ledger is accepted, and so is the
 * mark. If the commit itself fails, it is unknown what the database contains, and the mark stays.
 */
export const moveToPostgres = Effect.fn("PostgresLedger.migrate")(function* (
  directory: string,
  url: Redacted.Redacted
) {
  const place = redactedUrl(url)
  yield* requireLedger(directory)
  const sql = yield* connect(url)
  const file = yield* openLedgerFile(directory, place)
  const { load } = yield* openEmbeddedStore(file)
  const snapshot = yield* load
  if (snapshot.sequence === 0) return yield* new CannotMove({ problem: `the ledger in ${directory} is empty` })
  yield* createConsoleTables(sql)
  const moved = yield* transact(
    sql,
    Effect.gen(function* () {
      const isEmpty = (yield* readHeads(sql)).size === 0
      if (isEmpty) {
        yield* copyLedger(sql, snapshot, file.sqlite)
        yield* copyConsole(sql, file.sqlite)
      }
      const difference = yield* findDifference(sql, snapshot)
      if (difference !== undefined) return yield* new CannotMove({ problem: difference })
      const { problems, ...totals } = yield* verifyContents(sql)
      if (problems.length > 0) return yield* new CannotMove({ problem: problems.join("; ") })
      yield* writeMigrationMark("moving", directory, place)
      return { ...totals, ...(yield* countPeopleAndPayments(sql)) }
    })
  ).pipe(Effect.catchTag(["SqlError", "SchemaError"], (error) => Effect.fail(databaseUnavailable("be moved")(error))))
  yield* writeMigrationMark("moved", directory, place)
  yield* Effect.catch(sql.unsafe(vacuumTables), (error) =>
    Effect.logInfo(`PostgreSQL will analyze the new tables later, and is slower until then: ${error.message}`)
  )
  return { ...moved, place }
}, Effect.scoped)
