/**
 * Derives the Delta logs of the lake from its catalogue: one for each table, with a version for each generation that
 * changed it. So a process that finishes the snapshot of a killed process writes the same commit.
 */
import { Effect, Option, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"
import { generationId } from "../generation/manifest.ts"
import {
  ChangedTable,
  catalogue,
  type LakeColumn,
  newestSnapshot,
  readTables,
  selectChangedTables,
  tableKey
} from "./ducklake.ts"
import { type LakeField, toDeltaStruct } from "./types.ts"

type Db = DuckDb["Service"]

/** One action of a log, as JSON. */
type Action = Readonly<Record<string, unknown>>

export interface Commit {
  readonly schema: string
  readonly table: string
  readonly version: number
  readonly text: string
  /** The whole state of the table, so that readers can skip earlier commits; undefined at most versions. */
  readonly checkpoint: ReadonlyArray<Action> | undefined
}

/** In versions. */
export const checkpointInterval = 10

export const toJsonLines = (actions: ReadonlyArray<Action>) =>
  `${actions.map((action) => JSON.stringify(action)).join("\n")}\n`

const FileRow = Schema.Struct({
  id: Schema.BigInt,
  table: Schema.BigInt,
  path: Schema.String,
  rows: Schema.BigInt,
  bytes: Schema.BigInt,
  begin_snapshot: Schema.BigInt,
  end_snapshot: Schema.NullOr(Schema.BigInt),
  /** Null if that snapshot has expired. */
  stored_at: Schema.NullOr(Schema.BigInt)
})
const selectFiles = `
  select data_file_id as id, table_id as "table", path, record_count as rows, file_size_bytes as bytes, begin_snapshot,
    end_snapshot, epoch_ms(snapshot_time) as stored_at
  from ${catalogue}.ducklake_data_file left join ${catalogue}.ducklake_snapshot on snapshot_id = begin_snapshot`

const StatisticsRow = Schema.Struct({
  file: Schema.BigInt,
  column: Schema.BigInt,
  nulls: Schema.NullOr(Schema.BigInt),
  min: Schema.NullOr(Schema.String),
  max: Schema.NullOr(Schema.String),
  has_nan: Schema.NullOr(Schema.Boolean)
})
const selectStatistics = `
  select data_file_id as file, column_id as "column", null_count as nulls, min_value as min, max_value as max, contains_nan as has_nan
  from ${catalogue}.ducklake_file_column_stats`

/** Longer strings are omitted: no reader skips a file because of them. */
const maxTextLength = 64

/** In whole milliseconds, as in Delta: a finer maximum is rounded up. Undefined for years beyond a JavaScript date. */
const jsonTimestamp = (text: string, isMax: boolean) => {
  const [seconds = "", fraction = ""] = text.split(".")
  const time = Date.parse(`${seconds.replace(" ", "T")}.${fraction.slice(0, 3).padEnd(3, "0")}Z`)
  if (Number.isNaN(time)) return undefined
  const roundedUp = isMax && Number(fraction.slice(3)) > 0 ? 1 : 0
  return JSON.stringify(new Date(time + roundedUp).toISOString().replace("Z", ""))
}

/** Undefined if the value is omitted. Digits are copied as they are, because a double has too few of them. */
const jsonValue = (type: string, text: string, isMax: boolean) => {
  if (/^(int|decimal)/.test(type)) return text
  if (type === "float64") return Number.isFinite(Number(text)) ? text : undefined
  if (type === "date") return JSON.stringify(text)
  if (type === "timestamp") return jsonTimestamp(text, isMax)
  return type === "varchar" && text.length <= maxTextLength ? JSON.stringify(text) : undefined
}

const statisticsText = (
  rows: bigint,
  fields: ReadonlyArray<LakeField>,
  statistics: ReadonlyArray<typeof StatisticsRow.Type>
) => {
  const [minimums, maximums, nulls]: [Array<string>, Array<string>, Array<string>] = [[], [], []]
  for (const { id, name, type } of fields) {
    const row = statistics.find(({ column }) => Number(column) === id)
    if (row === undefined) continue
    const key = JSON.stringify(name)
    if (row.nulls !== null) nulls.push(`${key}:${row.nulls}`)
    if (row.min === null || row.max === null || row.has_nan === true) continue
    const [min, max] = [jsonValue(type, row.min, false), jsonValue(type, row.max, true)]
    if (min === undefined || max === undefined) continue
    minimums.push(`${key}:${min}`)
    maximums.push(`${key}:${max}`)
  }
  return `{"numRecords":${rows},"minValues":{${minimums.join(",")}},"maxValues":{${maximums.join(",")}},"nullCount":{${nulls.join(",")}}}`
}

const hasTimestamp = ({ children, type }: LakeField): boolean => type === "timestamp" || children.some(hasTimestamp)

const chooseProtocol = (fields: ReadonlyArray<LakeField>) =>
  fields.some(hasTimestamp)
    ? { minReaderVersion: 3, minWriterVersion: 7, readerFeatures: ["timestampNtz"], writerFeatures: ["timestampNtz"] }
    : { minReaderVersion: 1, minWriterVersion: 2 }

const formatMetadata = (
  { comment, name, schema, uuid }: typeof ChangedTable.Type,
  columns: ReadonlyArray<LakeColumn>
) => ({
  id: uuid,
  name: `${schema}.${name}`,
  ...(comment === null ? {} : { description: comment }),
  format: { provider: "parquet", options: {} },
  schemaString: JSON.stringify(toDeltaStruct(columns)),
  partitionColumns: [],
  configuration: {}
})

/** The commits of the newest snapshot of the catalogue. */
export const readNewestCommits = Effect.fnUntraced(function* (db: Db) {
  const newest = yield* newestSnapshot(db)
  if (newest === undefined) return []
  const { extra, number } = newest
  const timestamp = Number(newest.made_at)
  const tables = yield* db.all(ChangedTable, selectChangedTables(number))
  const lakeTables = yield* readTables(db)
  const isInTables = `table_id in (${[-1, ...tables.map(({ id }) => id)].join(", ")})`
  const allFiles = yield* db.all(FileRow, `${selectFiles} where ${isInTables} order by id`)
  const statistics = yield* db.all(StatisticsRow, `${selectStatistics} where ${isInTables}`)
  const statisticsByFile = Map.groupBy(statistics, ({ file }) => file)
  const add = (fields: ReadonlyArray<LakeField>, dataChange: boolean) => (file: typeof FileRow.Type) => ({
    add: {
      path: file.path,
      partitionValues: {},
      size: Number(file.bytes),
      modificationTime: Number(file.stored_at ?? timestamp),
      dataChange,
      stats: statisticsText(file.rows, fields, statisticsByFile.get(file.id) ?? [])
    }
  })
  const remove = ({ bytes, path }: typeof FileRow.Type) => ({
    remove: {
      path,
      deletionTimestamp: timestamp,
      dataChange: true,
      extendedFileMetadata: true,
      partitionValues: {},
      size: Number(bytes)
    }
  })
  return tables.map((table): Commit => {
    const { columns } = lakeTables.get(tableKey(table)) ?? { columns: [] }
    const fields = columns.map(({ field }) => field)
    const version = extra.delta_versions[tableKey(table)] ?? 0
    const files = allFiles.filter((file) => file.table === table.id)
    const live = files.filter(({ end_snapshot }) => end_snapshot === null)
    const definition = table.is_dropped
      ? []
      : [{ protocol: chooseProtocol(fields) }, { metaData: formatMetadata(table, columns) }]
    const commitInfo = {
      timestamp,
      operation: "WRITE",
      operationParameters: { mode: "Overwrite" },
      engineInfo: "Larder",
      userMetadata: generationId(number)
    }
    const actions = [
      { commitInfo },
      ...(table.has_new_definition ? definition : []),
      ...files.filter(({ end_snapshot }) => Number(end_snapshot ?? 0) === number).map(remove),
      ...live.filter(({ begin_snapshot }) => Number(begin_snapshot) === number).map(add(fields, true))
    ]
    const needsCheckpoint = version > 0 && version % checkpointInterval === 0 && !table.is_dropped
    return {
      schema: table.schema,
      table: table.name,
      version,
      text: toJsonLines(actions),
      checkpoint: needsCheckpoint ? [...definition, ...live.map(add(fields, false))] : undefined
    }
  })
})

const CommitAction = Schema.Struct({
  commitInfo: Schema.optionalKey(Schema.Struct({ userMetadata: Schema.optionalKey(Schema.String) })),
  add: Schema.optionalKey(Schema.Struct({ path: Schema.String })),
  remove: Schema.optionalKey(Schema.Struct({ path: Schema.String }))
})
const decodeAction = Schema.decodeUnknownOption(Schema.fromJsonString(CommitAction))

const comparableText = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.stringify(Option.getOrUndefined(decodeAction(line)) ?? line))
    .filter((action) => action !== "{}") // protocol and metadata, which another version of Larder may write differently
    .sort()
    .join("\n")

/** Whether two commits belong to the same generation, and add and remove the same files. */
export const isSameCommit = (a: string, b: string) => comparableText(a) === comparableText(b)

const checkpointColumns = {
  protocol:
    "struct(minReaderVersion integer, minWriterVersion integer, readerFeatures varchar[], writerFeatures varchar[])",
  metaData: `struct(id varchar, name varchar, description varchar, format struct(provider varchar, options map(varchar, varchar)),
    schemaString varchar, partitionColumns varchar[], configuration map(varchar, varchar), createdTime bigint)`,
  add: `struct(path varchar, partitionValues map(varchar, varchar), size bigint, modificationTime bigint, dataChange boolean,
    stats varchar)`,
  remove: "struct(path varchar, deletionTimestamp bigint, dataChange boolean)",
  txn: "struct(appId varchar, version bigint, lastUpdated bigint)"
}

/** Selects the lines of a checkpoint as the columns that readers expect. */
export const selectCheckpoint = (file: string) => {
  const columns = Object.entries(checkpointColumns).map(([name, type]) => `${name}: ${literal(type)}`)
  return `from read_json(${literal(file)}, format = 'newline_delimited', columns = {${columns.join(", ")}})`
}
