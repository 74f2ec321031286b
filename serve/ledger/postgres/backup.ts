/**
 * A backup of a ledger in PostgreSQL, as it is at one moment: the same DuckDB file that an embedded ledger is and backs up
 * to. What the database says in lines of JSON is taken up like the journal of an embedded ledger, a piece at a time.
 */
import { randomUUID } from "node:crypto"
import { appendFileSync, rmSync } from "node:fs"
import path from "node:path"
import type { PgClient } from "@effect/sql-pg"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Stream } from "effect"
import { BackupFailed } from "../administration.ts"
import { finishBackup, refuseExisting } from "../embedded/backup.ts"
import { definitions, takeUp } from "../embedded/tables.ts"
import { unavailable } from "./database.ts"

/** Some 200 MB of lines, and of memory while they are taken up. */
const linesAtOnce = 500_000

/** Numbers without gaps, as an embedded ledger has them; the order of writing stays. */
const lines = [
  `select jsonb_build_object('account', jsonb_build_object('id', id, 'name', name,
    'created_at', ledger.moment_of(created_at)))::text as line
  from ledger.account order by created_at, id`,
  `select jsonb_build_object('api_key', to_jsonb(key) || jsonb_build_object(
    'created_at', ledger.moment_of(created_at), 'revoked_at', ledger.moment_of(revoked_at)))::text as line
  from ledger.api_key as key order by created_at, id`,
  `select (to_jsonb(entry) || jsonb_build_object('occurred_at', ledger.moment_of(occurred_at),
    'sequence', row_number() over (order by sequence)))::text as line
  from ledger.entry order by sequence`
]

export const backUp = Effect.fn("PostgresLedger.backup")(function* (sql: PgClient.PgClient, file: string) {
  yield* refuseExisting(file)
  const part = path.join(path.dirname(file), `larder-backup-${randomUUID()}.part`)
  const piece = `${part}.ndjson`
  const failed = (error: { readonly message: string }) => new BackupFailed({ file, problem: error.message })
  const remove = (name: string) => Effect.sync(() => rmSync(name, { force: true }))

  yield* Effect.gen(function* () {
    const db = yield* Effect.mapError(DuckDb.readWrite(part), failed)
    yield* Effect.mapError(db.run(definitions.join(";\n")), failed)
    const takeUpPiece = (some: ReadonlyArray<{ readonly line: string }>) =>
      Effect.try({
        try: () => appendFileSync(piece, `${some.map(({ line }) => line).join("\n")}\n`, { mode: 0o600 }),
        catch: (cause) => new BackupFailed({ file, problem: String(cause) })
      }).pipe(Effect.andThen(Effect.mapError(db.run(takeUp(piece)), failed)), Effect.andThen(remove(piece)))
    yield* sql
      .withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe("set transaction isolation level repeatable read read only")
          for (const query of lines) {
            yield* sql
              .unsafe<{ line: string }>(query)
              .stream.pipe(Stream.grouped(linesAtOnce), Stream.runForEach(takeUpPiece))
          }
        })
      )
      .pipe(Effect.catchTag("SqlError", (error) => Effect.fail(unavailable("be read")(error))))
    yield* Effect.mapError(db.run("checkpoint"), failed)
  }).pipe(
    Effect.scoped,
    Effect.onError(() => Effect.andThen(remove(part), remove(`${part}.wal`))),
    Effect.ensuring(remove(piece))
  )
  return yield* finishBackup(part, file)
})
