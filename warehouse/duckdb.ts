/**
 * DuckDB, and the only file that imports its driver. A database is opened read-only (a published generation, hardened),
 * read-write (a file that this process alone holds) or in memory, and closed with its scope.
 *
 * One process may hold a file read-write, or any number read-only; everybody else gets `FileInUse`. The lock does not
 * hold inside one process: two read-write instances on one file lose rows silently, so each file is opened once.
 */
import { type DuckDBConnection, DuckDBInstance, type DuckDBPreparedStatement, type DuckDBValue } from "@duckdb/node-api"
import { Context, Effect, Layer, Pool, Schema, type Scope, Stream } from "effect"

export type Params = Record<string, DuckDBValue>
/** What the appender takes: texts are cast to the column's type by DuckDB. */
export type Cell = string | number | boolean | null
export type Row = Record<string, unknown>

const firstLine = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)).split("\n")[0]

export class DuckDbError extends Schema.TaggedError<DuckDbError>()("DuckDbError", {
  sql: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `${firstLine(this.cause)} (in: ${this.sql.trim().slice(0, 160)})`
  }
  /** The disk is full, or the file may not grow further. */
  get isOutOfSpace() {
    return /No space left|File too large|Disk quota/i.test(String(this.cause))
  }
}

/** Another process holds the file. */
export class FileInUse extends Schema.TaggedError<FileInUse>()("FileInUse", { file: Schema.String }) {
  override get message() {
    return `${this.file} is held by another process`
  }
}

/** The file is there and is no DuckDB database that this version reads. */
export class NotADatabase extends Schema.TaggedError<NotADatabase>()("NotADatabase", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `${this.file} cannot be opened as a DuckDB database: ${firstLine(this.cause)}`
  }
}

export type OpenError = DuckDbError | FileInUse | NotADatabase

const attempt = <A>(sql: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new DuckDbError({ sql, cause }) })

/** Runs one statement. An interrupted fiber stops the query and waits until it has stopped, so the connection is free again. */
const interruptible = <A>(conn: DuckDBConnection, sql: string, run: () => Promise<A>) =>
  Effect.callback<A, DuckDbError>((resume) => {
    const settled = run().then(
      (value) => resume(Effect.succeed(value)),
      (cause) => resume(Effect.fail(new DuckDbError({ sql, cause })))
    )
    return Effect.andThen(
      Effect.sync(() => conn.interrupt()),
      Effect.promise(() => settled)
    )
  })

const openError = (file: string) => (error: DuckDbError) => {
  const text = String(error.cause)
  if (/Could not set lock/i.test(text)) return new FileInUse({ file })
  if (/not a valid DuckDB database|corrupt|database file version|checksum|serializ/i.test(text))
    return new NotADatabase({ file, cause: error.cause })
  return error
}

const open = (file: string, options: Record<string, string>): Effect.Effect<DuckDBInstance, OpenError, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(`open ${file}`, () => DuckDBInstance.create(file, { ...offline, ...options })),
    (db) => Effect.sync(() => db.closeSync())
  ).pipe(Effect.mapError(openError(file)))

const connect = (db: DuckDBInstance) =>
  Effect.acquireRelease(
    attempt("connect", () => db.connect()),
    (conn) => Effect.sync(() => conn.closeSync())
  )

/** By default a query can make the process download an extension. Ours cannot. */
const offline = { autoload_known_extensions: "false", autoinstall_known_extensions: "false" }

interface Database {
  /** All rows, decoded. Statements are prepared once per connection. */
  all<S extends Schema.Constraint>(
    row: S,
    sql: string,
    params?: Params
  ): Effect.Effect<ReadonlyArray<S["Type"]>, DuckDbError, S["DecodingServices"]>
  /** All rows as JSON values: counts, decimals and times are texts unless the query casts them. */
  rows(sql: string, params?: Params): Effect.Effect<ReadonlyArray<Row>, DuckDbError>
  /** Rows in chunks of 2,048, for results too large to hold. */
  stream(sql: string): Stream.Stream<Row, DuckDbError>
  /** Runs statements, separated by semicolons, and forgets their results. */
  run(sql: string): Effect.Effect<void, DuckDbError>
  /** Appends rows to a table in one transaction; cells stand in the order of the table's columns. */
  append(schema: string, table: string, rows: ReadonlyArray<ReadonlyArray<Cell>>): Effect.Effect<void, DuckDbError>
  /** Prepares a statement on a connection of its own, for groups that are written over and over. */
  statement(
    sql: string
  ): Effect.Effect<(bind: (statement: DuckDBPreparedStatement) => void) => Promise<void>, DuckDbError, Scope.Scope>
}

const make = Effect.fnUntraced(function* (db: DuckDBInstance, size: number) {
  const pool = yield* Pool.make({
    size,
    acquire: Effect.map(connect(db), (conn) => ({ conn, prepared: new Map<string, DuckDBPreparedStatement>() }))
  })
  const query = (sql: string, params: Params) =>
    Pool.use(pool, ({ conn, prepared }) =>
      interruptible(conn, sql, async () => {
        const statement = prepared.get(sql) ?? (await conn.prepare(sql))
        prepared.set(sql, statement)
        statement.clearBindings() // bind() keeps the values that it is not given
        statement.bind(params)
        return statement.runAndReadAll()
      })
    )
  return DuckDb.of({
    all: (row, sql, params = {}) =>
      query(sql, params).pipe(
        Effect.flatMap((result) => Schema.decodeUnknownEffect(Schema.Array(row))(result.getRowObjectsJS())),
        Effect.catchTag("SchemaError", (error) => Effect.die(error)) // our SQL and our schema disagree: a bug
      ),
    rows: (sql, params = {}) =>
      Effect.map(query(sql, params), (result) => result.getRowObjectsJson() as ReadonlyArray<Row>),
    stream: (sql) =>
      Pool.get(pool).pipe(
        Effect.flatMap(({ conn }) => attempt(sql, () => conn.stream(sql))),
        Effect.map((result) =>
          Stream.fromAsyncIterable(result.yieldRowObjectJson(), (cause) => new DuckDbError({ sql, cause }))
        ),
        Stream.unwrap,
        Stream.flattenIterable
      ) as Stream.Stream<Row, DuckDbError>,
    run: (sql) => Pool.use(pool, ({ conn }) => interruptible(conn, sql, () => conn.run(sql))).pipe(Effect.asVoid),
    append: (schema, table, rows) =>
      Pool.use(pool, ({ conn }) =>
        attempt(`append to ${schema}.${table}`, () => append(conn, schema, table, rows))
      ).pipe(Effect.uninterruptible),
    statement: (sql) =>
      Effect.gen(function* () {
        const conn = yield* connect(db)
        const statement = yield* attempt(sql, () => conn.prepare(sql))
        return async (bind: (statement: DuckDBPreparedStatement) => void) => {
          statement.clearBindings()
          bind(statement)
          await statement.run()
        }
      })
  })
})

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
      for (const cell of row) {
        if (cell === null) appender.appendNull()
        else if (typeof cell === "string") appender.appendVarchar(cell)
        else if (typeof cell === "boolean") appender.appendBoolean(cell)
        else if (Number.isInteger(cell)) appender.appendBigInt(BigInt(cell))
        else appender.appendDouble(cell)
      }
      appender.endRow()
    }
    appender.flushSync() // memory only, because the commit comes later
    await conn.run("commit") // on a worker thread
    appender.closeSync()
  } catch (cause) {
    appender.clear() // else the bad rows are flushed again when it closes
    appender.closeSync()
    await conn.run("rollback").catch(() => {}) // a failed commit has ended the transaction already
    throw cause
  }
}

export class DuckDb extends Context.Service<DuckDb, Database>()("larder/warehouse/DuckDb") {
  /** A published generation: read-only, no files, no network, no settings. `file` is the real file, not the link. */
  static readonly readOnly = (file: string) =>
    Effect.flatMap(
      open(file, {
        access_mode: "READ_ONLY",
        enable_external_access: "false",
        lock_configuration: "true",
        dynamic_or_filter_threshold: "1000" // else a list of more than 50 keys reads the whole table
      }),
      (db) => make(db, 4)
    )
  /** A file that this process alone holds: a staging file, a generation that is being built, the ledger. */
  static readonly readWrite = (file: string) => Effect.flatMap(open(file, {}), (db) => make(db, 1))
  static readonly memory = Effect.flatMap(open(":memory:", {}), (db) => make(db, 4))

  static readonly layerReadOnly = (file: string) => Layer.effect(DuckDb, DuckDb.readOnly(file))
}

/** A text as an SQL literal, for the few places where DuckDB takes no parameter (ATTACH, COMMENT). */
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`
