/**
 * Writes the Parquet files of a table, sorted by its key. Their bytes depend on the rows alone, so unchanged rows result
 * in the existing file. A large history is split by month, so most of its files stay the same.
 */
import { mkdir } from "node:fs/promises"
import path from "node:path"
import { Effect, Schema } from "effect"
import type { ObjectId } from "../depot/depot.ts"
import { type DuckDb, identifier, literal } from "../duckdb.ts"
import { identifyFile } from "../generation/parts.ts"
import type { Table } from "../tables/tables.ts"
import type { LakeField } from "./types.ts"

/** Tables with more rows are split by month, if they have a date column. */
const maxUnsplitRows = 1_000_000
/** As DuckDB estimates it before compression: on the disk, a file has about a quarter of this. */
const maxFileSize = "1GB"

const Written = Schema.Struct({
  filename: Schema.String,
  count: Schema.NumberFromString,
  footer_size_bytes: Schema.NumberFromString,
  column_statistics: Schema.Array(
    Schema.Struct({
      key: Schema.String,
      value: Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.String }))
    })
  )
})
const decodeWritten = Schema.decodeUnknownSync(Schema.Array(Written))

/** Converts `"images"."element"."src"` to `images.element.src`. */
const parsePath = (quotedPath: string) =>
  quotedPath
    .slice(1, -1)
    .split('"."')
    .map((name) => name.replaceAll('""', '"'))
    .join(".")

/**
 * Statistics of columns, fields and elements, under their full names, such as `names.element.size`.
 * Values are strings, as DuckDB prints them.
 */
const parseStatistics = ({ column_statistics }: (typeof Written)["Type"]) =>
  column_statistics.map(({ key, value }) => {
    const values = new Map(value.map((entry) => [entry.key, entry.value]))
    const nan = values.get("has_nan")
    return {
      path: parsePath(key),
      bytes: values.get("column_size_bytes") ?? null,
      values: values.get("num_values") ?? null,
      nulls: values.get("null_count") ?? null,
      min: values.get("min") ?? null,
      max: values.get("max") ?? null,
      has_nan: nan === undefined ? null : nan === "true"
    }
  })

export interface LakeFile {
  readonly file: string
  readonly object: ObjectId
  readonly rows: number
  readonly footer_bytes: number
  readonly statistics: ReturnType<typeof parseStatistics>
}

const formatFieldIds = ({ children, id }: LakeField): string =>
  children.length === 0
    ? String(id)
    : `{__duckdb_field_id: ${id}, ${children.map((child) => `${identifier(child.name)}: ${formatFieldIds(child)}`).join(", ")}}`

const Count = Schema.Struct({ rows: Schema.BigInt })
const Month = Schema.Struct({ month: Schema.NullOr(Schema.String) })

/** Tables without a key are sorted by all their columns. */
const chooseSortOrder = ({ merge }: Table) => {
  if (merge.by === "complete") return identifier(merge.key)
  return merge.by === "append" || merge.by === "replace" ? merge.key.map(identifier).join(", ") : "all"
}

/** Conditions that divide the rows into files: one for all rows, or one for each month. */
const listFileConditions = Effect.fnUntraced(function* (db: DuckDb["Service"], rows: string, { dateColumn }: Table) {
  const [counted] = yield* db.all(Count, `select count(*) as rows from (${rows})`)
  const count = Number(counted?.rows ?? 0)
  if (count === 0) return []
  if (dateColumn === undefined || count <= maxUnsplitRows) return [""]
  const month = `date_trunc('month', ${identifier(dateColumn)})::date::varchar`
  const months = yield* db.all(Month, `select distinct ${month} as month from (${rows}) order by month nulls first`)
  return months.map((row) => `where ${month} is not distinct from ${row.month === null ? "null" : literal(row.month)}`)
})

/** Writes the rows that `rows` selects into a folder that does not exist yet. JSON is written as strings. */
export const writeFiles = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  table: Table,
  columns: ReadonlyArray<LakeField>,
  rows: string,
  folder: string
) {
  const stringColumns = columns.filter(({ type }) => type === "varchar").map(({ name }) => identifier(name))
  const stringCasts =
    stringColumns.length === 0
      ? ""
      : `replace (${stringColumns.map((name) => `${name}::varchar as ${name}`).join(", ")})`
  const ids = columns.map((column) => `${identifier(column.name)}: ${formatFieldIds(column)}`).join(", ")
  const lakeFiles: Array<LakeFile> = []
  yield* Effect.promise(() => mkdir(folder, { recursive: true }))
  yield* db.run("set threads = 1") // with more, the same rows sometimes give different bytes
  for (const [index, condition] of (yield* listFileConditions(db, rows, table)).entries()) {
    const target = path.join(folder, String(index))
    const files = yield* db.rows(
      `copy (select * ${stringCasts} from (${rows}) ${condition} order by ${chooseSortOrder(table)}) to ${literal(target)}
       (format parquet, compression zstd, file_size_bytes '${maxFileSize}', field_ids {${ids}}, return_stats)`
    )
    for (const written of decodeWritten(files)) {
      lakeFiles.push({
        file: written.filename,
        object: yield* identifyFile(written.filename),
        rows: written.count,
        footer_bytes: written.footer_size_bytes,
        statistics: parseStatistics(written)
      })
    }
  }
  return lakeFiles
})
