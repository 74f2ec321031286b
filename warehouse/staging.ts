/**
 * A run's rows on their way into the warehouse: a DuckDB file of the run's own, with the tables of one data set and of
 * `ingest`. It is filled without holding anything, and removed when the run ends.
 */
import { Effect, FileSystem, Path, Scope } from "effect"
import { define } from "./dictionary.ts"
import { DuckDb, type DuckDbError } from "./duckdb.ts"
import { type Layout, writableDirectory } from "./generation/layout.ts"
import { withLock } from "./generation/lock.ts"
import { cellsOf, type DataSet, type Records, type Table } from "./tables.ts"

export interface Staging {
  readonly file: string
  /** Appends records to a table of the data set or of `ingest`, in one transaction. */
  readonly add: (table: Table, records: Records) => Effect.Effect<void, DuckDbError>
  /** For loads that DuckDB does by itself, such as `insert … from read_csv(…)`. */
  readonly db: DuckDb["Service"]
}

/** Files of the runs of this process: the lock of a file does not hold against ourselves. */
const ours = new Set<string>()

/** Whoever can open the file does not disturb a living run. What is no database is used by nobody. */
const isAbandoned = (file: string) =>
  Effect.scoped(DuckDb.readWrite(file)).pipe(
    Effect.as(true),
    Effect.catch((error) => Effect.succeed(error._tag !== "FileInUse"))
  )

/** Removes the files of runs that were killed. */
const removeAbandoned = Effect.fnUntraced(
  function* (dir: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const names = yield* fs.readDirectory(dir)
    const remove = (name: string) => fs.remove(path.join(dir, name), { force: true, recursive: true })
    yield* Effect.forEach(
      names.filter((name) => name.endsWith(".part")),
      remove
    )
    for (const name of names.filter((name) => name.endsWith(".duckdb"))) {
      const file = path.join(dir, name)
      if (ours.has(file) || !(yield* isAbandoned(file))) continue
      const beside = names.filter((other) => other.startsWith(`${name}.`)) // .wal, .tmp
      yield* Effect.forEach([...beside, name], remove)
    }
  },
  Effect.catch((error) => Effect.logWarning(`what a killed run left cannot be removed: ${error.message}`))
)

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
  const file = path.join(layout.staging, `${runId}.duckdb`)
  yield* Effect.acquireRelease(
    Effect.sync(() => ours.add(file)),
    () =>
      Effect.forEach([`${file}.wal`, `${file}.tmp`, file], (left) =>
        Effect.ignore(fs.remove(left, { force: true, recursive: true }))
      ).pipe(Effect.andThen(Effect.sync(() => ours.delete(file))))
  )
  const filled = yield* Effect.scoped(
    Effect.gen(function* () {
      // Under a lock, or another run could take the file for abandoned before it is held.
      const opened = Effect.andThen(removeAbandoned(layout.staging), DuckDb.readWrite(file))
      const scope = yield* Effect.scope
      const db = yield* withLock(layout.stagingLock, Scope.provide(opened, scope))
      yield* define(db, dataSet)
      const add: Staging["add"] = (table, records) =>
        records.length === 0 ? Effect.void : db.append(table.schema, table.name, cellsOf(table, records))
      const result = yield* fill({ file, add, db })
      yield* db.run("checkpoint")
      return result
    })
  )
  return { file, filled }
})
