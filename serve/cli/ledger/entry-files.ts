/** Entries as CSV or Parquet on stdout, in little memory: DuckDB writes Parquet from a temporary database. */
import { createReadStream, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { pipeline } from "node:stream/promises"
import { DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { visible } from "@larder/warehouse/terminal.ts"
import { Effect, Stdio, Stream } from "effect"
import { csvText } from "../../csv.ts"
import { define } from "../../ledger/embedded/tables.ts"
import { Entry } from "../../ledger/records.ts"

const columns = Object.keys(Entry.fields) as ReadonlyArray<keyof Entry> // TypeScript forgets the names
const rowsAtOnce = 10_000

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-export-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const cellsOf = (entry: Entry) => columns.map((column) => entry[column])

/** Without formulas, for spreadsheets; without a byte order mark and with `\n`, for programs. */
export const writeCsv = Effect.fnUntraced(function* <E, R>(entries: Stream.Stream<Entry, E, R>) {
  const { stdout, stdoutIsTerminal } = yield* Stdio.Stdio
  const text = csvText(columns, Stream.map(entries, cellsOf), "\n")
  yield* Stream.run((yield* stdoutIsTerminal) ? Stream.map(text, visible) : text, stdout())
})

export const writeParquet = <E, R>(entries: Stream.Stream<Entry, E, R>) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const db = yield* DuckDb.readWrite(path.join(folder, "entries.duckdb"))
    yield* define(db)
    yield* entries.pipe(
      Stream.grouped(rowsAtOnce),
      Stream.runForEach((page) => db.append("main", "entry", page.map(cellsOf)))
    )
    const file = path.join(folder, "entries.parquet")
    yield* db.run(`copy (from entry order by sequence) to ${literal(file)} (format parquet, compression zstd)`)
    yield* Effect.tryPromise(() => pipeline(createReadStream(file), process.stdout, { end: false }))
  }).pipe(Effect.scoped)
