/**
 * Writes and opens `ingestion.duckdb`: the records of all runs, as tables that users query, made from the parts of
 * `ingest`. Each generation adds its part to a spare file, which is one generation behind, and the two files are
 * exchanged. So the cost of a run does not depend on the length of the history, and a reader that has the file open
 * keeps its state. Both files can be made again from the parts at any time.
 */
import { existsSync, statSync } from "node:fs"
import { chmod, copyFile, link, rename, rm } from "node:fs/promises"
import path from "node:path"
import { Effect, Exit, Option, Scope } from "effect"
import { FileOperationFailed, fileOperation } from "../disk.ts"
import { DuckDb, literal, openError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { generationId, type Manifest, readManifest } from "../generation/manifest.ts"
import { readMarker, readStamp, writeMarker } from "../generation/markers.ts"
import { findFault } from "../generation/parts.ts"
import { define, definitionHash } from "../tables/dictionary.ts"
import { dataSetTable, ingestTables, ingestViews } from "../tables/ingest-tables.ts"
import { type DataSet, toCells } from "../tables/tables.ts"
import type { IngestPartFile } from "./part.ts"
import { addRecords, createUndoneTable, dataSetRows, hasRebuildChanged, markRolledBack } from "./rows.ts"

const defined = { tables: ingestTables, views: ingestViews }
const hash = definitionHash(defined)

const problem = "could not be updated"
const consequence = "The next run updates it; nothing is lost."
const operation = fileOperation(problem, consequence)
const attempt = <A>(file: string, run: () => Promise<A>) => Effect.uninterruptible(operation(file, run))

const spareFile = ({ dir }: Layout) => path.join(dir, ".ingestion.duckdb.next")
/** A generation. If a manifest was lost, its number may be used again; its id is not. */
type GenerationRef = Pick<Manifest, "number" | "id">

const readFileStamp = (file: string) => attempt(file, () => readStamp(file))

/** Records that this version has just written a file with the records of all generations up to this one. */
const markRecorded = Effect.fnUntraced(function* (layout: Layout, file: string, { id, number }: GenerationRef) {
  const facts = { stamp: yield* readFileStamp(file), definitions: hash, number: String(number), id }
  yield* writeMarker(layout, path.basename(file), facts)
})

/** The newest generation whose records a file has; undefined if the file was changed, or the generation removed. */
export const findNewestRecorded = Effect.fnUntraced(
  function* (layout: Layout, file: string) {
    const { definitions, id, number, stamp } = yield* readMarker(layout, path.basename(file))
    const isUnchanged = definitions === hash && stamp === (yield* readFileStamp(file)) && !existsSync(`${file}.wal`)
    if (!isUnchanged) return undefined
    const manifest = Option.getOrUndefined(yield* readManifest(layout.local, Number(number)))
    return manifest?.id === id ? manifest : undefined
  },
  Effect.orElseSucceed(() => undefined)
)

/** Number of readers in this process, by inode: a file lock does not exclude the process that has it. */
const readerCounts = new Map<bigint, number>()
const inodeOf = (file: string) => statSync(file, { bigint: true }).ino

const countReader = ({ ingestion }: Layout) =>
  Effect.acquireRelease(
    attempt(ingestion, async () => {
      const inode = inodeOf(ingestion)
      readerCounts.set(inode, (readerCounts.get(inode) ?? 0) + 1)
      return inode
    }),
    (inode) =>
      Effect.sync(() => {
        const readers = (readerCounts.get(inode) ?? 1) - 1
        if (readers === 0) readerCounts.delete(inode)
        else readerCounts.set(inode, readers)
      })
  )

/** Opens `ingestion.duckdb` until the scope ends, and keeps this process from writing to that file. */
const openAndCount = Effect.fnUntraced(function* <A, E, R>(layout: Layout, open: Effect.Effect<A, E, R>) {
  const parent = yield* Effect.scope
  while (true) {
    const scope = yield* Scope.fork(parent)
    const inode = yield* countReader(layout).pipe(Scope.provide(scope))
    const opened = yield* open.pipe(Scope.provide(scope))
    if ((yield* attempt(layout.ingestion, async () => inodeOf(layout.ingestion))) === inode) return { inode, opened }
    yield* Scope.close(scope, Exit.void) // the file was exchanged, so it is unknown which one was opened
  }
})

export const openIngestion = (layout: Layout) =>
  Effect.map(openAndCount(layout, DuckDb.readOnly(layout.ingestion)), ({ inode, opened: db }) => ({ inode, db }))

export const attachIngestion = (layout: Layout, session: DuckDb["Service"], name: string) =>
  openAndCount(
    layout,
    Effect.acquireRelease(
      session
        .run(`attach ${literal(layout.ingestion)} as ${name} (read_only)`)
        .pipe(Effect.mapError(openError(layout.ingestion))),
      () => Effect.ignore(session.run(`detach ${name}`))
    )
  )

/** Whether `ingestion.duckdb` is still the file with this inode. */
export const isSameFile = ({ ingestion }: Layout, inode: bigint) =>
  attempt(ingestion, async () => inodeOf(ingestion) === inode)

/** The parts that are intact. Damaged ones are logged. */
const findIntact = Effect.fnUntraced(function* (layout: Layout, parts: Manifest["ingest"]["parts"]) {
  const files: Array<IngestPartFile> = []
  for (const { bytes, first, last, sha256 } of parts) {
    const fault = yield* findFault(layout, { sha256, bytes })
    const file = layout.objectFile(sha256)
    if (fault === undefined) {
      files.push({ file, first, last })
      continue
    }
    const generations = first === last ? generationId(first) : `${generationId(first)} to ${generationId(last)}`
    yield* Effect.logWarning(
      `the records of ${generations} (${file}) ${fault}: ingestion.duckdb is written without them. The data itself is intact. Restore the file from a backup, and remove ingestion.duckdb so that it is written again`
    )
  }
  return files
})

/** Parts per query: a query for each part takes a few milliseconds, and all parts in one could exceed the memory. */
const partsPerQuery = 10

/**
 * Adds the records of the generations after `after`, up to this one, to the spare file. `after` is 0 for a new file.
 * Returns false if the file has to be made again from all parts.
 */
const updateSpare = Effect.fnUntraced(function* (
  layout: Layout,
  manifest: Manifest,
  dataSets: ReadonlyArray<DataSet>,
  after: number
) {
  const db = yield* DuckDb.readWrite(spareFile(layout))
  if (after === 0) yield* define(db, defined)
  yield* db.run(createUndoneTable(manifest))
  if (yield* hasRebuildChanged(db)) return false
  const newParts = manifest.ingest.parts.filter(({ last }) => last > after)
  const parts = yield* findIntact(layout, newParts)
  for (let index = 0; index < parts.length; index += partsPerQuery) {
    yield* addRecords(db, parts.slice(index, index + partsPerQuery), after)
  }
  yield* db.run(["begin", ...markRolledBack, "delete from ingest.data_set", "commit"].join(";\n"))
  const rows = yield* dataSetRows(db, manifest, dataSets)
  yield* db.append("ingest", dataSetTable.name, toCells(dataSetTable, rows))
  yield* db.run("checkpoint") // no .wal is left after this and the close
  return true
}, Effect.scoped)

/**
 * Prepares the spare file: the existing one if no reader has it open, otherwise a copy of `ingestion.duckdb`, otherwise
 * no file. Returns the number of the newest generation whose records it has, or 0.
 */
const prepareSpare = Effect.fnUntraced(function* (layout: Layout, recorded: GenerationRef | undefined) {
  const spare = spareFile(layout)
  const replace = attempt(spare, async () => {
    await rm(`${spare}.wal`, { force: true })
    await rm(spare, { force: true })
    if (recorded === undefined) return 0
    await copyFile(layout.ingestion, spare)
    await chmod(spare, 0o644)
    return recorded.number
  })
  const spareNewest = yield* findNewestRecorded(layout, spare)
  if (recorded === undefined || spareNewest === undefined || readerCounts.has(inodeOf(spare))) return yield* replace
  yield* attempt(spare, () => chmod(spare, 0o644))
  const isFree = Effect.as(DuckDb.lockFile(spare), true).pipe(
    Effect.scoped,
    Effect.orElseSucceed(() => false)
  )
  return (yield* isFree) ? spareNewest.number : yield* replace // another process still reads the spare file
})

const exchange = Effect.fnUntraced(function* (
  layout: Layout,
  manifest: Manifest,
  recorded: GenerationRef | undefined
) {
  const spare = spareFile(layout)
  const before = `${spare}.before`
  yield* attempt(layout.ingestion, async () => {
    await rm(before, { force: true })
    await rm(`${layout.ingestion}.wal`, { force: true }) // the write-ahead log of a program that wrote to the old file
    if (recorded !== undefined) await link(layout.ingestion, before)
    await chmod(spare, 0o444)
    await rename(spare, layout.ingestion)
  })
  yield* markRecorded(layout, layout.ingestion, manifest)
  if (recorded === undefined) return
  yield* attempt(spare, () => rename(before, spare))
  yield* markRecorded(layout, spare, recorded)
})

/** Removes a half-written file, which is useless. */
const discardSpare = (layout: Layout) =>
  attempt(spareFile(layout), async () => {
    for (const file of [spareFile(layout), `${spareFile(layout)}.wal`]) await rm(file, { force: true })
  }).pipe(Effect.ignore)

/** Updates `ingestion.duckdb` to this generation. The caller has the lock of the files that users open. */
export const refreshIngestion = Effect.fn("Ingestion.refresh")(function* (
  layout: Layout,
  manifest: Manifest,
  dataSets: ReadonlyArray<DataSet>
) {
  const file = layout.ingestion
  const recorded = yield* findNewestRecorded(layout, file)
  if (recorded !== undefined && recorded.number >= manifest.number) return
  /** Returns the generation of the current file, which becomes the spare; undefined if nothing can be added to it. */
  const updating = Effect.gen(function* () {
    if (yield* updateSpare(layout, manifest, dataSets, yield* prepareSpare(layout, recorded))) return recorded
    yield* updateSpare(layout, manifest, dataSets, yield* prepareSpare(layout, undefined))
    return undefined
  })
  const spareNewest = yield* updating.pipe(
    Effect.catchTag(["DuckDbError", "FileInUse", "NotADatabase"], (cause) =>
      Effect.fail(new FileOperationFailed({ file, problem, cause, consequence }))
    ),
    Effect.onError(() => discardSpare(layout))
  )
  yield* exchange(layout, manifest, spareNewest)
})

export const hasRecordsUpTo = (layout: Layout, number: number) =>
  Effect.map(findNewestRecorded(layout, layout.ingestion), (newest) => newest !== undefined && newest.number >= number)
