/**
 * Rows of all stores on their way into the staging file. Stores are read side by side and write here in turns: rows become lines
 * of JSON, which DuckDB loads by itself, a piece at a time. Nothing here grows with the number of products.
 */
import { readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { type DuckDb, type DuckDbError, identifier, literal } from "@larder/warehouse/duckdb.ts"
import { Effect, Fiber, Schema, Semaphore } from "effect"
import { type FileUnwritable, writePieces } from "../run/write-all.ts"
import { surveyStore } from "./category/classify.ts"
import { isMerchandise } from "./category/merchandise.ts"
import { type Unread, unread } from "./crawl/outcome.ts"
import type { Batch } from "./feed.ts"
import { type Cut, shortened } from "./feeds/shortened.ts"

const rowsSql = readFileSync(new URL("./sql/rows.sql", import.meta.url), "utf8")

/** All of a store that is staged. */
export const tables = ["product", "variant", "image", "collection", "member", "behind", "rejected", "cut"] as const
type TableName = (typeof tables)[number]

/** What `JSON.stringify` makes of half of a surrogate pair; a text in which these characters are written out looks alike. */
const maybeIllFormed = /\\ud[89a-f]/

/** DuckDB's reader of JSON refuses all of a file where half of a surrogate pair stands alone: it becomes U+FFFD. */
const jsonOf = (row: object): string => {
  const text = JSON.stringify(row)
  if (!maybeIllFormed.test(text)) return text
  return JSON.stringify(row, (_key, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value))
}

/** So much is held before DuckDB loads it, and as much again while it does: planning a load takes some ten milliseconds. */
const heldBytes = 32 << 20
/** Lines become bytes as soon as there are so many of them: texts that live on are what collecting garbage costs. */
const pieceCharacters = 1 << 20
/** Characters of the rows of one store, of which a million products have a quarter: a small file may unpack to rows without end. */
const mostOfStore = 4 * 2 ** 30

/** Where rows came from. */
export interface RowsFrom {
  readonly domain: string
  readonly fetched_at: string
  readonly raw_sha256: string
}

const rowsBehind = (batch: Batch) => {
  const behind = new Map<string, number>()
  for (const native_id of batch.rows) behind.set(native_id, (behind.get(native_id) ?? 0) + 1)
  return [...behind].map(([product_native_id, rows]) => ({ product_native_id, rows }))
}

const rowsOf = (batch: Batch, cuts: ReadonlyArray<Cut>): Readonly<Record<TableName, ReadonlyArray<object>>> => ({
  product: batch.products.map((product) => ({ ...product, is_merchandise: isMerchandise(product) })),
  variant: batch.variants,
  image: batch.images,
  collection: batch.collections,
  member: batch.members,
  behind: rowsBehind(batch),
  rejected: (batch.rejected ?? []).map((native_id) => ({ native_id })),
  cut: cuts
})

const nothingHeld = (): Record<TableName, Array<Buffer>> => ({
  product: [],
  variant: [],
  image: [],
  collection: [],
  member: [],
  behind: [],
  rejected: [],
  cut: []
})

const Column = Schema.Struct({ table: Schema.Literals(tables), name: Schema.String, type: Schema.String })
const columnsOfTables = `
  select table_name as table, column_name as name, data_type as type
  from duckdb_columns()
  where database_name = 'feed' and table_name in (${tables.map(literal).join(", ")})
  order by column_index`

/** Fields that all rows of a payload have alike, as far as the table has a column for them: the beginning of each line. */
const beginningOf = (names: ReadonlyArray<string>, from: RowsFrom) =>
  Object.entries(from)
    .filter(([name]) => names.includes(name))
    .map(([name, value]) => `"${name}":${JSON.stringify(value)},`)
    .join("")

/** Attaches a new file as `feed`, until the scope ends. It is not read after that, so it needs no log to recover it from. */
const attachFeed = (db: DuckDb["Service"], file: string) =>
  Effect.acquireRelease(db.run(`attach ${literal(file)} as feed (recovery_mode no_wal_writes)`), () =>
    Effect.ignore(db.run("detach feed"))
  )

/**
 * Rows of a million products are more than this: DuckDB keeps as much of them in memory as it may, and moves the others out to disk.
 * Beside it live the texts that are being read.
 */
const mostMemory = "768MiB"
const Memory = Schema.Struct({ limit: Schema.String })
const holdLess = Effect.fnUntraced(function* (db: DuckDb["Service"]) {
  const [memory] = yield* db.all(Memory, "select current_setting('memory_limit') as limit")
  if (!memory?.limit.endsWith(" GiB")) return // small machines have less
  const set = (limit: string) => db.run(`set memory_limit = ${literal(limit)}`)
  yield* Effect.acquireRelease(set(mostMemory), () => Effect.ignore(set(memory.limit)))
})

/** Makes the tables of rows in a file of the run's own folder, attached as `feed`, and answers with what fills them. */
export const stageRows = Effect.fnUntraced(function* (db: DuckDb["Service"], folder: string, most = mostOfStore) {
  yield* holdLess(db)
  yield* attachFeed(db, join(folder, "feed.duckdb"))
  yield* db.run(rowsSql)
  const columns = yield* db.all(Column, columnsOfTables)
  const columnsOf = (table: TableName) => columns.filter((column) => column.table === table)
  const scope = yield* Effect.scope
  const turn = yield* Semaphore.make(1)
  /** What the products of each store say together. */
  const surveys = new Map<string, ReturnType<typeof surveyStore>>()
  /** Characters of the lines of each store. */
  const staged = new Map<string, number>()
  let held = nothingHeld()
  let bytes = 0
  let seq = 0
  /** Waits for the load that goes on while further rows come in. */
  let loaded: Effect.Effect<void, DuckDbError | FileUnwritable> = Effect.void

  const loadTable = Effect.fnUntraced(function* (table: TableName, pieces: ReadonlyArray<Buffer>) {
    if (pieces.length === 0) return
    const file = join(folder, `${table}.ndjson`)
    yield* writePieces(file, pieces)
    const own = columnsOf(table)
    const names = own.map(({ name }) => identifier(name)).join(", ")
    yield* db.run(`
      insert into feed.${table} (${names})
      select ${names}
      from read_json(${literal(file)}, format = 'newline_delimited', auto_detect = false, hive_partitioning = false, maximum_object_size = 67108864,
        columns = {${own.map(({ name, type }) => `${literal(name)}: ${literal(type)}`).join(", ")}})`)
    yield* Effect.promise(() => rm(file, { force: true }))
  })

  /** A load begins when the one before it has ended well. */
  const load = Effect.gen(function* () {
    yield* loaded
    const pieces = held
    held = nothingHeld()
    bytes = 0
    const loading = Effect.forEach(tables, (table) => loadTable(table, pieces[table]), { discard: true })
    loaded = Fiber.join(yield* Effect.forkIn(loading, scope))
  })

  const hold = Effect.fnUntraced(function* (table: TableName, lines: string) {
    const piece = Buffer.from(lines)
    bytes += piece.length
    held[table].push(piece)
    if (bytes >= heldBytes) yield* load
  })

  const addTo = Effect.fnUntraced(function* (table: TableName, rows: ReadonlyArray<object>, from: RowsFrom) {
    const names = columnsOf(table).map(({ name }) => name)
    const beginning = beginningOf(names, from)
    const isNumbered = names.includes("seq")
    let lines = ""
    let characters = 0
    for (const row of rows) {
      const line = `{${isNumbered ? `"seq":${seq++},` : ""}${beginning}${jsonOf(row).slice(1)}\n`
      lines += line
      characters += line.length
      if (lines.length < pieceCharacters) continue
      yield* hold(table, lines)
      lines = ""
    }
    if (lines !== "") yield* hold(table, lines)
    staged.set(from.domain, (staged.get(from.domain) ?? 0) + characters)
  })

  /**
   * Takes rows in. The caller waits where a load goes on and the next one is full: more than once for many rows. Fails with
   * `Unread`, before it takes any, where the store has filled its room.
   */
  const add = (given: Batch, from: RowsFrom): Effect.Effect<void, DuckDbError | FileUnwritable | Unread> =>
    turn.withPermit(
      Effect.gen(function* () {
        if ((staged.get(from.domain) ?? 0) >= most) {
          return yield* unread("too_large", `its rows have more than ${most.toLocaleString("en-US")} characters`)
        }
        const { batch, cuts } = shortened(given)
        const survey = surveys.get(from.domain) ?? surveyStore()
        surveys.set(from.domain, survey)
        for (const product of batch.products) if (product.is_published) survey.add(product)
        const rows = rowsOf(batch, cuts)
        for (const table of tables) if (rows[table].length > 0) yield* addTo(table, rows[table], from)
      })
    )
  /** Ends when all rows are in their tables. */
  const settled = turn.withPermit(Effect.andThen(load, () => loaded))
  return { add, settled, surveys }
})
