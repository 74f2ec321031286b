/**
 * A SQLite file that only this process writes, on one connection of the main thread. A transaction runs
 * synchronously, and is on disk when it returns: write-ahead log, `synchronous=full`, one flush per
 * commit. Long work runs in threads with their own connections.
 *
 * The same SQL runs on SQLite and PostgreSQL. A table is named with its schema (`ledger.entry`, `console.person`), which
 * is dropped here: SQLite has one schema per file. Columns declared as `boolean` (0 and 1) are returned as booleans.
 */
import { chmodSync, closeSync, existsSync, openSync } from "node:fs"
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite"

export type SqlCell = string | number | boolean | null
export type SqliteRow = Record<string, SQLOutputValue | boolean>

/** Milliseconds that a statement waits for another connection's write. In the main thread (`full`), this blocks requests. */
const lockTimeout = { full: 1_000, normal: 10_000 }
/** Pages of 4 kB: 16 MB. */
export const longLogPages = 4_000
/** If a long read made the log longer, a reset truncates it to this length. */
const maxLogBytes = 64 * 1024 * 1024
/** Page cache of a connection, in kilobytes. */
const cacheSize = 32_768

const dropSchemas = (sql: string) => sql.replaceAll(/\b(?:console|ledger)\.(?=[a-z_])/g, "")
const toInput = (cell: SqlCell): SQLInputValue => (typeof cell === "boolean" ? Number(cell) : cell)

/**
 * Restricts files to their owner. An existing file is not opened here: closing it would release every lock that this
 * process holds on it, and another process could remove the log as if it were the last user.
 */
const restrictFile = (file: string) => {
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600))
  for (const name of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(name)) chmodSync(name, 0o600)
}

const readErrorCode = (error: unknown) => (error instanceof Error && "errcode" in error ? error.errcode : undefined)
/** Another connection is writing, and nothing was written here. */
export const isBusy = (error: unknown): boolean => readErrorCode(error) === 5
/** A page cannot be read, or the file is not a database. */
export const isDamaged = (error: unknown): error is Error => readErrorCode(error) === 11 || readErrorCode(error) === 26

export interface SqliteOptions {
  /** `full`: a commit is on disk when it returns. `normal`: it reaches the disk with a later flush. */
  readonly durability?: "full" | "normal"
  /** A second file, with tables named `sums.…`. Its commits are never flushed individually. */
  readonly sums?: string | undefined
}

export const openSqlite = (file: string, { durability = "full", sums }: SqliteOptions = {}) => {
  restrictFile(file)
  if (sums !== undefined) restrictFile(sums)
  const db = new DatabaseSync(file, { timeout: lockTimeout[durability], enableForeignKeyConstraints: true })
  // the thread that writes `sums` checkpoints by itself; `checkpoints.ts` does it for the main thread
  db.exec(`pragma journal_mode = wal; pragma synchronous = ${durability}; pragma cache_size = -${cacheSize};
    pragma wal_autocheckpoint = ${sums === undefined ? 0 : longLogPages}; pragma journal_size_limit = ${maxLogBytes}`)
  if (sums !== undefined) {
    db.prepare("attach database ? as sums").run(sums)
    db.exec(`pragma sums.journal_mode = wal; pragma sums.synchronous = normal; pragma sums.cache_size = -${cacheSize};
      pragma sums.journal_size_limit = ${maxLogBytes}`)
  }
  const cache = new Map<string, { readonly statement: StatementSync; readonly booleans: ReadonlyArray<string> }>()
  let commits = 0

  const prepare = (sql: string) => {
    const cached = cache.get(sql)
    if (cached !== undefined) return cached
    const statement = db.prepare(dropSchemas(sql))
    const booleans = statement.columns().flatMap(({ name, type }) => (type === "boolean" ? [name] : []))
    const prepared = { statement, booleans }
    cache.set(sql, prepared)
    return prepared
  }
  const bindParams = (params: ReadonlyArray<SqlCell>) =>
    Object.fromEntries(params.map((cell, index) => [`$${index + 1}`, toInput(cell)]))

  const all = (sql: string, params: ReadonlyArray<SqlCell> = []): ReadonlyArray<SqliteRow> => {
    const { booleans, statement } = prepare(sql)
    const rows = statement.all(bindParams(params))
    if (booleans.length === 0) return rows
    return rows.map((row) => ({
      ...row,
      ...Object.fromEntries(booleans.map((name) => [name, row[name] === null ? null : row[name] === 1]))
    }))
  }

  /** Objects of Node, which have no prototype, take four times as long as arrays. */
  const cells = (sql: string, params: ReadonlyArray<SqlCell> = []): Iterable<ReadonlyArray<SQLOutputValue>> => {
    const statement = db.prepare(dropSchemas(sql))
    statement.setReturnArrays(true)
    return statement.iterate(bindParams(params)) as unknown as Iterable<ReadonlyArray<SQLOutputValue>> // as just set
  }

  const transaction = <A>(begin: string, work: () => A): A => {
    db.exec(begin)
    try {
      const result = work()
      db.exec("commit")
      commits++
      return result
    } catch (error) {
      if (db.isTransaction) db.exec("rollback")
      throw error
    }
  }

  return {
    file,
    sums,
    exec: (sql: string): void => db.exec(dropSchemas(sql)),
    /** For a statement that runs for every row: parameters are `?`. */
    prepare: (sql: string): StatementSync => db.prepare(dropSchemas(sql)),
    all,
    /** For many rows: each as an array of its columns, one at a time, as the file stores them. */
    cells,
    run: (sql: string, params: ReadonlyArray<SqlCell> = []): number => {
      commits++
      return Number(prepare(sql).statement.run(bindParams(params)).changes)
    },
    /** Number of possible commits since the file was opened. */
    commits: (): number => commits,
    /** Commits all of `work` or nothing. `work` must be synchronous. */
    transaction: <A>(work: () => A): A => transaction("begin immediate", work),
    /** The same for `work` that writes only `sums`: writers of the file itself do not wait for it. */
    transactionOfSums: <A>(work: () => A): A => transaction("begin", work),
    /** All reads of `work` see the same snapshot. The log cannot be reset until it returns. */
    inSnapshot: <A>(work: () => A): A => {
      db.exec("begin")
      try {
        return work()
      } finally {
        if (db.isTransaction) db.exec("rollback")
      }
    },
    close: (): void => db.close()
  }
}

export type Sqlite = ReturnType<typeof openSqlite>
