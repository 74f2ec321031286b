/**
 * A run's rows on their way into the warehouse: a DuckDB file of the run's own, with the tables of one data set and of
 * `ingest`. It is filled without holding anything, and removed when the run ends.
 */
import { Effect, FileSystem, Path } from "effect"
import { definitions } from "./dictionary.ts"
import { type Cell, DuckDb, type DuckDbError } from "./duckdb.ts"
import { type Layout, writableDirectory } from "./generation/layout.ts"
import type { DataSet, Table } from "./tables.ts"

export interface Staging {
  readonly file: string
  /** Appends records to a table of the data set or of `ingest`, in one transaction. */
  readonly add: <T extends Table>(
    table: T,
    records: ReadonlyArray<Readonly<Record<string, Cell>>>
  ) => Effect.Effect<void, DuckDbError>
  /** For loads that DuckDB does by itself, such as `insert … from read_csv(…)`. */
  readonly db: DuckDb["Service"]
}

/** Files of runs that were killed: whoever can open one read-write is not disturbing a living run. */
const removeAbandoned = Effect.fnUntraced(function* (dir: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const name of yield* fs.readDirectory(dir)) {
    if (!name.endsWith(".duckdb")) continue
    const file = path.join(dir, name)
    const abandoned = yield* Effect.scoped(DuckDb.readWrite(file)).pipe(
      Effect.as(true),
      Effect.catchTag("FileInUse", () => Effect.succeed(false)),
      Effect.catch(() => Effect.succeed(true)) // not even a database: nobody can be using it
    )
    if (abandoned) yield* Effect.all([fs.remove(file, { force: true }), fs.remove(`${file}.wal`, { force: true })])
  }
})

/** Opens a staging file, hands it to `fill`, and closes it again. The file is there until the scope ends. */
export const stage = Effect.fnUntraced(function* <A, E, R>(
  layout: Layout,
  runId: string,
  dataSet: DataSet,
  fill: (staging: Staging) => Effect.Effect<A, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* writableDirectory(layout.staging)
  yield* removeAbandoned(layout.staging)
  const file = yield* Effect.acquireRelease(Effect.succeed(path.join(layout.staging, `${runId}.duckdb`)), (file) =>
    Effect.forEach([file, `${file}.wal`], (left) => Effect.ignore(fs.remove(left, { force: true })), { discard: true })
  )
  const filled = yield* Effect.scoped(
    Effect.gen(function* () {
      const db = yield* DuckDb.readWrite(file)
      yield* Effect.forEach(definitions(dataSet), (sql) => db.run(sql), { discard: true })
      const add: Staging["add"] = (table, records) => {
        const columns = Object.keys(table.record.fields)
        const rows = records.map((record) => columns.map((column) => record[column] ?? null))
        return rows.length === 0 ? Effect.void : db.append(table.schema, table.name, rows)
      }
      const result = yield* fill({ file, add, db })
      yield* db.run("checkpoint")
      return result
    })
  )
  return { file, filled }
})
