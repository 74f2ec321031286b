/**
 * The Delta log of a table, as Larder writes it: one version for each generation that changed the table. Each version is
 * complete. It adds all files of the table, also those that stay (with `dataChange: false`), and its `commitInfo` lists
 * the removed files that are not deleted yet. So the newest version alone tells the state of a table, for the next
 * version, for a checkpoint and for the deletion of files.
 */
import { randomUUID } from "node:crypto"
import { Option, Schema } from "effect"
import { generationId, type Manifest } from "../generation/manifest.ts"
import type { LakeFile } from "./files.ts"
import type { GenerationTable } from "./generation-tables.ts"
import { toDeltaField } from "./types.ts"

/** How long other programs may read a file after it was removed, and a version after it was replaced. */
export const deletedFileDays = 7
export const logDays = 30
export const checkpointInterval = 10

/** A file in the lake, or on its way there. `path` begins with the version that adds it, so no name is used twice. */
const Added = Schema.Struct({
  path: Schema.String,
  partitionValues: Schema.Record(Schema.String, Schema.String),
  size: Schema.Int,
  modificationTime: Schema.Int,
  dataChange: Schema.Boolean,
  stats: Schema.String
})
type Added = typeof Added.Type
/** `version` is the one that removed it. */
const Removed = Schema.Struct({
  path: Schema.String,
  size: Schema.Int,
  deletionTimestamp: Schema.Int,
  version: Schema.Int
})

const MetaData = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  format: Schema.Struct({ provider: Schema.String, options: Schema.Record(Schema.String, Schema.String) }),
  schemaString: Schema.String,
  partitionColumns: Schema.Array(Schema.String),
  configuration: Schema.Record(Schema.String, Schema.String),
  createdTime: Schema.Int
})
type MetaData = typeof MetaData.Type

const GenerationId = Schema.String.check(Schema.isPattern(/^larder-\d{6,}$/))
const CommitInfo = Schema.Struct({
  timestamp: Schema.Int,
  operation: Schema.String,
  operationParameters: Schema.Record(Schema.String, Schema.String),
  engineInfo: Schema.String,
  /** Random. A writer that reads its own id back has written the version. */
  txnId: Schema.String,
  userMetadata: GenerationId,
  larder: Schema.Struct({
    /** The id of the generation's manifest. */
    manifest: Schema.String,
    /** Null for a table that the generation does not have. */
    part: Schema.NullOr(Schema.String),
    /** Files that earlier versions have, and that are not deleted yet. */
    removed: Schema.Array(Removed)
  })
})

const Action = Schema.fromJsonString(
  Schema.Struct({
    commitInfo: Schema.optionalKey(CommitInfo),
    metaData: Schema.optionalKey(MetaData),
    add: Schema.optionalKey(Added)
  })
)
const decodeActions = Schema.decodeUnknownOption(Schema.Array(Action))

export interface Version {
  readonly number: number
  readonly info: typeof CommitInfo.Type
  readonly metaData: MetaData
  readonly files: ReadonlyArray<Added>
}

export const generationOf = ({ info }: Version) => Number(info.userMetadata.replace(/^larder-/, ""))

/** Whether another machine may still add a version with rows that the rollback has undone. */
export const isBeforeRollback = (version: Version, { rolledBackIn }: GenerationTable) =>
  generationOf(version) < rolledBackIn

/** Undefined if this version of Larder did not write the text. */
export const parseVersion = (number: number, text: string): Version | undefined => {
  const actions = Option.getOrElse(decodeActions(text.trim().split("\n")), () => [])
  const info = actions.find(({ commitInfo }) => commitInfo !== undefined)?.commitInfo
  const metaData = actions.find((action) => action.metaData !== undefined)?.metaData
  if (info === undefined || metaData === undefined) return undefined
  return { number, info, metaData, files: actions.flatMap(({ add }) => (add === undefined ? [] : [add])) }
}

/** Readers need a feature for times without a zone. */
const protocolOf = ({ schemaString }: MetaData) =>
  schemaString.includes('"timestamp_ntz"')
    ? { minReaderVersion: 3, minWriterVersion: 7, readerFeatures: ["timestampNtz"], writerFeatures: ["timestampNtz"] }
    : { minReaderVersion: 1, minWriterVersion: 2 }

const toRemove = ({ deletionTimestamp, path, size }: typeof Removed.Type) => ({
  remove: { path, deletionTimestamp, dataChange: true, extendedFileMetadata: true, partitionValues: {}, size }
})

const toLines = (actions: ReadonlyArray<object>) => `${actions.map((action) => JSON.stringify(action)).join("\n")}\n`

export const formatCommit = ({ files, info, metaData, number }: Version) =>
  toLines([
    { commitInfo: info },
    { protocol: protocolOf(metaData) },
    { metaData },
    ...info.larder.removed.filter(({ version }) => version === number).map(toRemove),
    ...files.map((add) => ({ add }))
  ])

/** The lines of a checkpoint, with which readers skip earlier versions. */
export const formatCheckpoint = ({ files, info, metaData }: Version) =>
  toLines([
    { protocol: protocolOf(metaData) },
    { metaData },
    ...info.larder.removed.map(toRemove),
    ...files.map((add) => ({ add: { ...add, dataChange: false } }))
  ])

const describe = ({ columns, comment, name, schema }: GenerationTable) => ({
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

const isSameDefinition = (a: Omit<MetaData, "id" | "createdTime">, b: Omit<MetaData, "id" | "createdTime">) =>
  a.schemaString === b.schemaString &&
  a.description === b.description &&
  JSON.stringify(a.configuration) === JSON.stringify(b.configuration)

const pathOf = (version: number, { object }: LakeFile) =>
  `${String(version).padStart(20, "0")}-${object.sha256}.parquet`
const sha256In = (path: string) => path.slice(21, 85)

interface Change {
  readonly manifest: Manifest
  /** Undefined for a table that the generation does not have: it loses its rows, and keeps its definition. */
  readonly table: GenerationTable | undefined
  readonly files: ReadonlyArray<LakeFile>
  /** Now, in milliseconds. */
  readonly timestamp: number
  /** Files that were removed before this time are, or will be, deleted. */
  readonly deletedBefore: number
}

/**
 * The next version of a table, and the new files in it under their names in the lake. Undefined if it would have the same
 * rows and the same definition as the last one, unless that is older than a rollback.
 */
export const nextVersion = (
  last: Version | undefined,
  { deletedBefore, files, manifest, table, timestamp }: Change
) => {
  const number = (last?.number ?? -1) + 1
  const definition = table === undefined ? last?.metaData : describe(table)
  if (definition === undefined) return undefined
  const wanted = new Map(files.map((file) => [file.object.sha256, file]))
  const before = new Map(last?.files.map((add) => [sha256In(add.path), add]))
  const removed = [...before].flatMap(([sha256, { path, size }]) =>
    wanted.has(sha256) ? [] : [{ path, size, deletionTimestamp: timestamp, version: number }]
  )
  const added = [...wanted.values()].filter(({ object }) => !before.has(object.sha256))
  const hasSameRows = removed.length === 0 && added.length === 0
  const isCurrent = last !== undefined && (table === undefined || !isBeforeRollback(last, table))
  if (isCurrent && hasSameRows && isSameDefinition(last.metaData, definition)) return undefined
  const version: Version = {
    number,
    info: {
      timestamp,
      operation: "WRITE",
      operationParameters: { mode: "Overwrite" },
      engineInfo: "Larder",
      txnId: randomUUID(),
      userMetadata: generationId(manifest.number),
      larder: {
        manifest: manifest.id,
        part: table?.part ?? null,
        removed: [
          ...(last?.info.larder.removed ?? []).filter(({ deletionTimestamp }) => deletionTimestamp >= deletedBefore),
          ...removed
        ]
      }
    },
    metaData: {
      id: last?.metaData.id ?? randomUUID(),
      createdTime: last?.metaData.createdTime ?? timestamp,
      ...definition
    },
    files: [
      ...[...before.values()]
        .filter(({ path }) => wanted.has(sha256In(path)))
        .map((add) => ({ ...add, dataChange: false })),
      ...added.map((file) => ({
        path: pathOf(number, file),
        partitionValues: {},
        size: file.object.bytes,
        modificationTime: timestamp,
        dataChange: true,
        stats: file.stats
      }))
    ]
  }
  return { version, added: added.map((file) => ({ path: pathOf(number, file), file })) }
}
