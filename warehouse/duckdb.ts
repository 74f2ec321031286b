/**
 * DuckDB; no other file imports its driver. A database is opened read-only (a published generation, hardened),
 * read-write (a file that only this process uses) or in memory, and closes with its scope.
 *
 * Either one process opens a file read-write, or any number of processes open it read-only; all others get `FileInUse`.
 * The lock has no effect within one process: two read-write instances on one file lose rows silently, and closing one
 * of two instances releases the lock of both. So a file that must stay locked is opened only once.
 */
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { link, rm } from "node:fs/promises"
import { totalmem } from "node:os"
import {
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBPreparedStatement,
  DuckDBTypeId,
  type DuckDBValue
} from "@duckdb/node-api"
import { Context, Effect, Pool, Schema, type Scope } from "effect"
import { causeText } from "./disk.ts"

export type Params = Record<string, DuckDBValue>
/** A value for the appender. DuckDB casts strings to the column's type. */
export type Cell = string | number | boolean | null
export type Row = Readonly<Record<string, unknown>>

const firstLine = (cause: unknown) => causeText(cause).split("\n")[0]

export class DuckDbError extends Schema.TaggedError<DuckDbError>()("DuckDbError", {
  /** Empty if no statement failed. */
  sql: Schema.String,
  /** What failed, if it was no statement: `append to s.t`. */
  action: Schema.optionalKey(Schema.String),
  cause: Schema.Defect()
}) {
  /** Without the SQL, which only the developers of Larder can use; a statement may begin with its name as a comment. */
  override get message() {
    const [, name = this.action] = /^\s*-- (.+)/.exec(this.sql) ?? []
    return `${firstLine(this.cause)}${name === undefined ? "" : ` (in: ${name})`}`
  }
}

/** Another process has the file open. */
export class FileInUse extends Schema.TaggedError<FileInUse>()("FileInUse", { file: Schema.String }) {
  override get message() {
    return `${this.file} is in use by another process`
  }
}

/** The file exists, but is not a DuckDB database that this version can read. */
export class NotADatabase extends Schema.TaggedError<NotADatabase>()("NotADatabase", {
  file: Schema.String,
  cause: Schema.Defect(),
  /** What to do next, if the caller knows it. */
  advice: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    const { advice = "", cause, file } = this
    return `${file} cannot be opened as a DuckDB database: ${firstLine(cause)?.replace(/[.!]$/, "")}. ${advice}`.trim()
  }
}

export type OpenError = DuckDbError | FileInUse | NotADatabase

const attempt = <A>(action: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new DuckDbError({ sql: "", action, cause }) })

/**
 * Runs one statement. Interrupting the fiber stops the query, and waits for it, so that the connection is free again.
 * DuckDB ignores an interrupt that arrives before the query has started on its thread, so the interrupt is repeated.
 */
const interruptible = <A>(conn: DuckDBConnection, sql: string, run: () => Promise<A>) =>
  Effect.callback<A, DuckDbError>((resume) => {
    const settled = run().then(
      (value) => resume(Effect.succeed(value)),
      (cause) => resume(Effect.fail(new DuckDbError({ sql, cause })))
    )
    return Effect.promise(() => {
      conn.interrupt()
      const timer = setInterval(() => conn.interrupt(), 5)
      return settled.finally(() => clearInterval(timer))
    })
  })

const isInUse = (cause: unknown) => /Could not set lock|used by another process/i.test(String(cause))

/** Converts a failure to open or attach this file to a specific error. */
export const openError = (file: string) => (error: DuckDbError) => {
  if (isInUse(error.cause)) return new FileInUse({ file })
  const damagePattern =
    /not a valid DuckDB database|database does not exist|enough bytes|is a directory|corrupt|version|checksum|serializ/i
  return damagePattern.test(String(error.cause)) ? new NotADatabase({ file, cause: error.cause }) : error
}

const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
/** In bytes. More does not help: larger work is done in parts, or goes through a temporary file. */
const maxMemory = 2 * 2 ** 30
const baseSettings = {
  // DuckDB's default is 80 % of the memory. Two databases are open while a server loads a generation.
  memory_limit: `${Math.floor(Math.min(memory * 0.4, maxMemory) / 2 ** 20)}MiB`,
  // a checkpoint that reuses metadata of the one before can leave a file that DuckDB 1.1 does not open
  experimental_metadata_reuse: "false",
  autoload_known_extensions: "false", // by default a query can make the process download an extension
  autoinstall_known_extensions: "false"
}

const readSettings = { dynamic_or_filter_threshold: "1000" } // otherwise a list of more than 50 keys reads the whole table

const open = (file: string, settings: Record<string, string>): Effect.Effect<DuckDBInstance, OpenError, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(`open ${file}`, () => DuckDBInstance.create(file, { ...baseSettings, ...settings })),
    (db) => Effect.sync(() => db.closeSync())
  ).pipe(Effect.mapError(openError(file)))

/** One instance that creates and locks files without reading them: it takes 18 ms of CPU, an attached file 1 ms. */
let lockConn: Promise<DuckDBConnection> | undefined

/** Attaches a file, which locks it. The caller detaches it with the returned connection. */
const attachAndLock = async (file: string, name: string) => {
  try {
    lockConn ??= DuckDBInstance.create(":memory:", { ...baseSettings, threads: "1" }).then((db) => db.connect())
    const conn = await lockConn
    await conn.run(`attach ${literal(file)} as ${identifier(name)}`)
    return conn
  } catch (error) {
    if (!isInUse(error)) lockConn = undefined // the next call starts a new instance, which has not attached this file
    throw error
  }
}

/**
 * Creates a database atomically. Otherwise a crash or a full disk while DuckDB writes the first blocks would leave a
 * file that can never be opened, and no program could tell whether it may be removed.
 */
const create = (file: string) =>
  attempt(`create ${file}`, async () => {
    const part = `${file}.${randomUUID()}.part`
    try {
      const conn = await attachAndLock(part, part)
      await conn.run(`detach ${identifier(part)}`)
      await link(part, file)
    } catch (error) {
      if (!existsSync(file)) throw error // otherwise another process created it first
    } finally {
      await rm(part, { force: true })
    }
  }).pipe(Effect.uninterruptible)

const createIfMissing = (file: string) => Effect.suspend(() => (existsSync(file) ? Effect.void : create(file)))

const connect = (db: DuckDBInstance) =>
  Effect.acquireRelease(
    attempt("connect", () => db.connect()),
    (conn) => Effect.sync(() => conn.closeSync())
  )

interface Database {
  /** All rows, decoded. */
  all<S extends Schema.Constraint>(
    row: S,
    sql: string,
    params?: Params
  ): Effect.Effect<ReadonlyArray<S["Type"]>, DuckDbError, S["DecodingServices"]>
  /** All rows as JSON values: counts, decimals and times are strings unless the query casts them. */
  rows(sql: string, params?: Params): Effect.Effect<ReadonlyArray<Row>, DuckDbError>
  /** Runs statements, separated by semicolons, and discards their results. A failure leaves no transaction open. */
  run(sql: string): Effect.Effect<void, DuckDbError>
  /** Appends rows to a table in one transaction; cells are in the order of the table's columns. */
  append(schema: string, table: string, rows: ReadonlyArray<ReadonlyArray<Cell>>): Effect.Effect<void, DuckDbError>
}

/**
 * Prepared statements are cached only if the data never changes. DuckDB plans a statement with the table's current
 * statistics and does not plan it again: a `where i > 0` that was prepared on an empty table never finds a row.
 *
 * A query without parameters is not prepared. DuckDB 1.5.5 binds a prepared statement over `read_duckdb`, as in the views of
 * the catalogue, once more when it runs. If its first plan omitted one of the files, that never ends: the file stays
 * attached for the first plan, and DuckDB waits until it is not. A filter on `ingest.freshness` is enough.
 */
const make = Effect.fnUntraced(function* (db: DuckDBInstance, size: number, data: "fixed" | "changing") {
  const pool = yield* Pool.make({
    size,
    acquire: Effect.map(connect(db), (conn) => ({ conn, prepared: new Map<string, DuckDBPreparedStatement>() }))
  })
  const query = (sql: string, params: Params) =>
    Pool.use(pool, ({ conn, prepared }) =>
      interruptible(conn, sql, async () => {
        if (Object.keys(params).length === 0) return await conn.runAndReadAll(sql)
        const statement = prepared.get(sql) ?? (await conn.prepare(sql))
        if (data === "fixed") prepared.set(sql, statement)
        try {
          statement.clearBindings() // bind() keeps earlier values that the new call does not set
          statement.bind(params)
          return await statement.runAndReadAll()
        } finally {
          if (data === "changing") statement.destroySync()
        }
      })
    )
  return DuckDb.of({
    all: (row, sql, params = {}) =>
      query(sql, params).pipe(
        Effect.flatMap((result) => Schema.decodeUnknownEffect(Schema.Array(row))(result.getRowObjectsJS())),
        Effect.catchTag("SchemaError", (error) => Effect.die(error)) // our SQL and our schema disagree: a bug
      ),
    rows: (sql, params = {}) =>
      Effect.map(query(sql, params), (result): ReadonlyArray<Row> => result.getRowObjectsJson()),
    run: (sql) =>
      Pool.use(pool, ({ conn }) =>
        interruptible(conn, sql, () => conn.run(sql)).pipe(Effect.onError(() => rollback(conn)))
      ).pipe(Effect.asVoid),
    append: (schema, table, rows) =>
      Pool.use(pool, ({ conn }) =>
        attempt(`append to ${schema}.${table}`, () => append(conn, schema, table, rows)).pipe(
          Effect.onError(() => rollback(conn)),
          Effect.uninterruptible
        )
      )
  })
})

/** Ignores errors: a failed commit has already ended its transaction. */
const rollback = (conn: DuckDBConnection) => Effect.promise(() => conn.run("rollback").catch(() => {}))

const isWholeNumberType = (type: DuckDBTypeId) => /INT(EGER)?$/.test(DuckDBTypeId[type])

const appendCell = (appender: DuckDBAppender, cell: Cell, column: number) => {
  if (cell === null) appender.appendNull()
  else if (typeof cell === "string") appender.appendVarchar(cell)
  else if (typeof cell === "boolean") appender.appendBoolean(cell)
  else if (Number.isSafeInteger(cell)) appender.appendBigInt(BigInt(cell))
  else if (isWholeNumberType(appender.columnType(column).typeId)) {
    throw new Error(`column ${column + 1} accepts whole numbers, but ${cell} is not one`) // DuckDB would round it
  } else appender.appendDouble(cell)
}

const append = async (
  conn: DuckDBConnection,
  schema: string,
  table: string,
  rows: ReadonlyArray<ReadonlyArray<Cell>>
) => {
  const appender = await conn.createAppender(table, schema)
  await conn.run("begin")
  try {
    for (const row of rows) {
      row.forEach((cell, column) => {
        appendCell(appender, cell, column)
      })
      appender.endRow()
    }
    appender.flushSync() // only in memory: the commit comes later
    await conn.run("commit") // on a worker thread
    appender.closeSync()
  } catch (cause) {
    appender.clear() // otherwise closing would flush the bad rows again
    appender.closeSync()
    throw cause
  }
}

export class DuckDb extends Context.Service<DuckDb, Database>()("larder/warehouse/DuckDb") {
  /** A published generation: read-only, without access to files, network or settings. `file` must not be a link. */
  static readonly readOnly = (file: string) =>
    Effect.flatMap(
      open(file, {
        access_mode: "READ_ONLY",
        enable_external_access: "false",
        lock_configuration: "true",
        ...readSettings
      }),
      (db) => make(db, 4, "fixed")
    )
  /** A published generation, read-only; queries may write files. */
  static readonly readOnlyWithFiles = (file: string) =>
    Effect.flatMap(open(file, { access_mode: "READ_ONLY" }), (db) => make(db, 1, "fixed"))
  /** A file that only this process uses: a staging file, a generation that is being built. */
  static readonly readWrite = (file: string) =>
    createIfMissing(file).pipe(
      Effect.andThen(open(file, {})),
      Effect.flatMap((db) => make(db, 1, "changing"))
    )
  /** Locks a file against other processes until the scope ends, without opening it for queries. */
  static readonly lockFile = (file: string) =>
    Effect.suspend(() => {
      const name = randomUUID()
      const locked = Effect.acquireRelease(
        attempt(`lock ${file}`, () => attachAndLock(file, name)),
        (conn) => Effect.promise(() => conn.run(`detach ${identifier(name)}`))
      )
      return createIfMissing(file).pipe(Effect.andThen(locked), Effect.mapError(openError(file)), Effect.asVoid)
    })
  /** One connection: settings, `use` and transactions persist between calls. */
  static readonly memory = Effect.flatMap(open(":memory:", {}), (db) => make(db, 1, "changing"))
}

/** A string as an SQL literal, for the few places where DuckDB takes no parameter (ATTACH, COMMENT). */
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`
