/**
 * The Delta log of a table, as Larder writes it: a commit for each generation that changed the table's data set. A commit
 * has its own actions only, and none but `commitInfo` if rows and definition are those of the version before. `replay`
 * makes the state of a table from the actions of a checkpoint and of the commits since.
 */
import { randomUUID } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import { Option, Schema } from "effect"
import { generationId, type Manifest } from "../generation/manifest.ts"
import type { LakeFile } from "./files.ts"
import type { LakeTable } from "./generation-tables.ts"
import { rowsName, sha256In } from "./names.ts"
import { toDeltaField } from "./types.ts"

/** How long other programs may read a file after it was removed, and a version after it was replaced. */
export const deletedFileDays = 7
export const logDays = 30
export const checkpointInterval = 10

/** The fields that Larder reads; the others are passed on. */
const having = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, Schema.Unknown)])

const CommitInfo = having({
  userMetadata: Schema.String.check(Schema.isPattern(/^larder-\d{6,}$/)),
  larder: Schema.Struct({
    /** The id of the generation's manifest. */
    manifest: Schema.String,
    part: Schema.String
  })
})
const MetaData = having({ id: Schema.String, createdTime: Schema.Int, schemaString: Schema.String })
/** `path` begins with the version that adds it, so no name is used twice. */
const Added = having({ path: Schema.String })
/** A tombstone: other programs may still read the file. */
const Removed = having({ path: Schema.String, deletionTimestamp: Schema.Int })

const Action = Schema.Struct({
  commitInfo: Schema.optionalKey(CommitInfo),
  metaData: Schema.optionalKey(MetaData),
  remove: Schema.optionalKey(Removed),
  add: Schema.optionalKey(Added)
})
export type Action = typeof Action.Type
const decodeActions = Schema.decodeUnknownOption(Schema.Array(Schema.fromJsonString(Action)))

/** The state of a table. Files are keyed by their path. */
export interface Version {
  readonly number: number
  readonly info: typeof CommitInfo.Type
  readonly metaData: typeof MetaData.Type
  readonly files: ReadonlyMap<string, typeof Added.Type>
  readonly removed: ReadonlyMap<string, typeof Removed.Type>
}

export const generationOf = ({ info }: Version) => Number(info.userMetadata.replace(/^larder-/, ""))

/** Undefined if this version of Larder did not write the lines. */
export const parseActions = (lines: ReadonlyArray<string>) => Option.getOrUndefined(decodeActions(lines))
/** Applies the actions that follow a version, in order. Undefined if they do not name a generation, or define no table. */
export const replay = (
  last: Version | undefined,
  number: number,
  actions: ReadonlyArray<Action>
): Version | undefined => {
  let [info, metaData] = [last?.info, last?.metaData]
  const [files, removed] = [new Map(last?.files), new Map(last?.removed)]
  for (const action of actions) {
    info = action.commitInfo ?? info
    metaData = action.metaData ?? metaData
    if (action.add !== undefined) files.set(action.add.path, action.add)
    if (action.remove === undefined) continue
    files.delete(action.remove.path)
    removed.set(action.remove.path, action.remove)
  }
  return info && metaData && { number, info, metaData, files, removed }
}

/** Readers need a feature for times without a zone. */
const protocolOf = ({ schemaString }: typeof MetaData.Type) =>
  schemaString.includes('"timestamp_ntz"')
    ? { minReaderVersion: 3, minWriterVersion: 7, readerFeatures: ["timestampNtz"], writerFeatures: ["timestampNtz"] }
    : { minReaderVersion: 1, minWriterVersion: 2 }

/** The lines of a commit or a checkpoint. A definition follows the protocol that it requires. */
export const formatActions = (actions: ReadonlyArray<Action>) =>
  actions
    .flatMap((action) => (action.metaData ? [{ protocol: protocolOf(action.metaData) }, action] : [action]))
    .map((action) => `${JSON.stringify(action)}\n`)
    .join("")

const describe = ({ columns, comment, name, schema }: LakeTable) => ({
  name: `${schema}.${name}`,
  ...(comment === null ? {} : { description: comment }),
  format: { provider: "parquet", options: {} },
  schemaString: JSON.stringify({
    type: "struct",
    fields: columns.map((column) => toDeltaField(column.name, column.type, column.comment))
  }),
  partitionColumns: [],
  configuration: {
    "delta.deletedFileRetentionDuration": `interval ${deletedFileDays} days`,
    "delta.logRetentionDuration": `interval ${logDays} days`,
    "delta.checkpointInterval": String(checkpointInterval)
  }
})

interface Change {
  readonly manifest: Manifest
  readonly table: LakeTable
  readonly files: ReadonlyArray<LakeFile>
  /** Now, in milliseconds. */
  readonly timestamp: number
}

/** The commit that follows a version, and the new files in it under their names in the lake. */
export const nextCommit = (last: Version | undefined, { files, manifest, table, timestamp }: Change) => {
  const number = (last?.number ?? -1) + 1
  const metaData = {
    id: last?.metaData.id ?? randomUUID(),
    createdTime: last?.metaData.createdTime ?? timestamp,
    ...describe(table)
  }
  const wanted = new Map(files.map((file) => [file.object.sha256, file]))
  const before = new Map([...(last?.files.keys() ?? [])].map((path) => [sha256In(path), path]))
  const added = [...wanted.values()]
    .filter(({ object }) => !before.has(object.sha256))
    .map((file) => ({ path: rowsName(number, file.object), file }))
  const actions: ReadonlyArray<Action> = [
    {
      commitInfo: {
        timestamp,
        operation: "WRITE",
        operationParameters: { mode: "Overwrite" },
        engineInfo: "Larder",
        txnId: randomUUID(), // a writer that reads its own id back has written the version
        userMetadata: generationId(manifest.number),
        larder: { manifest: manifest.id, part: table.part }
      }
    },
    ...(isDeepStrictEqual(metaData, last?.metaData) ? [] : [{ metaData }]),
    ...[...before].flatMap(([sha256, path]) =>
      wanted.has(sha256) ? [] : [{ remove: { path, deletionTimestamp: timestamp, dataChange: true } }]
    ),
    ...added.map(({ file: { object, stats }, path }) => ({
      add: { path, partitionValues: {}, size: object.bytes, modificationTime: timestamp, dataChange: true, stats }
    }))
  ]
  return { number, actions, added }
}
