/** The same sound ledger in both stores: tests tamper with it within a transaction, which is rolled back. */
import type { PgClient } from "@effect/sql-pg"
import { connect, moveToPostgres, openLedgerFile } from "@larder/serve/ledger"
import { type ServerHeads, verifyFile } from "@larder/serve/ledger/embedded/checks/verify-file.ts"
import { readSnapshot } from "@larder/serve/ledger/embedded/opening.ts"
import { updateSums } from "@larder/serve/ledger/embedded/progress.ts"
import { verifyContents } from "@larder/serve/ledger/postgres/verify-database.ts"
import type { Sqlite } from "@larder/serve/persistence"
import { Effect, Redacted, Schema } from "effect"
import { oncePerFile } from "../../support/once-per-file.ts"
import { sampleGroups, temporaryFolder, writeGroups } from "../../support/serve/sample-ledger.ts"
import { database } from "../shared-ledger.ts"

const sampleFolder = Effect.tap(temporaryFolder, (folder) => writeGroups(folder, sampleGroups()))

/** The sample ledger in a new database. */
export const sampleDatabase = Effect.gen(function* () {
  const folder = yield* sampleFolder
  const url = Redacted.make(yield* database)
  yield* moveToPostgres(folder, url)
  return { folder, url, sql: yield* connect(url) }
})

/** Tables are named without their schema, as in SQLite. */
export const runStatements = (sql: PgClient.PgClient, statements: string) =>
  sql.withTransaction(
    Effect.forEach(["set local search_path = ledger", ...statements.split(";")], (statement) => sql.unsafe(statement), {
      discard: true
    })
  )

/** Runs in the open transaction, without beginning its own. */
const inTransaction = (sqlite: Sqlite): Sqlite => ({ ...sqlite, inSnapshot: (work) => work() })

/** Thrown to roll back the changes. */
class Found extends Schema.TaggedError<Found>()("Found", { problems: Schema.Array(Schema.String) }) {}

export type Store = "folder" | "postgres"

/**
 * Returns what a verification finds after some statements. The server over the file still has the state from before in
 * memory. Called once by a test file, for its own ledgers.
 */
export const shareSoundLedgers = () => {
  const soundFile = oncePerFile(
    Effect.gen(function* () {
      const { reading: sqlite } = yield* openLedgerFile(yield* sampleFolder)
      updateSums(sqlite)
      sqlite.exec("pragma foreign_keys = off")
      const { accounts, sequence } = readSnapshot(sqlite, 0)
      const heads = new Map(accounts.map(({ account, head }) => [account.id, head]))
      return { sqlite, server: { sequence, heads } satisfies ServerHeads }
    })
  )
  const soundDatabase = oncePerFile(sampleDatabase)
  return {
    folder: Effect.fnUntraced(function* (statements: string) {
      const { server, sqlite } = yield* soundFile
      return sqlite.inSnapshot(() => {
        sqlite.exec(statements)
        return verifyFile(inTransaction(sqlite), server).problems
      })
    }),
    postgres: Effect.fnUntraced(function* (statements: string) {
      const { sql } = yield* soundDatabase
      const tamper = Effect.gen(function* () {
        yield* runStatements(sql, statements)
        return yield* new Found({ problems: (yield* verifyContents(sql)).problems })
      })
      return (yield* sql.withTransaction(tamper).pipe(Effect.catchTag("Found", Effect.succeed))).problems
    })
  }
}
