/**
 * Writes entries as CSV or Parquet to stdout, or into a DuckDB file, with little memory. DuckDB writes the Parquet from
 * a temporary DuckDB file.
 */
import { createReadStream, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { pipeline } from "node:stream/promises"
import { commentStatements, DuckDb, literal } from "@larder/warehouse"
import { visible } from "@larder/warehouse/cli"
import { Effect, Schema, Stdio, Stream } from "effect"
import { Account, type AccountSummary, Entry, syncDirectory, syncFile } from "../../ledger/index.ts"
import { csvText } from "../../persistence/index.ts"

const columns = Object.keys(Entry.fields) as ReadonlyArray<keyof Entry> // Object.keys loses the types of the names
const rowsAtOnce = 10_000

const temporaryFolder = (parent: string) =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(path.join(parent, "larder-export-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

const cellsOf = (entry: Entry) => columns.map((column) => entry[column])

/** Without formulas, for spreadsheets; without a byte order mark and with `\n` line ends, for programs. */
export const writeCsv = Effect.fnUntraced(function* <E, R>(entries: Stream.Stream<Entry, E, R>) {
  const { stdout, stdoutIsTerminal } = yield* Stdio.Stdio
  const text = csvText(columns, Stream.map(entries, cellsOf), "\n")
  yield* Stream.run((yield* stdoutIsTerminal) ? Stream.map(text, visible) : text, stdout())
})

/** The statements that create a table, with comments from the record's descriptions. */
const tableOf = (name: string, record: Schema.Struct<Schema.Struct.Fields>): ReadonlyArray<string> => {
  const ddl = readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8").trim()
  return [ddl, ...commentStatements({ schema: "main", name, record, ddl }, "table")]
}
const tables = [...tableOf("account", Account), ...tableOf("entry", Entry)].join(";\n")

const fill = Effect.fnUntraced(function* <E, R>(db: DuckDb["Service"], entries: Stream.Stream<Entry, E, R>) {
  yield* db.run(tables)
  yield* entries.pipe(
    Stream.grouped(rowsAtOnce),
    Stream.runForEach((page) => db.append("main", "entry", page.map(cellsOf)))
  )
})

export const writeParquet = <E, R>(entries: Stream.Stream<Entry, E, R>) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder(tmpdir())
    const db = yield* DuckDb.readWrite(path.join(folder, "entries.duckdb"))
    yield* fill(db, entries)
    const file = path.join(folder, "entries.parquet")
    yield* db.run(`copy (from entry order by sequence) to ${literal(file)} (format parquet, compression zstd)`)
    yield* Effect.tryPromise(() => pipeline(createReadStream(file), process.stdout, { end: false }))
  }).pipe(Effect.scoped)

export class FileTaken extends Schema.TaggedError<FileTaken>()("FileTaken", { file: Schema.String }) {
  override get message() {
    return `${this.file} exists already; choose another name`
  }
}

/** Writes accounts and their entries to a new DuckDB file. The file appears complete or not at all. */
export const writeDuckDb = Effect.fn("Export.writeDuckDb")(function* <E, R>(
  file: string,
  accounts: ReadonlyArray<AccountSummary>,
  entries: Stream.Stream<Entry, E, R>
) {
  if (existsSync(file)) return yield* new FileTaken({ file })
  const folder = yield* temporaryFolder(path.dirname(file)) // readable only by its owner
  const part = path.join(folder, "ledger.duckdb")
  yield* Effect.scoped(
    Effect.gen(function* () {
      const db = yield* DuckDb.readWrite(part)
      yield* fill(db, entries)
      const rows = accounts.map(({ created_at, id, name }) => [id, name, created_at])
      yield* db.append("main", "account", rows)
      yield* db.run("checkpoint")
    })
  )
  yield* Effect.try({
    try: () => {
      syncFile(part)
      renameSync(part, file)
      syncDirectory(path.dirname(file))
    },
    catch: (cause) => cause
  })
}, Effect.scoped)
