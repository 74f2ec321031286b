/**
 * A backup of a ledger in PostgreSQL, as it is at one moment: the same DuckDB file that an embedded ledger is and backs up
 * to. What the database says in lines of JSON is taken up like the journal of an embedded ledger, a piece at a time, in a
 * folder beside the target that is its owner's alone.
 */
import { appendFileSync, rmSync } from "node:fs"
import path from "node:path"
import type { PgClient } from "@effect/sql-pg"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema, Stream } from "effect"
import { BackupFailed } from "../administration.ts"
import { Contents, finishBackup, ownFolder, refuseExisting } from "../embedded/backup.ts"
import { define, takeUp } from "../embedded/tables.ts"
import { transact, unavailable } from "./database.ts"

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

const contents = `
  select jsonb_build_object('entries', count(*), 'last', count(*), 'credits', coalesce(sum(credits), 0),
    'accounts', (select count(*) from ledger.account), 'keys', (select count(*) from ledger.api_key)) as value
  from ledger.entry`
const decodeContents = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ value: Contents })]))

const readContents = (sql: PgClient.PgClient) =>
  sql.unsafe(contents).pipe(
    Effect.flatMap(decodeContents),
    Effect.map(([{ value }]) => value),
    Effect.mapError(unavailable("be read"))
  )

/** Copies everything, and answers what it must come to: both are of one moment. */
const copy = Effect.fnUntraced(function* (sql: PgClient.PgClient, file: string, part: string) {
  const failed = (error: { readonly message: string }) => new BackupFailed({ file, problem: error.message })
  const piece = `${part}.ndjson`
  const db = yield* Effect.mapError(DuckDb.readWrite(part), failed)
  yield* Effect.mapError(define(db), failed)
  const takeUpPiece = (some: ReadonlyArray<{ readonly line: string }>) =>
    Effect.try({
      try: () => appendFileSync(piece, `${some.map(({ line }) => line).join("\n")}\n`),
      catch: (cause) => new BackupFailed({ file, problem: String(cause) })
    }).pipe(
      Effect.andThen(Effect.mapError(db.run(takeUp(piece)), failed)),
      Effect.andThen(Effect.sync(() => rmSync(piece)))
    )
  const expected = yield* transact(
    sql,
    Effect.gen(function* () {
      yield* sql.unsafe("set transaction isolation level repeatable read read only")
      for (const query of lines) {
        yield* sql
          .unsafe<{ line: string }>(query)
          .stream.pipe(Stream.grouped(linesAtOnce), Stream.runForEach(takeUpPiece))
      }
      return yield* readContents(sql)
    })
  ).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(unavailable("be read")(error))))
  yield* Effect.mapError(db.run("checkpoint"), failed)
  return expected
}, Effect.scoped)

export const backUp = Effect.fn("PostgresLedger.backup")(function* (sql: PgClient.PgClient, file: string) {
  yield* refuseExisting(file)
  const part = path.join(yield* ownFolder(file), "ledger.duckdb")
  return yield* finishBackup(part, file, yield* copy(sql, file, part))
}, Effect.scoped)
