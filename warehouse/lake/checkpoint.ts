/** Checkpoints of a log: Parquet files with the state of a table, with which readers skip earlier commits. */
import { writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect, Schema } from "effect"
import type { Depot } from "../depot/depot.ts"
import { type DuckDb, literal } from "../duckdb.ts"
import { identifyFile } from "../generation/parts.ts"
import { receive } from "../generation/pull-parts.ts"
import { attemptWrite, toWriteError } from "./files.ts"
import { type Action, formatActions, parseActions, type Version } from "./log.ts"
import { checkpointName, lastCheckpointName } from "./names.ts"

const columns = {
  protocol:
    "struct(minReaderVersion integer, minWriterVersion integer, readerFeatures varchar[], writerFeatures varchar[])",
  metaData: `struct(id varchar, name varchar, description varchar, format struct(provider varchar, options map(varchar, varchar)),
    schemaString varchar, partitionColumns varchar[], configuration map(varchar, varchar), createdTime bigint)`,
  add: `struct(path varchar, partitionValues map(varchar, varchar), size bigint, modificationTime bigint, dataChange boolean,
    stats varchar)`,
  remove: "struct(path varchar, deletionTimestamp bigint, dataChange boolean)",
  txn: "struct(appId varchar, version bigint, lastUpdated bigint)"
}

/** A file that was removed before `deletedBefore` is deleted: a checkpoint does not list it. */
export const toActions = ({ files, metaData, removed }: Version, deletedBefore: number): ReadonlyArray<Action> => [
  { metaData },
  ...[...removed.values()]
    .filter(({ deletionTimestamp }) => deletionTimestamp >= deletedBefore)
    .map((remove) => ({ remove })),
  ...[...files.values()].map((add) => ({ add: { ...add, dataChange: false } }))
]

/** Stores a checkpoint, and the hint by which readers find it. */
export const putCheckpoint = Effect.fnUntraced(function* (
  depot: Depot,
  db: DuckDb["Service"],
  table: string,
  version: Version,
  deletedBefore: number,
  folder: string
) {
  const lines = path.join(folder, `${table}.json`)
  const file = path.join(folder, `${table}.checkpoint.parquet`)
  const text = formatActions(toActions(version, deletedBefore))
  yield* attemptWrite(lines, () => writeFile(lines, text))
  const types = Object.entries(columns).map(([name, type]) => `${name}: ${literal(type)}`)
  yield* db
    .run(
      `copy (from read_json(${literal(lines)}, format = 'newline_delimited', columns = {${types.join(", ")}})) to ${literal(file)} (format parquet)`
    )
    .pipe(Effect.mapError(toWriteError(file)))
  yield* depot.putFile(checkpointName(table, version.number), yield* identifyFile(file), file)
  const size = text.split("\n").length - 1
  yield* depot.putHint(lastCheckpointName(table), JSON.stringify({ version: version.number, size }))
})

const Line = Schema.Struct({ line: Schema.String })

/** The actions of a checkpoint; undefined if it is damaged, or this version of Larder did not write it. */
export const readCheckpoint = Effect.fnUntraced(function* (
  depot: Depot,
  db: DuckDb["Service"],
  table: string,
  version: number,
  folder: string
) {
  const file = path.join(folder, `${table}.last.parquet`)
  yield* receive(depot, checkpointName(table, version), Number.POSITIVE_INFINITY, file)
  const withoutNulls = "json_merge_patch('{}'::json, to_json(row))"
  return yield* db
    .all(
      Line,
      `select ${withoutNulls}::varchar as line from (select metaData, remove, "add" from ${literal(file)}) row`
    )
    .pipe(
      Effect.map((rows) => parseActions(rows.map(({ line }) => line))),
      Effect.catch(() => Effect.succeed(undefined))
    )
})
