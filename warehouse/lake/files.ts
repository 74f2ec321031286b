/**
 * The Parquet files of a table, sorted by its key. Their bytes depend on the rows alone: unchanged rows give the
 * existing file again. A large history is split by month, so most of it stays the same from one generation to the next.
 */
import { mkdir } from "node:fs/promises"
import path from "node:path"
import { Effect, Schema } from "effect"
import type { ObjectId } from "../depot/depot.ts"
import { type DuckDb, identifier, literal } from "../duckdb.ts"
import { objectIdOf } from "../generation/parts.ts"
import type { Table } from "../tables/tables.ts"
import type { Node } from "./types.ts"

/**
 * What a reader can know about a column, field or element without reading the file. Values are texts, as DuckDB prints
 * them.
 */
interface Statistics {
  /** Its names from the column down, such as `names.element.size`. */
  readonly path: string
  readonly bytes: string | null
  readonly values: string | null
  readonly nulls: string | null
  readonly min: string | null
  readonly max: string | null
  readonly has_nan: boolean | null
}

export interface LakeFile {
  readonly file: string
  readonly object: ObjectId
  readonly rows: number
  readonly footer_bytes: number
  readonly statistics: ReadonlyArray<Statistics>
}

/** Tables with more rows are split by month, if they have a history. */
const manyRows = 1_000_000
/** As DuckDB estimates it before compression: on the disk, a file has about a quarter of this. */
const fileSize = "1GB"

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

/** Turns `"images"."element"."src"` into `images.element.src`. */
const pathOf = (quoted: string) =>
  quoted
    .slice(1, -1)
    .split('"."')
    .map((name) => name.replaceAll('""', '"'))
    .join(".")

const statisticsOf = ({ column_statistics }: (typeof Written)["Type"]): ReadonlyArray<Statistics> =>
  column_statistics.map(({ key, value }) => {
    const stated = new Map(value.map((one) => [one.key, one.value]))
    const nan = stated.get("has_nan")
    return {
      path: pathOf(key),
      bytes: stated.get("column_size_bytes") ?? null,
      values: stated.get("num_values") ?? null,
      nulls: stated.get("null_count") ?? null,
      min: stated.get("min") ?? null,
      max: stated.get("max") ?? null,
      has_nan: nan === undefined ? null : nan === "true"
    }
  })

const fieldIds = ({ children, id }: Node): string =>
  children.length === 0
    ? String(id)
    : `{__duckdb_field_id: ${id}, ${children.map((child) => `${identifier(child.name)}: ${fieldIds(child)}`).join(", ")}}`

const Count = Schema.Struct({ rows: Schema.BigInt })
const Month = Schema.Struct({ month: Schema.NullOr(Schema.String) })

/** Tables without a key are sorted by all their columns. */
const orderOf = ({ merge }: Table) => {
  if (merge.by === "completing") return identifier(merge.key)
  return merge.by === "adding" || merge.by === "replacing" ? merge.key.map(identifier).join(", ") : "all"
}

/** Conditions that divide the rows into files: one for all rows, or one for each month. */
const divisionsOf = Effect.fnUntraced(function* (db: DuckDb["Service"], rows: string, { history }: Table) {
  const [counted] = yield* db.all(Count, `select count(*) as rows from (${rows})`)
  const count = Number(counted?.rows ?? 0)
  if (count === 0) return []
  if (history === undefined || count <= manyRows) return [""]
  const month = `date_trunc('month', ${identifier(history)})::date::varchar`
  const months = yield* db.all(Month, `select distinct ${month} as month from (${rows}) order by month nulls first`)
  return months.map(({ month: of }) => `where ${month} is not distinct from ${of === null ? "null" : literal(of)}`)
})

/** Writes the rows that `rows` selects into a folder that does not exist yet. JSON is written as text. */
export const writeFiles = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  table: Table,
  columns: ReadonlyArray<Node>,
  rows: string,
  folder: string
) {
  const texts = columns.filter(({ type }) => type === "varchar").map(({ name }) => identifier(name))
  const asText = texts.length === 0 ? "" : `replace (${texts.map((name) => `${name}::varchar as ${name}`).join(", ")})`
  const ids = columns.map((column) => `${identifier(column.name)}: ${fieldIds(column)}`).join(", ")
  const files: Array<LakeFile> = []
  yield* Effect.promise(() => mkdir(folder, { recursive: true }))
  yield* db.run("set threads = 1") // with more, the same rows sometimes give different bytes
  for (const [at, where] of (yield* divisionsOf(db, rows, table)).entries()) {
    const into = path.join(folder, String(at))
    const found = yield* db.rows(
      `copy (select * ${asText} from (${rows}) ${where} order by ${orderOf(table)}) to ${literal(into)}
       (format parquet, compression zstd, file_size_bytes '${fileSize}', field_ids {${ids}}, return_stats)`
    )
    for (const written of decodeWritten(found)) {
      files.push({
        file: written.filename,
        object: yield* objectIdOf(written.filename),
        rows: written.count,
        footer_bytes: written.footer_size_bytes,
        statistics: statisticsOf(written)
      })
    }
  }
  return files
})
