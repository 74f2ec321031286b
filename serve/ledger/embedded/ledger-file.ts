/**
 * `$LARDER_HOME/ledger/ledger.sqlite` contains everything that a server without PostgreSQL writes: the ledger and the
 * console's tables. Next to it, `sums.sqlite` contains tables derived from the ledger. One process holds the folder, by
 * a lock that ends with the process. Only their owner can access the folder and the files.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync
} from "node:fs"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { makeFolders } from "@larder/warehouse/cli"
import { Context, Effect, Layer } from "effect"
import {
  consoleTables,
  earlierVersion,
  isBusy,
  isDamaged,
  keepLogShort,
  makeThread,
  openSqlite,
  prepareLayout,
  type Sqlite,
  type Thread
} from "../../persistence/index.ts"
import { LedgerDamaged, LedgerInUse, LedgerUnreadable, toLedgerUnavailable } from "../errors.ts"
import { flushFolder } from "../files.ts"
import { refuseMoved } from "./migration-mark.ts"
import { prepareSums } from "./progress.ts"
import { ledgerTables } from "./tables.ts"

export const ledgerPath = (directory: string) => path.join(directory, "ledger.sqlite")
const sumsPath = (directory: string) => path.join(directory, "sums.sqlite")

const tables = [...ledgerTables, ...consoleTables].join(";\n")

/** Creates the tables of a new file. Returns why the file cannot be used, or undefined. */
export const prepareTables = (sqlite: Sqlite): string | undefined => prepareLayout(sqlite, tables)

const attempt = <A>(action: string, run: () => A) => Effect.try({ try: run, catch: toLedgerUnavailable(action) })
const scopedFile = (open: () => Sqlite) =>
  Effect.acquireRelease(attempt("be opened", open), (sqlite) => Effect.sync(sqlite.close))

const makeFolder = (directory: string): string => {
  const home = path.dirname(directory)
  makeFolders(home) // not private: analysts read the warehouse in it
  if (!existsSync(directory)) {
    mkdirSync(directory, { mode: 0o700 })
    flushFolder(home)
  }
  const folder = realpathSync(directory)
  if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700)
  return folder
}

const lockFolder = Effect.fnUntraced(function* (folder: string) {
  const file = path.join(folder, ".lock")
  yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        // closing an existing file would release the lock that this process may have on it
        if (!existsSync(file)) closeSync(openSync(file, "a", 0o600))
        chmodSync(file, 0o600)
        const connection = new DatabaseSync(file, { timeout: 0 })
        try {
          connection.exec("pragma journal_mode = memory; begin exclusive")
          return connection
        } catch (error) {
          connection.close()
          throw error
        }
      },
      catch: (cause) => (isBusy(cause) ? new LedgerInUse({ file }) : toLedgerUnavailable("be locked")(cause))
    }),
    (connection) => Effect.sync(() => connection.close())
  )
})

/** Refuses a ledger of an earlier version in other files, instead of treating its folder as empty. */
const refuseOldFormat = Effect.fnUntraced(function* (folder: string) {
  const old = readdirSync(folder).find((name) => name === "ledger.duckdb" || /^journal-\d+\.ndjson$/.test(name))
  if (old === undefined) return
  return yield* new LedgerUnreadable({ place: path.join(folder, old), problem: earlierVersion })
})

/** Refuses to create a new file if the file is missing, but its write-ahead log or `sums.sqlite` exists. */
const refuseMissing = Effect.fnUntraced(function* (file: string, sums: string) {
  if (existsSync(file) && statSync(file).size > 0) return
  const leftover = [`${file}-wal`, sums].find((name) => existsSync(name))
  if (leftover !== undefined) {
    return yield* new LedgerDamaged({ place: file, problem: `it is missing or empty, but ${leftover} exists` })
  }
})

interface OpenedFile {
  readonly directory: string
  readonly file: string
  readonly sums: string
  /** Writes the file, and reads the tables in it. */
  readonly sqlite: Sqlite
  /** Reads on this thread, including the derived tables. */
  readonly reading: Sqlite
  /** Runs reads that would delay requests. It writes nothing: see `embedded-console.ts`. */
  readonly thread: Thread
}

const openForReading = (file: string, sums: string): Sqlite => {
  const open = (): Sqlite | undefined => {
    const opened = openSqlite(file, { durability: "normal", sums })
    if (prepareSums(opened)) return opened
    opened.close()
    return undefined
  }
  let opened: Sqlite | undefined
  try {
    opened = open()
  } catch (error) {
    if (!isDamaged(error)) throw error
  }
  if (opened !== undefined) return opened
  for (const name of [sums, `${sums}-wal`, `${sums}-shm`]) rmSync(name, { force: true })
  opened = open()
  if (opened === undefined) throw new Error(`${sums} cannot be rebuilt`)
  return opened
}

/** The migration may open a folder that is marked as being moved to `destination`. */
export const openLedgerFile = Effect.fn("LedgerFile.open")(function* (directory: string, destination?: string) {
  const folder = yield* attempt(`be kept in ${directory}`, () => makeFolder(directory))
  yield* lockFolder(folder)
  yield* refuseMoved(folder, destination)
  yield* refuseOldFormat(folder)
  const [file, sums] = [ledgerPath(folder), sumsPath(folder)]
  yield* refuseMissing(file, sums)
  const sqlite = yield* scopedFile(() => openSqlite(file))
  const problem = yield* attempt("be opened", () => prepareTables(sqlite))
  if (problem !== undefined) return yield* new LedgerUnreadable({ place: file, problem })
  yield* attempt("be opened", () => flushFolder(folder))
  const reading = yield* scopedFile(() => openForReading(file, sums))
  const thread = yield* Effect.acquireRelease(
    Effect.sync(() => makeThread({ file, sums })),
    (thread) => Effect.promise(thread.close)
  )
  const warn = Effect.runForkWith(yield* Effect.context<never>())
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      keepLogShort(sqlite, thread, (cause) =>
        warn(
          Effect.logWarning(
            `${toLedgerUnavailable("shorten its log")(cause).message}. Charges continue and are durable.`
          )
        )
      )
    ),
    (task) => Effect.promise(task.close)
  )
  return { directory: folder, file, sums, sqlite, reading, thread } satisfies OpenedFile
})

export class LedgerFile extends Context.Service<LedgerFile, OpenedFile>()("larder/serve/LedgerFile") {
  static readonly layer = (directory: string) => Layer.effect(LedgerFile, openLedgerFile(directory))
}
