/**
 * One ordinary file with everything in it, for another machine, an older DuckDB or an archive: tables, views, macros
 * and comments, as of the files from which it is made. Rows keep their order. It refers to no other file.
 */

import { Effect, FileSystem, Path, type PlatformError, Schema } from "effect"
import { isDiskFull, wholeFile } from "../disk.ts"
import { DuckDb, type DuckDbError, identifier, literal } from "../duckdb.ts"
import { nameOf } from "../tables/earlier-versions.ts"
import { markAllSamples } from "../tables/sample-marks.ts"
import { attachParts, createSchemas, describing, type Parts, rowsOf, type Source, sourcesOf } from "./parts.ts"

/** The oldest version of DuckDB that can read a snapshot. */
const storageVersion = "v1.1.0"
/** Rows are streamed: 2.7 million labels took no longer than with 2 GiB. */
const memory = "512MiB"

interface SnapshotOptions extends Parts {
  readonly to: string
}

class SnapshotExists extends Schema.TaggedError<SnapshotExists>()("SnapshotExists", { file: Schema.String }) {
  override get message() {
    return `${this.file} already exists, and a snapshot does not replace a file. Remove it, or name another file.`
  }
}

export class SnapshotFailed extends Schema.TaggedError<SnapshotFailed>()("SnapshotFailed", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const [cause = ""] = (this.cause instanceof Error ? this.cause.message : String(this.cause)).split("\n")
    const advice = isDiskFull(cause)
      ? "The disk is full: a snapshot needs as much space as all data sets together."
      : "Name a file in an existing folder that this user can write to."
    return `No snapshot was written to ${this.file}: ${cause}. ${advice} No partial file is left.`
  }
}

const copyOf = (source: Source) => {
  const name = nameOf(source.table)
  return `insert into ${name} ${rowsOf(source, `${identifier(source.file)}.${name}`)}`
}

const fill = Effect.fnUntraced(function* (part: string, parts: Parts) {
  const db = yield* DuckDb.memory
  yield* attachParts(db, parts)
  const sources = yield* sourcesOf(db, parts)
  yield* db.run(
    [
      `set memory_limit = ${literal(memory)}`,
      `set temp_directory = ${literal(`${part}.tmp`)}`,
      "set checkpoint_threshold = '1TB'", // a single one, at the end
      `attach ${literal(part)} as made (storage_version ${literal(storageVersion)})`,
      "use made",
      ...createSchemas(parts),
      ...sources.map(({ table }) => table.ddl)
    ].join(";\n")
  )
  yield* Effect.forEach(sources, (source) => db.run(copyOf(source)), { discard: true })
  yield* db.run(["begin", ...describing(parts, sources, "table"), "commit"].join("\n;\n"))
  yield* markAllSamples(db)
  yield* db.run("checkpoint made; use memory; detach made")
}, Effect.scoped)

/** Writes everything in these files into a new file. */
export const snapshot = Effect.fn("snapshot")(function* ({ to, ...parts }: SnapshotOptions) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.resolve(to)
  const failed = (error: DuckDbError | PlatformError.PlatformError) =>
    new SnapshotFailed({ file, cause: error._tag === "DuckDbError" ? error.cause : (error.reason.cause ?? error) })
  const isNew = Effect.mapError(fs.exists(file), failed).pipe(
    Effect.flatMap((isThere) => (isThere ? Effect.fail(new SnapshotExists({ file })) : Effect.void))
  )
  yield* isNew
  yield* fs.access(path.dirname(file), { writable: true }).pipe(Effect.mapError(failed))
  yield* wholeFile(file, (part) => fill(part, parts).pipe(Effect.andThen(isNew))).pipe(
    Effect.catchTags({
      DuckDbError: (error) => Effect.fail(failed(error)),
      PlatformError: (error) => Effect.fail(failed(error))
    })
  )
})
