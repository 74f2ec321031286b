/**
 * A copy of the ledger as it is at one moment. `ledger.duckdb` is closed while it is copied, so that it is whole and needs
 * no second file; charges go on in the journal meanwhile. The copy is made under another name, flushed, opened and counted
 * before it gets its own name. In an empty folder, under the name `ledger.duckdb`, it is the restored ledger.
 */
import { randomUUID } from "node:crypto"
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync
} from "node:fs"
import path from "node:path"
import { pipeline } from "node:stream/promises"
import { isDeepStrictEqual } from "node:util"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import { BackupFailed } from "../administration.ts"
import { syncDirectory, syncFile } from "../files.ts"
import type { LedgerDatabase } from "./ledger-database.ts"

/** What a copy is counted by. `last` is the number of the last entry. */
export const Contents = Schema.Struct({
  entries: Schema.Int,
  last: Schema.Int,
  credits: Schema.Int,
  accounts: Schema.Int,
  keys: Schema.Int
})
export type Contents = typeof Contents.Type
const nothing: Contents = { entries: 0, last: 0, credits: 0, accounts: 0, keys: 0 }
const contents = `
  select count(*)::double as entries, coalesce(max(sequence), 0)::double as last, coalesce(sum(credits), 0)::double as credits,
    (select count(*) from account)::double as accounts, (select count(*) from api_key)::double as keys
  from entry`

/** Large reads: 1 MB at a time takes the main thread 1 ms a gigabyte. */
const chunk = 1024 * 1024

/** For its owner alone from the first byte on. */
const copy = (from: string, to: string) =>
  pipeline(createReadStream(from, { highWaterMark: chunk }), createWriteStream(to, { flags: "wx", mode: 0o600 }))

const firstLine = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? ""
const attempt = <A>(file: string, run: () => Promise<A> | A) =>
  Effect.tryPromise({
    try: async () => run(),
    catch: (cause) => new BackupFailed({ file, problem: firstLine(cause) })
  })

export const refuseExisting = (file: string) =>
  Effect.suspend(() => {
    if (!path.isAbsolute(file)) return Effect.fail(new BackupFailed({ file, problem: "the path must be absolute" }))
    const problem = "there is a file of this name already; choose another name"
    return existsSync(file) ? Effect.fail(new BackupFailed({ file, problem })) : Effect.void
  })

/** A folder that nobody else can look into: DuckDB makes its files as the process's umask says. */
export const ownFolder = (file: string) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => mkdtempSync(path.join(path.dirname(file), "larder-backup-")),
      catch: (cause) => new BackupFailed({ file, problem: firstLine(cause) })
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

const contentsIn = (part: string, file: string) =>
  DuckDb.readOnly(realpathSync(part)).pipe(
    Effect.flatMap((db) => db.all(Contents, contents)),
    Effect.mapError(({ message }) => new BackupFailed({ file, problem: message })),
    Effect.scoped
  )

/** Flushes a copy, opens and counts it, and gives it its name. Where that fails nothing of it stays. */
export const finishBackup = (part: string, file: string, expected: Contents) =>
  Effect.gen(function* () {
    const [found] = yield* contentsIn(part, file)
    if (!isDeepStrictEqual(found, expected)) {
      return yield* new BackupFailed({ file, problem: "the copy does not hold what the ledger holds" })
    }
    yield* refuseExisting(file)
    const bytes = yield* attempt(file, () => {
      chmodSync(part, 0o600)
      syncFile(part)
      renameSync(part, file)
      syncDirectory(path.dirname(file))
      return statSync(file).size
    })
    return { file, entries: expected.entries, bytes }
  }).pipe(Effect.ensuring(Effect.sync(() => rmSync(part, { force: true }))))

/** Backs up what is in the database, once what is in the journal has been taken up. */
export const backUp = Effect.fn("EmbeddedStore.backup")(function* (
  { file: source, use }: LedgerDatabase,
  file: string
) {
  yield* refuseExisting(file)
  const part = path.join(path.dirname(file), `larder-backup-${randomUUID()}.part`)
  const copied = yield* use((db, close) =>
    Effect.gen(function* () {
      const [original = nothing] = yield* db.all(Contents, contents)
      yield* db.run("checkpoint")
      yield* close
      if (existsSync(`${source}.wal`)) {
        return yield* new BackupFailed({ file, problem: `DuckDB left changes in ${source}.wal; try again` })
      }
      yield* attempt(file, () => copy(source, part))
      return original
    })
  ).pipe(Effect.onError(() => Effect.sync(() => rmSync(part, { force: true }))))
  return yield* finishBackup(part, file, copied)
})
