/**
 * Rows of all stores on their way into the staging file. Stores are read side by side and write here in turns: rows become lines
 * of JSON, which DuckDB loads by itself, a piece at a time. Nothing here grows with the number of products.
 */
import { readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { type DuckDb, identifier, literal } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema, Semaphore } from "effect"
import { writeLines } from "../run/write-all.ts"
import { surveyStore } from "./category/classify.ts"
import { isMerchandise } from "./category/merchandise.ts"
import type { Batch } from "./feed.ts"

const rowsSql = readFileSync(new URL("./sql/rows.sql", import.meta.url), "utf8")

type Line = Readonly<Record<string, unknown>>
const tables = ["product", "variant", "image", "collection", "member", "behind", "rejected"] as const
type TableName = (typeof tables)[number]

/** What `JSON.stringify` makes of half of a surrogate pair; a text in which these characters are written out looks alike. */
const maybeIllFormed = /\\ud[89a-f]/

/** DuckDB's reader of JSON refuses all of a file where half of a surrogate pair stands alone: it becomes U+FFFD. */
const jsonLine = (line: Line): string => {
  const text = JSON.stringify(line)
  if (!maybeIllFormed.test(text)) return `${text}\n`
  const wellFormed = JSON.stringify(line, (_key, value: unknown) =>
    typeof value === "string" ? value.toWellFormed() : value
  )
  return `${wellFormed}\n`
}

/**
 * So much text is held before DuckDB loads it: planning a load takes some ten milliseconds. A text has room for 16 times as much,
 * and a line is hardly longer than its payload, of up to 32 MB.
 */
const heldCharacters = 32 << 20

/** Where rows came from. */
export interface RowsFrom {
  readonly domain: string
  readonly fetched_at: string
  readonly raw_sha256: string
}

const linesOf = (
  batch: Batch,
  { domain, fetched_at, raw_sha256 }: RowsFrom
): Readonly<Record<TableName, Array<Line>>> => {
  const behind = new Map<string, number>()
  for (const native_id of batch.rows) behind.set(native_id, (behind.get(native_id) ?? 0) + 1)
  return {
    product: batch.products.map((product) => ({
      domain,
      ...product,
      is_merchandise: isMerchandise(product),
      fetched_at,
      raw_sha256
    })),
    variant: batch.variants.map((variant) => ({ domain, ...variant, raw_sha256 })),
    image: batch.images.map((image) => ({ domain, ...image })),
    collection: batch.collections.map((collection) => ({ domain, ...collection, fetched_at, raw_sha256 })),
    member: batch.members.map((member) => ({ domain, ...member })),
    rejected: (batch.rejected ?? []).map((native_id) => ({ domain, native_id })),
    behind: [...behind].map(([product_native_id, rows]) => ({ domain, product_native_id, rows, raw_sha256 }))
  }
}

const Column = Schema.Struct({ table: Schema.Literals(tables), name: Schema.String, type: Schema.String })
const columnsOfTables = `
  select table_name as table, column_name as name, data_type as type
  from duckdb_columns()
  where database_name = 'feed' and table_name in (${tables.map(literal).join(", ")})
  order by column_index`

/** Makes the tables of rows in a file of the run's own folder, attached as `feed`, and answers with what fills them. */
export const stageRows = Effect.fnUntraced(function* (db: DuckDb["Service"], folder: string) {
  yield* db.run(`attach ${literal(join(folder, "feed.duckdb"))} as feed; ${rowsSql}`)
  const columns = yield* db.all(Column, columnsOfTables)
  const turn = yield* Semaphore.make(1)
  /** What the products of each store say together. */
  const surveys = new Map<string, ReturnType<typeof surveyStore>>()
  const held = new Map<TableName, Array<string>>(tables.map((table) => [table, []]))
  let characters = 0
  let seq = 0

  const loadTable = Effect.fnUntraced(function* (table: TableName) {
    const lines = held.get(table) ?? []
    if (lines.length === 0) return
    const file = join(folder, `${table}.ndjson`)
    yield* writeLines(file, lines)
    held.set(table, [])
    const own = columns.filter((column) => column.table === table)
    yield* db.run(`
      insert into feed.${table} (${own.map(({ name }) => identifier(name)).join(", ")})
      select ${own.map(({ name }) => identifier(name)).join(", ")}
      from read_json(${literal(file)}, format = 'newline_delimited', auto_detect = false, maximum_object_size = 67108864,
        columns = {${own.map(({ name, type }) => `${literal(name)}: ${literal(type)}`).join(", ")}})`)
    yield* Effect.promise(() => rm(file, { force: true }))
  })

  const load = Effect.gen(function* () {
    yield* Effect.forEach(tables, loadTable, { discard: true })
    characters = 0
  })

  /** Takes rows in; the caller waits while they are loaded, which may be more than once: a small payload can make many rows. */
  const add = (batch: Batch, from: RowsFrom) =>
    turn.withPermit(
      Effect.gen(function* () {
        const survey = surveys.get(from.domain) ?? surveyStore()
        surveys.set(from.domain, survey)
        for (const product of batch.products) if (product.is_published) survey.add(product)
        for (const [table, lines] of Object.entries(linesOf(batch, from)) as Array<[TableName, Array<Line>]>) {
          for (const line of lines) {
            const text = jsonLine(table === "behind" || table === "rejected" ? line : { seq: seq++, ...line })
            characters += text.length
            held.get(table)?.push(text)
            if (characters >= heldCharacters) yield* load
          }
        }
      })
    )
  return { add, settled: turn.withPermit(load), surveys }
})
