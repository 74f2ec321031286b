/** Writes a stream of entries in little memory: as CSV or Parquet to stdout, or into a DuckDB file. */
import { createReadStream, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { pipeline } from "node:stream/promises"
import { commentStatements, DuckDb, literal } from "@larder/warehouse"
import { visible } from "@larder/warehouse/cli"
import { Effect, Schema, Stdio, Stream } from "effect"
import { Account, type AccountSummary, Entry, flushFile, flushFolder } from "../../ledger/index.ts"
import { streamCsv } from "../../persistence/index.ts"

const columns = Object.keys(Entry.fields) as ReadonlyArray<keyof Entry> // Object.keys loses the types of the names
const rowsPerAppend = 10_000

const makeTemporaryFolder = (parent: string) =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(path.join(parent, "larder-export-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

const toCells = (entry: Entry) => columns.map((column) => entry[column])

/** Prefixes values that spreadsheets would run as formulas. There is no byte order mark; lines end with `\n`. */
export const writeCsv = Effect.fnUntraced(function* <E, R>(entries: Stream.Stream<Entry, E, R>) {
  const { stdout, stdoutIsTerminal } = yield* Stdio.Stdio
  const text = streamCsv(columns, Stream.map(entries, toCells), "\n")
  yield* Stream.run((yield* stdoutIsTerminal) ? Stream.map(text, visible) : text, stdout())
})

/** The statements that create a table, with comments from the record's descriptions. */
const createTableSql = (name: string, record: Schema.Struct<Schema.Struct.Fields>): ReadonlyArray<string> => {
  const ddl = readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8").trim()
  return [ddl, ...commentStatements({ schema: "main", name, record, ddl }, "table")]
}
const createTablesSql = [...createTableSql("account", Account), ...createTableSql("entry", Entry)].join(";\n")

const insertEntries = Effect.fnUntraced(function* <E, R>(db: DuckDb["Service"], entries: Stream.Stream<Entry, E, R>) {
  yield* db.run(createTablesSql)
  yield* entries.pipe(
    Stream.grouped(rowsPerAppend),
    Stream.runForEach((page) => db.append("main", "entry", page.map(toCells)))
  )
})

export const writeParquet = <E, R>(entries: Stream.Stream<Entry, E, R>) =>
  Effect.gen(function* () {
    const folder = yield* makeTemporaryFolder(tmpdir())
    const db = yield* DuckDb.readWrite(path.join(folder, "entries.duckdb"))
    yield* insertEntries(db, entries)
    const file = path.join(folder, "entries.parquet")
    yield* db.run(`copy (from entry order by sequence) to ${literal(file)} (format parquet, compression zstd)`)
    yield* Effect.tryPromise(() => pipeline(createReadStream(file), process.stdout, { end: false }))
  }).pipe(Effect.scoped)

class FileExists extends Schema.TaggedError<FileExists>()("FileExists", { file: Schema.String }) {
  override get message() {
    return `${this.file} already exists; choose another name`
  }
}

/** Writes accounts and their entries to a new DuckDB file. The file appears complete or not at all. */
export const writeDuckDb = Effect.fn("Export.writeDuckDb")(function* <E, R>(
  file: string,
  accounts: ReadonlyArray<AccountSummary>,
  entries: Stream.Stream<Entry, E, R>
) {
  if (existsSync(file)) return yield* new FileExists({ file })
  const folder = yield* makeTemporaryFolder(path.dirname(file)) // readable only by its owner
  const unfinished = path.join(folder, "ledger.duckdb")
  yield* Effect.scoped(
    Effect.gen(function* () {
      const db = yield* DuckDb.readWrite(unfinished)
      yield* insertEntries(db, entries)
      const rows = accounts.map(({ created_at, id, name, suspended_at }) => [id, name, created_at, suspended_at])
      yield* db.append("main", "account", rows)
      yield* db.run("checkpoint")
    })
  )
  yield* Effect.try({
    try: () => {
      flushFile(unfinished)
      renameSync(unfinished, file)
      flushFolder(path.dirname(file))
    },
    catch: (cause) => cause
  })
}, Effect.scoped)
