/**
 * A consistent snapshot of the ledger and the console's tables in PostgreSQL, as the SQLite file that a server without
 * PostgreSQL writes. It is made in a folder next to the target, readable only by its owner.
 */
import { rmSync } from "node:fs"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { ConsoleUnavailable, openSqlite, type Sqlite } from "../../persistence/index.ts"
import { BackupFailed } from "../administration.ts"
import type { ChainHead } from "../chain/chain.ts"
import { Account, ApiKey, Entry } from "../chain/records.ts"
import { checkTarget, finishBackup, makeFolderNextTo } from "../embedded/backup.ts"
import { ledgerPath, prepareTables } from "../embedded/ledger-file.ts"
import { prepareGroupWrite } from "../embedded/write-group.ts"
import type { Group } from "../rules/ledger-state.ts"
import { databaseUnavailable, transact } from "./sql/database.ts"
import { createConsoleTables } from "./sql/postgres-console.ts"
import { copyConsoleIntoFile, copyIntoFile } from "./sql/postgres-copy.ts"
import { accountRow, entryRow, keyRow } from "./sql/sql-expressions.ts"

const selectAccounts = `
  select ${accountRow} as value from ledger.account order by created_at, id`
const selectKeys = `
  select ${keyRow} as value from ledger.api_key as key order by created_at, id`
/** Numbers the entries without gaps, as a file does, after the archived ones. The write order stays the same. */
const selectEntries = `
  select ${entryRow} || jsonb_build_object('sequence', row_number() over (order by sequence)
    + (select coalesce(sum(position), 0) from ledger.chain_start)::bigint) as value
  from ledger.entry order by sequence`
const selectStarts = "select account_id, position::float8, balance::float8, hash from ledger.chain_start"

const emptyGroup: Group = { accounts: [], keys: [], entries: [] }

const decodeAccount = Schema.decodeUnknownSync(Account)
const decodeKey = Schema.decodeUnknownSync(ApiKey)
const decodeEntry = Schema.decodeUnknownSync(Entry)

const copyLedger = Effect.fnUntraced(function* (sql: PgClient.PgClient, sqlite: Sqlite) {
  const write = prepareGroupWrite(sqlite)
  const copy = (query: string, decodeGroup: (row: unknown) => Partial<Group>) =>
    copyIntoFile(sql, sqlite, query, ({ value }: { readonly value: unknown }) =>
      write({ ...emptyGroup, ...decodeGroup(value) })
    )
  yield* copy(selectAccounts, (row) => ({ accounts: [decodeAccount(row)] }))
  yield* copy(selectKeys, (row) => ({ keys: [decodeKey(row)] }))
  yield* copy(selectEntries, (row) => ({ entries: [decodeEntry(row)] }))
  const insertStart = sqlite.prepare(
    "insert into ledger.chain_start (account_id, position, balance, hash) values (?, ?, ?, ?)"
  )
  yield* copyIntoFile(
    sql,
    sqlite,
    selectStarts,
    ({ account_id, balance, hash, position }: ChainHead & { readonly account_id: string }) =>
      insertStart.run(account_id, position, balance, hash)
  )
})

const copySnapshot = (sql: PgClient.PgClient, sqlite: Sqlite) =>
  transact(
    sql,
    Effect.gen(function* () {
      yield* sql.unsafe("set transaction isolation level repeatable read read only")
      yield* copyLedger(sql, sqlite)
      yield* copyConsoleIntoFile(sql, sqlite)
    })
  )

export const backUpDatabase = Effect.fn("PostgresLedger.backup")(function* (sql: PgClient.PgClient, file: string) {
  yield* checkTarget(file)
  const toError = (cause: unknown) => {
    const { message } = cause instanceof ConsoleUnavailable ? cause : databaseUnavailable("be read")(cause)
    return new BackupFailed({ file, problem: message })
  }
  const folder = yield* Effect.acquireRelease(
    Effect.try({ try: () => makeFolderNextTo(file), catch: toError }),
    (created) => Effect.sync(() => rmSync(created, { recursive: true, force: true }))
  )
  yield* Effect.mapError(createConsoleTables(sql), toError)
  const unfinished = ledgerPath(folder)
  const fill = Effect.gen(function* () {
    const sqlite = yield* Effect.acquireRelease(
      Effect.sync(() => openSqlite(unfinished, { durability: "normal" })),
      (opened) => Effect.sync(opened.close)
    )
    // a partial copy is useless, so it needs no log: for 3 million rows it would take 10 GB
    yield* Effect.sync(() => sqlite.exec("pragma journal_mode = off; pragma synchronous = off"))
    yield* Effect.sync(() => prepareTables(sqlite))
    yield* copySnapshot(sql, sqlite)
  })
  yield* Effect.mapError(Effect.scoped(fill), toError)
  return yield* Effect.try({ try: () => finishBackup(unfinished, file), catch: toError })
}, Effect.scoped)
