/**
 * Stages the rows of all stores, which are read concurrently. One store at a time writes. Rows become lines of JSON in a
 * file, which DuckDB loads one buffer at a time. Memory does not grow with the number of products.
 */
import { readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { type DuckDb, type DuckDbError, identifier, literal } from "@larder/warehouse"
import { Effect, Fiber, Schema, Semaphore } from "effect"
import { type FileUnwritable, writePieces } from "../../run/files/write-all.ts"
import type { Batch } from "../decode/feed.ts"
import { shortenTexts, type Truncation } from "../decode/shorten.ts"
import { isMerchandise } from "../normalise/category/merchandise.ts"
import { surveyStore } from "../normalise/category/survey.ts"
import { makeUnread, type Unread } from "../source/crawl/outcome.ts"

const rowsSql = readFileSync(new URL("./feed-tables.sql", import.meta.url), "utf8")

export const feedTables = [
  "product",
  "variant",
  "image",
  "collection",
  "member",
  "row_count",
  "rejected",
  "truncation"
] as const
type TableName = (typeof feedTables)[number]

/**
 * DuckDB's JSON reader rejects a whole file because of one lone surrogate, so it is replaced by U+FFFD. `JSON.stringify`
 * writes it as `\ud800`; a string that contains these characters literally is only written once more.
 */
const toJson = (row: object): string => {
  const text = JSON.stringify(row)
  if (!text.includes("\\ud")) return text
  return JSON.stringify(row, (_key, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value))
}

/** Bytes buffered before a load, and as many again during it. Planning a load takes DuckDB about ten milliseconds. */
const maxBufferBytes = 32 << 20
/** Lines are encoded at this many characters: long-lived strings are what makes garbage collection expensive. */
const pieceCharacters = 1 << 20
/**
 * Limit for the rows of one store, in characters. A million products have a quarter of that. A small compressed file
 * may unpack to endless rows.
 */
const maxStoreCharacters = 4 * 2 ** 30

interface RowSource {
  readonly domain: string
  readonly fetched_at: string
  readonly raw_sha256: string
}

const countSourceRows = (batch: Batch) => {
  const counts = new Map<string, number>()
  for (const native_id of batch.rows) counts.set(native_id, (counts.get(native_id) ?? 0) + 1)
  return [...counts].map(([product_native_id, rows]) => ({ product_native_id, rows }))
}

const groupRows = (
  batch: Batch,
  truncation: ReadonlyArray<Truncation>
): Readonly<Record<TableName, ReadonlyArray<object>>> => ({
  product: batch.products.map((product) => ({ ...product, is_merchandise: isMerchandise(product) })),
  variant: batch.variants,
  image: batch.images,
  collection: batch.collections,
  member: batch.members,
  row_count: countSourceRows(batch),
  rejected: batch.rejects.map(({ kind, native_id, position }) => ({ kind, native_id, position })),
  truncation
})

const makeBuffer = () => new Map<TableName, Array<Buffer>>(feedTables.map((table) => [table, []]))

const Column = Schema.Struct({ table: Schema.Literals(feedTables), name: Schema.String, type: Schema.String })
const selectColumns = `
  select table_name as table, column_name as name, data_type as type
  from duckdb_columns()
  where database_name = 'feed' and table_name in (${feedTables.map(literal).join(", ")})
  order by column_index`

/** The beginning of each line: the fields that all rows of a payload share, if the table has a column for them. */
const formatLineStart = (names: ReadonlyArray<string>, from: RowSource) =>
  Object.entries(from)
    .filter(([name]) => names.includes(name))
    .map(([name, value]) => `"${name}":${JSON.stringify(value)},`)
    .join("")

/** Attaches a new file as `feed` until the scope ends. It is not read after that, so it needs no write-ahead log. */
const attachFeed = (db: DuckDb["Service"], file: string) =>
  Effect.acquireRelease(db.run(`attach ${literal(file)} as feed (recovery_mode no_wal_writes)`), () =>
    Effect.ignore(db.run("detach feed"))
  )

/**
 * The rows of a million products exceed this: DuckDB keeps as many as fit in memory and spills the others to disk. The
 * rows that are being read need additional memory.
 */
const maxMemory = "768MiB"
const Settings = Schema.Struct({ memory_limit: Schema.String, threads: Schema.Int })
const selectSettings =
  "select current_setting('memory_limit') as memory_limit, current_setting('threads')::integer as threads"

/**
 * One thread, because with two the one that waits for the other polls: 13 % of the CPU of a run of 20,000 products, and a
 * quarter at 100,000. The pages that are being read need it.
 */
const limitResources = Effect.fnUntraced(function* (db: DuckDb["Service"]) {
  const [before] = yield* db.all(Settings, selectSettings)
  if (before === undefined) return
  const set = ({ memory_limit, threads }: typeof Settings.Type) =>
    db.run(`set memory_limit = ${literal(memory_limit)}; set threads = ${threads}`)
  const memory_limit = before.memory_limit.endsWith(" GiB") ? maxMemory : before.memory_limit // small machines have less
  yield* Effect.acquireRelease(set({ memory_limit, threads: 1 }), () => Effect.ignore(set(before)))
})

/** Creates the row tables in a file in `folder`, attached as `feed`. Returns the functions that fill them. */
export const stageRows = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  folder: string,
  maxCharacters = maxStoreCharacters
) {
  yield* limitResources(db)
  yield* attachFeed(db, join(folder, "feed.duckdb"))
  yield* db.run(rowsSql)
  const columns = yield* db.all(Column, selectColumns)
  const columnsOf = (table: TableName) => columns.filter((column) => column.table === table)
  const scope = yield* Effect.scope
  const writeLock = yield* Semaphore.make(1)
  const surveys = new Map<string, ReturnType<typeof surveyStore>>()
  const characterCounts = new Map<string, number>()
  let buffer = makeBuffer()
  let bufferBytes = 0
  let seq = 0
  let lastLoad: Effect.Effect<void, DuckDbError | FileUnwritable> = Effect.void

  const loadTable = Effect.fnUntraced(function* (table: TableName, pieces: ReadonlyArray<Buffer>) {
    if (pieces.length === 0) return
    const file = join(folder, `${table}.ndjson`)
    yield* writePieces(file, pieces)
    const tableColumns = columnsOf(table)
    const names = tableColumns.map(({ name }) => identifier(name)).join(", ")
    yield* db.run(`
      insert into feed.${table} (${names})
      select ${names}
      from read_json(${literal(file)}, format = 'newline_delimited', auto_detect = false, hive_partitioning = false, maximum_object_size = 67108864,
        columns = {${tableColumns.map(({ name, type }) => `${literal(name)}: ${literal(type)}`).join(", ")}})`)
    yield* Effect.promise(() => rm(file, { force: true }))
  })

  /** A load begins after the previous one has succeeded. */
  const load = Effect.gen(function* () {
    yield* lastLoad
    const pieces = buffer
    buffer = makeBuffer()
    bufferBytes = 0
    const loading = Effect.forEach(feedTables, (table) => loadTable(table, pieces.get(table) ?? []), { discard: true })
    lastLoad = Fiber.join(yield* Effect.forkIn(loading, scope))
  })

  const addPiece = Effect.fnUntraced(function* (table: TableName, lines: string) {
    const piece = Buffer.from(lines)
    bufferBytes += piece.length
    buffer.get(table)?.push(piece)
    if (bufferBytes >= maxBufferBytes) yield* load
  })

  const addRows = Effect.fnUntraced(function* (table: TableName, rows: ReadonlyArray<object>, from: RowSource) {
    const names = columnsOf(table).map(({ name }) => name)
    const beginning = formatLineStart(names, from)
    const isNumbered = names.includes("seq")
    let lines = ""
    let characters = 0
    for (const row of rows) {
      const line = `{${isNumbered ? `"seq":${seq++},` : ""}${beginning}${toJson(row).slice(1)}\n`
      lines += line
      characters += line.length
      if (lines.length < pieceCharacters) continue
      yield* addPiece(table, lines)
      lines = ""
    }
    if (lines !== "") yield* addPiece(table, lines)
    characterCounts.set(from.domain, (characterCounts.get(from.domain) ?? 0) + characters)
  })

  /**
   * Adds rows. The caller waits while a load is running and the next buffer is full; with many rows, more than once.
   * Fails with `Unread`, before adding any row, if the store has reached its limit.
   */
  const addBatch = (original: Batch, from: RowSource): Effect.Effect<void, DuckDbError | FileUnwritable | Unread> =>
    writeLock.withPermit(
      Effect.gen(function* () {
        if ((characterCounts.get(from.domain) ?? 0) >= maxCharacters) {
          return yield* makeUnread(
            "too_large",
            `its rows have more than ${maxCharacters.toLocaleString("en-US")} characters`
          )
        }
        const { batch, truncations } = shortenTexts(original)
        const survey = surveys.get(from.domain) ?? surveyStore()
        surveys.set(from.domain, survey)
        for (const product of batch.products) if (product.is_published) survey.add(product)
        const rows = groupRows(batch, truncations)
        for (const table of feedTables) if (rows[table].length > 0) yield* addRows(table, rows[table], from)
      })
    )
  const finishLoading = writeLock.withPermit(Effect.andThen(load, () => lastLoad))
  return { add: addBatch, finishLoading, surveys }
})
