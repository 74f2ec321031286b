/**
 * A part of `ingest`: the records of one run, as compressed lines of JSON, each a row of a table of schema `ingest`:
 * `{"table":"reject","row":{…}}`. The lines do not state their generation: it is known only when the manifest is
 * written, and the manifest states it. A part that was merged from a hundred others states it in each line:
 * `{"generation":12,"table":…`.
 */
import { createReadStream, createWriteStream } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import { createGunzip, createGzip } from "node:zlib"
import { Effect, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"
import type { Records, Table } from "../tables/tables.ts"

/** A part could not be written, usually because the disk is full. */
class IngestPartNotWritten extends Schema.TaggedError<IngestPartNotWritten>()("IngestPartNotWritten", {
  cause: Schema.Defect()
}) {
  override get message() {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

const attempt = (run: () => Promise<void>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new IngestPartNotWritten({ cause }) }).pipe(Effect.uninterruptible)

const lineOf = (table: Table, row: Records[number]) => `${JSON.stringify({ table: table.name, row })}\n`

/** The same lines always give the same bytes. */
const compress = async (sources: ReadonlyArray<string>, file: string) => {
  const read = async function* () {
    for (const source of sources) yield* createReadStream(source)
  }
  await pipeline(read, createGzip(), createWriteStream(file))
}

export interface TableRecords {
  readonly table: Table
  readonly rows: Records
}

/** Records that are queried from a database. */
export interface QueriedRecords {
  readonly db: DuckDb["Service"]
  /** A query for each table, by the name of the table. */
  readonly rows: Readonly<Record<string, string>>
}

const Filled = Schema.Struct({ table: Schema.String })
/** Most runs leave most tables empty, and copying nothing takes as long as copying a few rows. */
const filled = Effect.fnUntraced(function* ({ db, rows }: QueriedRecords) {
  const found = yield* db.all(
    Filled,
    Object.entries(rows)
      .map(([table, query]) => `select ${literal(table)} as "table" where exists (${query})`)
      .join(" union all ")
  )
  const names = new Set(found.map(({ table }) => table))
  return Object.entries(rows).filter(([table]) => names.has(table))
})

/** JSON contains no literal tabs or line breaks, so nothing has to be quoted. */
const copyLines = Effect.fnUntraced(function* (queried: QueriedRecords, file: string) {
  return yield* Effect.forEach(yield* filled(queried), ([table, query]) => {
    const target = `${file}.${table}`
    const sql = `
      copy (select '{"table":"${table}","row":' || to_json(r)::varchar || '}' from (${query}) r)
      to ${literal(target)} (format csv, header false, delimiter '\t', quote '', escape '', nullstr '')`
    return Effect.as(queried.db.run(sql), target)
  })
})

/** Writes a part from these records, and from those that are queried from a database. */
export const writeIngestPart = Effect.fn("IngestPart.write")(function* (
  file: string,
  records: ReadonlyArray<TableRecords>,
  queried?: QueriedRecords
) {
  const lines = [`${file}.records`]
  yield* Effect.gen(function* () {
    const text = records.flatMap(({ rows, table }) => rows.map((row) => lineOf(table, row))).join("")
    yield* attempt(() => writeFile(`${file}.records`, text))
    if (queried !== undefined) lines.push(...(yield* copyLines(queried, file)))
    yield* attempt(() => compress(lines, file))
  }).pipe(Effect.ensuring(Effect.promise(() => Promise.all(lines.map((line) => rm(line, { force: true }))))))
})

/** A part, and its file on this machine. */
export interface IngestPartFile {
  readonly file: string
  /** The range of generations whose records it has. */
  readonly first: number
  readonly last: number
}

const newline = 10

/** The lines of a part, each with its generation. */
const numbered = async function* ({ file, first, last }: IngestPartFile) {
  const chunks: AsyncIterable<Buffer> = createReadStream(file).pipe(createGunzip())
  if (first !== last) return yield* chunks // merged from others: its lines state it already
  let isStart = true
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      if (isStart) {
        yield Buffer.from(`{"generation":${first},`)
        from++ // the line's own brace
      }
      const end = chunk.indexOf(newline, from)
      isStart = end !== -1
      const next = isStart ? end + 1 : chunk.length
      yield chunk.subarray(from, next)
      from = next
    }
  }
}

/** Merges several parts into one, in their order. The same parts give the same bytes. */
export const mergeIngestParts = (parts: ReadonlyArray<IngestPartFile>, file: string) =>
  attempt(async () => {
    const read = async function* () {
      for (const part of parts) yield* numbered(part)
    }
    await pipeline(read, createGzip(), createWriteStream(file))
  })
