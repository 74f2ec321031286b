/**
 * Writes one ordinary file with all tables, views, macros and comments, for another machine, an older DuckDB or an
 * archive. Rows keep their order. The file refers to no other file.
 */
import { Effect, FileSystem, Path, type PlatformError, Schema } from "effect"
import { causeText, isDiskFull, writeAtomically } from "../disk.ts"
import { DuckDb, type DuckDbError, identifier, literal } from "../duckdb.ts"
import { WarehouseProblem } from "../problem.ts"
import { qualifiedName } from "../tables/dictionary.ts"
import { markAllSamples } from "../tables/sample-marks.ts"
import { attachParts, listSources, type Parts, schemaStatements, viewsAndComments } from "./parts.ts"

/** The oldest version of DuckDB that can read a snapshot. */
const storageVersion = "v1.1.0"
/** Rows are streamed: 2.7 million labels took no longer than with 2 GiB. */
const memoryLimit = "512MiB"

export class SnapshotFailed extends Schema.TaggedError<SnapshotFailed>()("SnapshotFailed", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const [cause = ""] = causeText(this.cause).split("\n")
    const advice = isDiskFull(cause)
      ? "The disk is full: a snapshot needs as much space as all data sets together."
      : "Choose a file in an existing folder that this user can write to."
    return `No snapshot was written to ${this.file}: ${cause}. ${advice} No partial file is left.`
  }
}

const fill = Effect.fnUntraced(function* (file: string, parts: Parts) {
  const db = yield* DuckDb.memory
  yield* attachParts(db, parts)
  const sources = listSources(parts)
  yield* db.run(
    [
      `set memory_limit = ${literal(memoryLimit)}`,
      `set temp_directory = ${literal(`${file}.tmp`)}`,
      "set checkpoint_threshold = '1TB'", // only one checkpoint, at the end
      `attach ${literal(file)} as made (storage_version ${literal(storageVersion)})`,
      "use made",
      ...schemaStatements(parts),
      ...sources.map(({ table }) => table.ddl)
    ].join(";\n")
  )
  for (const source of sources) {
    const name = qualifiedName(source.table)
    yield* db.run(`insert into ${name} from ${identifier(source.file)}.${name}`)
  }
  yield* db.run(["begin", ...viewsAndComments(parts, sources, "table"), "commit"].join("\n;\n"))
  yield* markAllSamples(db)
  yield* db.run("checkpoint made; use memory; detach made")
}, Effect.scoped)

export const writeSnapshot = Effect.fn("snapshot")(function* (to: string, parts: Parts) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.resolve(to)
  const toFailure = (error: DuckDbError | PlatformError.PlatformError) =>
    new SnapshotFailed({ file, cause: error._tag === "DuckDbError" ? error.cause : error })
  const alreadyExists = new WarehouseProblem({
    problem: `${file} already exists, and a snapshot does not replace a file. Remove it, or choose another file name.`
  })
  const requireNew = Effect.mapError(fs.exists(file), toFailure).pipe(
    Effect.flatMap((exists) => (exists ? Effect.fail(alreadyExists) : Effect.void))
  )
  yield* requireNew
  yield* fs.access(path.dirname(file), { writable: true }).pipe(Effect.mapError(toFailure))
  yield* writeAtomically(file, (temporary) => fill(temporary, parts).pipe(Effect.andThen(requireNew))).pipe(
    Effect.catchTag(["DuckDbError", "PlatformError"], (error) => Effect.fail(toFailure(error)))
  )
})
