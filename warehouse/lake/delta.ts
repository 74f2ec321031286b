/**
 * The Delta logs of the lake: one for each table, with a version for each generation that changed it. A commit is
 * derived from the catalogue alone, so another process that finishes the snapshot of a killed one writes the same
 * commit.
 */
import { Effect, Option, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"
import { generationId } from "../generation/manifest.ts"
import { ChangedTable, type Column, catalogue, changedTables, columnsByTable, newestSnapshot } from "./ducklake.ts"
import { deltaType, type Node } from "./types.ts"

type Db = DuckDb["Service"]

/** One action of a log, as JSON. */
type Action = Readonly<Record<string, unknown>>

export interface Commit {
  readonly schema: string
  readonly table: string
  readonly version: number
  readonly text: string
  /** At some versions: the whole state of the table, so that readers can skip earlier commits. */
  readonly checkpoint: ReadonlyArray<Action> | undefined
}

/** Number of versions from one checkpoint to the next. */
export const checkpointEvery = 10

export const linesOf = (actions: ReadonlyArray<Action>) =>
  `${actions.map((action) => JSON.stringify(action)).join("\n")}\n`

const File = Schema.Struct({
  id: Schema.BigInt,
  table: Schema.BigInt,
  path: Schema.String,
  rows: Schema.BigInt,
  bytes: Schema.BigInt,
  began: Schema.BigInt,
  ended: Schema.NullOr(Schema.BigInt),
  /** Null if that snapshot has expired. */
  put_at: Schema.NullOr(Schema.BigInt)
})
const files = `
  select data_file_id as id, table_id as "table", path, record_count as rows, file_size_bytes as bytes, begin_snapshot as began,
    end_snapshot as ended, epoch_ms(snapshot_time) as put_at
  from ${catalogue}.ducklake_data_file left join ${catalogue}.ducklake_snapshot on snapshot_id = begin_snapshot`

const Stated = Schema.Struct({
  file: Schema.BigInt,
  column: Schema.BigInt,
  nulls: Schema.NullOr(Schema.BigInt),
  min: Schema.NullOr(Schema.String),
  max: Schema.NullOr(Schema.String),
  has_nan: Schema.NullOr(Schema.Boolean)
})
const statistics = `
  select data_file_id as file, column_id as "column", null_count as nulls, min_value as min, max_value as max, contains_nan as has_nan
  from ${catalogue}.ducklake_file_column_stats`

/** Longer texts are left out: no reader skips a file because of them. */
const longestText = 64

/**
 * A timestamp in whole milliseconds, as Delta has them: a maximum with a finer fraction is rounded up. Undefined for
 * years that a JavaScript date cannot hold.
 */
const moment = (text: string, isMax: boolean) => {
  const [seconds = "", fraction = ""] = text.split(".")
  const at = Date.parse(`${seconds.replace(" ", "T")}.${fraction.slice(0, 3).padEnd(3, "0")}Z`)
  if (Number.isNaN(at)) return undefined
  const later = isMax && Number(fraction.slice(3)) > 0 ? 1 : 0
  return JSON.stringify(new Date(at + later).toISOString().replace("Z", ""))
}

/**
 * A value as JSON; undefined if readers get none. The digits are copied as they are, because a double has too few of
 * them.
 */
const jsonValue = (type: string, text: string, isMax: boolean) => {
  if (/^(int|decimal)/.test(type)) return text
  if (type === "float64") return Number.isFinite(Number(text)) ? text : undefined
  if (type === "date") return JSON.stringify(text)
  if (type === "timestamp") return moment(text, isMax)
  return type === "varchar" && text.length <= longestText ? JSON.stringify(text) : undefined
}

const statisticsText = (rows: bigint, columns: ReadonlyArray<Node>, stated: ReadonlyArray<typeof Stated.Type>) => {
  const [least, most, nulls]: [Array<string>, Array<string>, Array<string>] = [[], [], []]
  for (const { id, name, type } of columns) {
    const found = stated.find(({ column }) => Number(column) === id)
    if (found === undefined) continue
    const key = JSON.stringify(name)
    if (found.nulls !== null) nulls.push(`${key}:${found.nulls}`)
    if (found.min === null || found.max === null || found.has_nan === true) continue
    const [min, max] = [jsonValue(type, found.min, false), jsonValue(type, found.max, true)]
    if (min === undefined || max === undefined) continue
    least.push(`${key}:${min}`)
    most.push(`${key}:${max}`)
  }
  return `{"numRecords":${rows},"minValues":{${least.join(",")}},"maxValues":{${most.join(",")}},"nullCount":{${nulls.join(",")}}}`
}

const hasTimestamp = ({ children, type }: Node): boolean => type === "timestamp" || children.some(hasTimestamp)

const protocolOf = (columns: ReadonlyArray<Node>) =>
  columns.some(hasTimestamp)
    ? { minReaderVersion: 3, minWriterVersion: 7, readerFeatures: ["timestampNtz"], writerFeatures: ["timestampNtz"] }
    : { minReaderVersion: 1, minWriterVersion: 2 }

const metadataOf = ({ comment, name, schema, uuid }: typeof ChangedTable.Type, columns: ReadonlyArray<Column>) => ({
  id: uuid,
  name: `${schema}.${name}`,
  ...(comment === null ? {} : { description: comment }),
  format: { provider: "parquet", options: {} },
  schemaString: JSON.stringify({
    type: "struct",
    fields: columns.map((column) => ({
      name: column.node.name,
      type: deltaType(column.node),
      nullable: true,
      metadata: column.comment === null ? {} : { comment: column.comment }
    }))
  }),
  partitionColumns: [],
  configuration: {}
})

const Made = Schema.Struct({ made_at: Schema.BigInt })

const madeAt = (number: number) =>
  `select epoch_ms(snapshot_time) as made_at from ${catalogue}.ducklake_snapshot where snapshot_id = ${number}`

/** Statistics of the files of some tables, by file id. */
const statisticsOf = Effect.fnUntraced(function* (db: Db, tables: ReadonlyArray<bigint>) {
  const found = yield* db.all(Stated, `${statistics} where table_id in (${[-1, ...tables].join(", ")})`)
  return Map.groupBy(found, ({ file }) => file)
})

/** The commits of the newest snapshot of the catalogue. */
export const commitsOfNewest = Effect.fnUntraced(function* (db: Db) {
  const newest = yield* newestSnapshot(db)
  if (newest === undefined) return []
  const number = Number(newest.snapshot_id)
  const [made] = yield* db.all(Made, madeAt(number))
  const timestamp = Number(made?.made_at ?? 0)
  const tables = yield* db.all(ChangedTable, changedTables(number))
  const columns = yield* columnsByTable(db)
  const ids = tables.map(({ id }) => id)
  const ofTables = yield* db.all(File, `${files} where table_id in (${[-1, ...ids].join(", ")}) order by id`)
  const stated = yield* statisticsOf(db, ids)
  const adding = (nodes: ReadonlyArray<Node>, dataChange: boolean) => (file: typeof File.Type) => ({
    add: {
      path: file.path,
      partitionValues: {},
      size: Number(file.bytes),
      modificationTime: Number(file.put_at ?? timestamp),
      dataChange,
      stats: statisticsText(file.rows, nodes, stated.get(file.id) ?? [])
    }
  })
  const removing = ({ bytes, path }: typeof File.Type) => ({
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
    const its = columns.get(Number(table.id)) ?? []
    const nodes = its.map(({ node }) => node)
    const version = newest.extra.delta_versions[`${table.schema}.${table.name}`] ?? 0
    const ofTable = ofTables.filter((file) => file.table === table.id)
    const live = ofTable.filter(({ ended }) => ended === null)
    const defined = its.length === 0 ? [] : [{ protocol: protocolOf(nodes) }, { metaData: metadataOf(table, its) }]
    const commitInfo = {
      timestamp,
      operation: "WRITE",
      operationParameters: { mode: "Overwrite" },
      engineInfo: "Larder",
      userMetadata: generationId(number)
    }
    const actions = [
      { commitInfo },
      ...(table.is_defined ? defined : []),
      ...ofTable.filter(({ ended }) => Number(ended ?? 0) === number).map(removing),
      ...live.filter(({ began }) => Number(began) === number).map(adding(nodes, true))
    ]
    const isDue = version > 0 && version % checkpointEvery === 0 && its.length > 0
    return {
      schema: table.schema,
      table: table.name,
      version,
      text: linesOf(actions),
      checkpoint: isDue ? [...defined, ...live.map(adding(nodes, false))] : undefined
    }
  })
})

const Said = Schema.Struct({
  commitInfo: Schema.optionalKey(Schema.Struct({ userMetadata: Schema.optionalKey(Schema.String) })),
  add: Schema.optionalKey(Schema.Struct({ path: Schema.String })),
  remove: Schema.optionalKey(Schema.Struct({ path: Schema.String }))
})
const decodeSaid = Schema.decodeUnknownOption(Schema.fromJsonString(Said))

const saidIn = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.stringify(Option.getOrUndefined(decodeSaid(line)) ?? line))
    .filter((said) => said !== "{}") // protocol and metadata, which another version of Larder may write differently
    .sort()
    .join("\n")

/** Whether two commits are of the same generation, and add and remove the same files. */
export const isSameCommit = (a: string, b: string) => saidIn(a) === saidIn(b)

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

/** A query that turns the lines of a checkpoint into the columns that readers expect. */
export const checkpointRows = (file: string) => {
  const columns = Object.entries(checkpointColumns).map(([name, type]) => `${name}: ${literal(type)}`)
  return `from read_json(${literal(file)}, format = 'newline_delimited', columns = {${columns.join(", ")}})`
}
