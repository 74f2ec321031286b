/**
 * Writes the Parquet files of a table, sorted by its key. Their bytes depend on the rows alone, so unchanged rows are
 * recognised by the SHA-256 of their file. A large history is split by month, so most of its files stay the same.
 */
import { mkdir } from "node:fs/promises"
import path from "node:path"
import { Effect, Schema } from "effect"
import type { ObjectId } from "../depot/depot.ts"
import { FileOperationFailed, fileOperation } from "../disk.ts"
import { type DuckDb, type DuckDbError, identifier, literal } from "../duckdb.ts"
import { identifyFile } from "../generation/parts.ts"
import { qualifiedName } from "../tables/dictionary.ts"
import type { LakeTable } from "./generation-tables.ts"
import { ColumnStatistics, formatStatistics } from "./statistics.ts"

/** Tables with more rows are split by month, if they have a date column. */
const maxUnsplitRows = 1_000_000
/** As DuckDB estimates it before compression: on the disk, a file has about a quarter of this. */
const maxFileSize = "1GB"

const Written = Schema.Struct({
  filename: Schema.String,
  count: Schema.NumberFromString,
  column_statistics: ColumnStatistics
})
const decodeWritten = Schema.decodeUnknownSync(Schema.Array(Written))

export interface LakeFile {
  readonly file: string
  readonly object: ObjectId
  /** As JSON, for the log. */
  readonly stats: string
}

const [problem, consequence] = ["cannot be written", ""]
export const attemptWrite = fileOperation(problem, consequence)
/** The same error for a file that DuckDB writes, without the SQL. */
export const toWriteError =
  (file: string) =>
  ({ cause }: DuckDbError) =>
    new FileOperationFailed({ file, problem, cause, consequence })

const Count = Schema.Struct({ count: Schema.Int })
const Month = Schema.Struct({ month: Schema.NullOr(Schema.String) })

/** Conditions that divide the rows into files: one for all rows, or one for each month. */
const listFileConditions = Effect.fnUntraced(function* (db: DuckDb["Service"], table: LakeTable) {
  const rows = qualifiedName(table)
  const [{ count } = { count: 0 }] = yield* db.all(Count, `select count(*)::double as count from ${rows}`)
  if (count === 0) return []
  if (table.dateColumn === undefined || count <= maxUnsplitRows) return [""]
  const month = `date_trunc('month', ${identifier(table.dateColumn)})::date::varchar`
  const months = yield* db.all(Month, `select distinct ${month} as month from ${rows} order by month nulls first`)
  return months.map((row) => `where ${month} is not distinct from ${row.month === null ? "null" : literal(row.month)}`)
})

/** Writes the rows of a table into a folder that does not exist yet. Without rows it writes no file. */
export const writeFiles = Effect.fnUntraced(function* (db: DuckDb["Service"], table: LakeTable, folder: string) {
  const columns = table.columns.map(({ name, type }) => {
    const column = identifier(name)
    return type === "JSON" ? `${column}::varchar as ${column}` : column
  })
  const order = table.key.length === 0 ? "all" : table.key.map(identifier).join(", ")
  const lakeFiles: Array<LakeFile> = []
  yield* attemptWrite(folder, () => mkdir(folder, { recursive: true }))
  yield* db.run("set threads = 1") // with more, the same rows sometimes give different bytes
  for (const [index, condition] of (yield* listFileConditions(db, table)).entries()) {
    const target = path.join(folder, String(index))
    const files = yield* db
      .rows(
        `copy (select ${columns.join(", ")} from ${qualifiedName(table)} ${condition} order by ${order}) to ${literal(target)}
         (format parquet, compression zstd, file_size_bytes '${maxFileSize}', return_stats)`
      )
      .pipe(Effect.mapError(toWriteError(target)))
    for (const { column_statistics, count, filename } of decodeWritten(files)) {
      lakeFiles.push({
        file: filename,
        object: yield* identifyFile(filename),
        stats: formatStatistics(count, table.columns, column_statistics)
      })
    }
  }
  return lakeFiles
})
