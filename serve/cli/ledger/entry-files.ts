/** Entries as CSV or Parquet on stdout. DuckDB writes both, from a temporary database, so that memory stays small. */
import { createReadStream, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { pipeline } from "node:stream/promises"
import { DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { Effect, Stream } from "effect"
import { define } from "../../ledger/embedded/tables.ts"
import { Entry } from "../../ledger/records.ts"

const columns = Object.keys(Entry.fields) as ReadonlyArray<keyof Entry> // TypeScript forgets the names
const rowsAtOnce = 10_000

const formats = {
  csv: `(format csv, header, timestampformat '%Y-%m-%dT%H:%M:%S.%gZ')`,
  parquet: "(format parquet, compression zstd)"
}

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-export-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export const writeTable = <E, R>(entries: Stream.Stream<Entry, E, R>, format: keyof typeof formats) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const db = yield* DuckDb.readWrite(path.join(folder, "entries.duckdb"))
    yield* define(db)
    yield* entries.pipe(
      Stream.grouped(rowsAtOnce),
      Stream.runForEach((page) =>
        db.append(
          "main",
          "entry",
          page.map((entry) => columns.map((column) => entry[column]))
        )
      )
    )
    const file = path.join(folder, `entries.${format}`)
    yield* db.run(`copy (from entry order by sequence) to ${literal(file)} ${formats[format]}`)
    yield* Effect.tryPromise(() => pipeline(createReadStream(file), process.stdout, { end: false }))
  }).pipe(Effect.scoped)
