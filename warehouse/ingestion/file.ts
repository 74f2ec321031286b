/**
 * `ingestion.duckdb`: what all runs told, as tables that people query, made from the parts of `ingest`. Each generation adds its own
 * part to a second file, which lags one behind, and the two change places: so a run costs the same whatever the history, and
 * whoever has the file open keeps what it read. Both can be made again from the parts at any time.
 */
import { createHash } from "node:crypto"
import { existsSync, statSync } from "node:fs"
import { chmod, copyFile, link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect, Schema } from "effect"
import { definitionOf } from "../dictionary.ts"
import { DuckDb, type DuckDbError, identifier, literal, type OpenError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { generationId, type Manifest } from "../generation/manifest.ts"
import { faultOf, type PartDamaged } from "../generation/parts.ts"
import {
  cellsOf,
  dataSetTable,
  generationTable,
  ingestTables,
  ingestViews,
  runTable,
  stagedIngestTables,
  type Table,
  toldTables
} from "../tables.ts"
import { type DataSetFacts, dataSetRows } from "./data-set-rows.ts"
import { rebuiltRun } from "./told.ts"

const defined = { tables: ingestTables, views: ingestViews }
const definition = definitionOf(defined)

/** `ingestion.duckdb` could not be made. */
export class IngestionNotWritten extends Schema.TaggedError<IngestionNotWritten>()("IngestionNotWritten", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    const full = /No space left|ENOSPC|File too large|EFBIG|quota/i.test(reason)
    const hint = full ? " The disk is full: make room, and run again." : ""
    return `${this.file} could not be brought up to date: ${reason}.${hint} The next run makes it; nothing is lost.`
  }
}

const attempt = <A>(file: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new IngestionNotWritten({ file, cause }) }).pipe(
    Effect.uninterruptible
  )

/** The file that lags behind. */
const spareOf = ({ dir }: Layout) => path.join(dir, ".ingestion.duckdb.next")
/** What a file was when this version wrote it last, and up to which generation it tells. */
const noteOf = ({ seen }: Layout, file: string) => path.join(seen, path.basename(file))

const definitionHash = createHash("sha256").update(definition).digest("hex")
const stampOf = (file: string) => {
  const { ino, mtimeNs, size } = statSync(file, { bigint: true })
  return `${size} ${ino} ${mtimeNs} ${definitionHash}`
}
const note = (layout: Layout, file: string, number: number) =>
  writeFile(noteOf(layout, file), `${stampOf(file)} ${number}\n`)

/** The number of the generation up to which a file tells; undefined where it is not what this version wrote. */
const toldUpTo = (layout: Layout, file: string) =>
  attempt(file, async () => {
    const noted = /^(.*) (\d+)\n$/.exec(await readFile(noteOf(layout, file), "utf8"))
    return noted?.[1] === stampOf(file) && !existsSync(`${file}.wal`) ? Number(noted[2]) : undefined
  }).pipe(Effect.orElseSucceed(() => undefined))

/** Inodes that this process has open: a lock does not hold against ourselves. */
const openHere = new Map<bigint, number>()
const inodeOf = (file: string) => statSync(file, { bigint: true }).ino

/** Tells that this process reads the file until the scope ends. Whoever opens it does so first. */
export const readingIngestion = ({ ingestion }: Layout) =>
  Effect.acquireRelease(
    attempt(ingestion, async () => {
      const inode = inodeOf(ingestion)
      openHere.set(inode, (openHere.get(inode) ?? 0) + 1)
      return inode
    }),
    (inode) =>
      Effect.sync(() => {
        const readers = (openHere.get(inode) ?? 1) - 1
        if (readers === 0) openHere.delete(inode)
        else openHere.set(inode, readers)
      })
  )

/** How a column of a table is read from a line. The generation of a row is that of its line. */
const cellOf = (table: Table, column: string) => {
  const id = "printf('larder-%06d', generation)"
  if (table === generationTable && column === "generation") return id
  if (table === runTable && column === "generation") return `if((row->>'has_changed_data') = 'true', ${id}, null)`
  if (table === runTable && column === "recorded_in") return id
  return `(row->>${literal(column)})`
}

const addRows = (table: Table) => {
  const columns = Object.keys(table.record.fields)
  return `insert into ingest.${identifier(table.name)} (${columns.map(identifier).join(", ")})
    select ${columns.map((column) => cellOf(table, column)).join(", ")} from line where "table" = ${literal(table.name)}`
}

/** Rows of any length that a payload may hold. */
const longestLine = 128 * 2 ** 20

/** What a rebuild tells again of its runs' payloads takes the place of what they told. */
const forgetRebuilt = stagedIngestTables.flatMap(({ name }) => [
  `delete from ingest.${name} where run_id in (select (row->>'run_id') from line where "table" = '${rebuiltRun}')`,
  `delete from line told using line rebuilt
   where rebuilt."table" = '${rebuiltRun}' and told."table" = '${name}' and told.generation < rebuilt.generation
     and (told.row->>'run_id') = (rebuilt.row->>'run_id')`
])

const readPart = (file: string, first: number, after: number) => `
   create or replace temp table line as
   select coalesce(generation, ${first}) as generation, "table", row
   from read_json(${literal(file)}, format = 'newline_delimited', compression = 'gzip', maximum_object_size = ${longestLine},
     columns = {generation: 'INTEGER', "table": 'VARCHAR', row: 'JSON'})
   where coalesce(generation, ${first}) > ${after}`

const Named = Schema.Struct({ table: Schema.String })
const tablesOfLines = 'select distinct "table" from line'

/** Adds what a part tells of the generations after \`after\`. Most parts have rows of a few tables. */
const addPart = Effect.fnUntraced(function* (db: DuckDb["Service"], file: string, first: number, after: number) {
  yield* db.run(readPart(file, first, after))
  const named = new Set((yield* db.all(Named, tablesOfLines)).map(({ table }) => table))
  const statements = [
    ...(named.has(rebuiltRun) ? forgetRebuilt : []),
    ...toldTables.filter(({ name }) => named.has(name)).map(addRows)
  ]
  yield* db.run(["begin", ...statements, "drop table line", "commit"].join(";\n"))
})

/** Which runs the data that is live does not descend from. */
const markRolledBack = ({ data_sets }: Manifest) => {
  const undone = Object.entries(data_sets).flatMap(([pipeline, entry]) =>
    entry.undone.map(({ by, first, last }) => `(${literal(pipeline)}, ${first}, ${last}, ${literal(generationId(by))})`)
  )
  if (undone.length === 0) return ["update ingest.run set rolled_back_by = null where rolled_back_by is not null"]
  return [
    `create or replace temp table undone as
     select run_id, min(span.rolled_back_by) as rolled_back_by
     from ingest.generation g
     join (values ${undone.join(", ")}) span (pipeline, from_number, to_number, rolled_back_by)
       on g.pipeline = span.pipeline and regexp_extract(g.generation, '\\d+')::integer between from_number and to_number
     where run_id is not null
     group by run_id`,
    `update ingest.run r set rolled_back_by = u.rolled_back_by from undone u
     where u.run_id = r.run_id and u.rolled_back_by is distinct from r.rolled_back_by`,
    "update ingest.run set rolled_back_by = null where rolled_back_by is not null and run_id not in (select run_id from undone)",
    "drop table undone"
  ]
}

/** Adds to a file what it does not tell yet of the generations up to this one: those after `after`, 0 where it is new. */
const bringUp = Effect.fnUntraced(function* (
  layout: Layout,
  manifest: Manifest,
  facts: ReadonlyArray<DataSetFacts>,
  file: string,
  after: number
) {
  const db = yield* DuckDb.readWrite(file)
  if (after === 0) yield* db.run(definition)
  for (const part of manifest.ingest.parts.filter(({ last }) => last > after)) {
    const fault = yield* faultOf(layout, part)
    const source = layout.objectFile(part.sha256)
    if (fault !== undefined) {
      const told =
        part.first === part.last
          ? generationId(part.first)
          : `${generationId(part.first)} to ${generationId(part.last)}`
      yield* Effect.logWarning(
        `what the runs of ${told} told (${source}) ${fault}: ingestion.duckdb is made without it. The data is whole; restore the file from a backup, and remove ingestion.duckdb to have it made anew`
      )
      continue
    }
    yield* addPart(db, source, part.first, after)
  }
  yield* db.run(["begin", ...markRolledBack(manifest), "delete from ingest.data_set", "commit"].join(";\n"))
  const rows = yield* dataSetRows(db, manifest, facts)
  yield* db.append("ingest", dataSetTable.name, cellsOf(dataSetTable, rows))
  yield* db.run("checkpoint") // no .wal is left after this and the close
}, Effect.scoped)

/** A file to add to: the spare one where nobody reads it, else a copy of the other, else a new one. Up to where it tells. */
const begin = Effect.fnUntraced(function* (layout: Layout, told: number | undefined) {
  const spare = spareOf(layout)
  const fresh = attempt(spare, async () => {
    await rm(`${spare}.wal`, { force: true })
    await rm(spare, { force: true })
    if (told === undefined) return 0
    await copyFile(layout.ingestion, spare)
    await chmod(spare, 0o644)
    return told
  })
  const toldBySpare = yield* toldUpTo(layout, spare)
  if (told === undefined || toldBySpare === undefined || openHere.has(inodeOf(spare))) return yield* fresh
  yield* attempt(spare, () => chmod(spare, 0o644))
  const isFree = Effect.as(DuckDb.hold(spare), true).pipe(
    Effect.scoped,
    Effect.orElseSucceed(() => false)
  )
  return (yield* isFree) ? toldBySpare : yield* fresh // a reader of the file before keeps it
})

const exchange = (layout: Layout, number: number, told: number | undefined) =>
  attempt(layout.ingestion, async () => {
    const spare = spareOf(layout)
    const before = `${spare}.before`
    await mkdir(layout.seen, { recursive: true })
    await rm(before, { force: true })
    await rm(`${layout.ingestion}.wal`, { force: true }) // of somebody who wrote to the file before: it is not of the next one
    if (told !== undefined) await link(layout.ingestion, before)
    await chmod(spare, 0o444)
    await rename(spare, layout.ingestion)
    await note(layout, layout.ingestion, number)
    if (told === undefined) return
    await rename(before, spare)
    await note(layout, spare, told)
  })

/** What is half written is of no use. */
const discard = (layout: Layout) =>
  attempt(spareOf(layout), async () => {
    for (const file of [spareOf(layout), `${spareOf(layout)}.wal`]) await rm(file, { force: true })
  }).pipe(Effect.ignore)

const notWritten =
  ({ ingestion }: Layout) =>
  (cause: DuckDbError | OpenError) =>
    Effect.fail(new IngestionNotWritten({ file: ingestion, cause }))

/** Brings `ingestion.duckdb` up to this generation. Whoever calls it holds the lock of what people open. */
export const refreshIngestion = Effect.fn("Ingestion.refresh")(function* (
  layout: Layout,
  manifest: Manifest,
  facts: ReadonlyArray<DataSetFacts>
): Effect.fn.Return<void, IngestionNotWritten | PartDamaged> {
  const { number } = manifest
  const told = yield* toldUpTo(layout, layout.ingestion)
  if (told !== undefined && told >= number) return
  const adding = Effect.flatMap(begin(layout, told), (after) =>
    bringUp(layout, manifest, facts, spareOf(layout), after)
  )
  yield* adding.pipe(
    Effect.catchTags({
      DuckDbError: notWritten(layout),
      FileInUse: notWritten(layout),
      NotADatabase: notWritten(layout)
    }),
    Effect.onError(() => discard(layout))
  )
  yield* exchange(layout, number, told)
})

/** Whether `ingestion.duckdb` tells of this generation already. */
export const tellsOf = (layout: Layout, number: number) =>
  Effect.map(toldUpTo(layout, layout.ingestion), (told) => told !== undefined && told >= number)
