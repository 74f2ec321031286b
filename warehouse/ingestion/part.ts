/**
 * Writes a part of `ingest`: the records of one run, as compressed lines of JSON, each a row of a table:
 * `{"table":"reject","row":{…}}`. Lines do not contain the number of their generation, because it is final only when
 * the manifest is written. In a part that was merged from others, each line has it: `{"generation":12,"table":…`.
 */
import { createReadStream, createWriteStream } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import { createGunzip, createGzip } from "node:zlib"
import { Effect, Schema } from "effect"
import { causeText } from "../disk.ts"
import { type DuckDb, literal } from "../duckdb.ts"
import type { RowValues, Table } from "../tables/tables.ts"

/** A part could not be written, usually because the disk is full. */
class IngestPartNotWritten extends Schema.TaggedError<IngestPartNotWritten>()("IngestPartNotWritten", {
  cause: Schema.Defect()
}) {
  override get message() {
    return causeText(this.cause)
  }
}

const attempt = (run: () => Promise<void>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new IngestPartNotWritten({ cause }) }).pipe(Effect.uninterruptible)

/** The same lines always result in the same bytes. */
const compress = <A>(sources: ReadonlyArray<A>, read: (source: A) => AsyncIterable<Buffer>, file: string) => {
  const readAll = async function* () {
    for (const source of sources) yield* read(source)
  }
  return pipeline(readAll, createGzip(), createWriteStream(file))
}

export interface TableRecords {
  readonly table: Table
  readonly rows: ReadonlyArray<RowValues>
}

/** Queries for records, by the name of their table. */
export interface QueriedRecords {
  readonly db: DuckDb["Service"]
  readonly queries: Readonly<Record<string, string>>
}

const NonEmpty = Schema.Struct({ table: Schema.String })
/** Most runs leave most tables empty, and copying nothing takes as long as copying a few rows. */
const filterNonEmpty = Effect.fnUntraced(function* ({ db, queries }: QueriedRecords) {
  const nonEmpty = yield* db.all(
    NonEmpty,
    Object.entries(queries)
      .map(([table, query]) => `select ${literal(table)} as "table" where exists (${query})`)
      .join(" union all ")
  )
  const names = new Set(nonEmpty.map(({ table }) => table))
  return Object.entries(queries).filter(([table]) => names.has(table))
})

/** JSON contains no literal tabs or line breaks, so nothing has to be quoted. */
const copyLines = Effect.fnUntraced(function* (queried: QueriedRecords, file: string) {
  return yield* Effect.forEach(yield* filterNonEmpty(queried), ([table, query]) => {
    const target = `${file}.${table}`
    const sql = `
      copy (select '{"table":"${table}","row":' || to_json(r)::varchar || '}' from (${query}) r)
      to ${literal(target)} (format csv, header false, delimiter '\t', quote '', escape '', nullstr '')`
    return Effect.as(queried.db.run(sql), target)
  })
})

export const writeIngestPart = Effect.fn("IngestPart.write")(function* (
  file: string,
  records: ReadonlyArray<TableRecords>,
  queried?: QueriedRecords
) {
  const lineFiles = [`${file}.records`]
  yield* Effect.gen(function* () {
    const lines = records.flatMap(({ rows, table }) =>
      rows.map((row) => `${JSON.stringify({ table: table.name, row })}\n`)
    )
    yield* attempt(() => writeFile(`${file}.records`, lines.join("")))
    if (queried !== undefined) lineFiles.push(...(yield* copyLines(queried, file)))
    yield* attempt(() => compress(lineFiles, (source) => createReadStream(source), file))
  }).pipe(Effect.ensuring(Effect.promise(() => Promise.all(lineFiles.map((path) => rm(path, { force: true }))))))
})

export interface IngestPartFile {
  readonly file: string
  /** It has the records of the generations from `first` to `last`. */
  readonly first: number
  readonly last: number
}

const newline = 10

/** Reads the lines of a part, each with its generation. */
const readNumberedLines = async function* ({ file, first, last }: IngestPartFile) {
  const chunks: AsyncIterable<Buffer> = createReadStream(file).pipe(createGunzip())
  if (first !== last) return yield* chunks // the lines of a merged part already have it
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

export const mergeIngestParts = (parts: ReadonlyArray<IngestPartFile>, file: string) =>
  attempt(() => compress(parts, readNumberedLines, file))
