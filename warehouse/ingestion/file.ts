/**
 * `ingestion.duckdb`: the records of all runs, as tables that users query, built from the parts of `ingest`. Each
 * generation adds its part to a second file, which is one generation behind, and the two files change places. So a run
 * costs the same however long the history is, and a reader that has the file open keeps its state. Both files can be
 * made again from the parts at any time.
 */
import { existsSync, statSync } from "node:fs"
import { chmod, copyFile, link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect, Exit, Option, Schema, Scope } from "effect"
import { isDiskFull } from "../disk.ts"
import { DuckDb, type DuckDbError, literal, type OpenError, openError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { generationId, type Manifest, readManifest } from "../generation/manifest.ts"
import { faultOf, type PartDamaged, stampOf } from "../generation/parts.ts"
import { define, definitionHash } from "../tables/dictionary.ts"
import { dataSetTable, ingestTables, ingestViews } from "../tables/ingest-tables.ts"
import { cellsOf } from "../tables/tables.ts"
import { type DataSetFacts, dataSetRows } from "./data-set-rows.ts"
import type { IngestPartFile } from "./part.ts"
import { addRecords, areOfAnotherRebuild, markRolledBack, showUndone } from "./rows.ts"

const defined = { tables: ingestTables, views: ingestViews }
const hash = definitionHash(defined)

/** `ingestion.duckdb` could not be written. */
export class IngestionNotWritten extends Schema.TaggedError<IngestionNotWritten>()("IngestionNotWritten", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    const full = isDiskFull(reason)
    const hint = full ? " The disk is full: make room, and run again." : ""
    return `${this.file} could not be updated: ${reason}.${hint} The next run updates it; nothing is lost.`
  }
}

const attempt = <A>(file: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new IngestionNotWritten({ file, cause }) }).pipe(
    Effect.uninterruptible
  )

/** The file that is one generation behind. */
const spareOf = ({ dir }: Layout) => path.join(dir, ".ingestion.duckdb.next")
/** Notes the stamp of a file when this version last wrote it, and the generation up to which it has the records. */
const noteOf = ({ seen }: Layout, file: string) => path.join(seen, path.basename(file))

/** A generation. If a manifest was lost, its number may be given again; its id is not. */
type Id = Pick<Manifest, "number" | "id">

const note = async (layout: Layout, file: string, { id, number }: Id) =>
  writeFile(noteOf(layout, file), `${await stampOf(file)} ${hash} ${number} ${id}\n`)

const noted = (layout: Layout, file: string) =>
  attempt(file, async (): Promise<Id | undefined> => {
    const [, stamp, number, id = ""] = /^(.*) (\d+) (\S+)\n$/.exec(await readFile(noteOf(layout, file), "utf8")) ?? []
    const isOurs = stamp === `${await stampOf(file)} ${hash}` && !existsSync(`${file}.wal`)
    return isOurs ? { number: Number(number), id } : undefined
  })

/**
 * The generation up to which a file has the records. Undefined if the file is not as this version wrote it, or if that
 * generation no longer exists.
 */
export const recordsUpTo = Effect.fnUntraced(
  function* (layout: Layout, file: string) {
    const upTo = yield* noted(layout, file)
    if (upTo === undefined) return undefined
    const manifest = Option.getOrUndefined(yield* readManifest(layout.local, upTo.number))
    return manifest?.id === upTo.id ? upTo : undefined
  },
  Effect.orElseSucceed(() => undefined)
)

/** Inodes that this process has open: a file lock does not exclude the process that holds it. */
const openHere = new Map<bigint, number>()
const inodeOf = (file: string) => statSync(file, { bigint: true }).ino

const noteReading = ({ ingestion }: Layout) =>
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

/** Opens `ingestion.duckdb` until the scope ends, and keeps this process from writing to that file meanwhile. */
const reading = Effect.fnUntraced(function* <A, E, R>(layout: Layout, open: Effect.Effect<A, E, R>) {
  const all = yield* Effect.scope
  while (true) {
    const scope = yield* Scope.fork(all)
    const inode = yield* noteReading(layout).pipe(Scope.provide(scope))
    const opened = yield* open.pipe(Scope.provide(scope))
    if ((yield* attempt(layout.ingestion, async () => inodeOf(layout.ingestion))) === inode) return { inode, opened }
    yield* Scope.close(scope, Exit.void) // the file was exchanged meanwhile, so it is unknown which one was opened
  }
})

/** `ingestion.duckdb`, open until the scope ends. */
export const openIngestion = (layout: Layout) =>
  Effect.map(reading(layout, DuckDb.readOnly(layout.ingestion)), ({ inode, opened: db }) => ({ inode, db }))

/** The same, attached to a session under the given name. */
export const attachIngestion = (layout: Layout, session: DuckDb["Service"], name: string) =>
  reading(
    layout,
    Effect.acquireRelease(
      session
        .run(`attach ${literal(layout.ingestion)} as ${name} (read_only)`)
        .pipe(Effect.mapError(openError(layout.ingestion))),
      () => Effect.ignore(session.run(`detach ${name}`))
    )
  )

/** Whether this is still the inode of `ingestion.duckdb`. */
export const isPresent = ({ ingestion }: Layout, inode: bigint) =>
  attempt(ingestion, async () => inodeOf(ingestion) === inode)

/** The parts that are intact. Damaged ones are logged. */
const whole = Effect.fnUntraced(function* (layout: Layout, parts: Manifest["ingest"]["parts"]) {
  const files: Array<IngestPartFile> = []
  for (const { bytes, first, last, sha256 } of parts) {
    const fault = yield* faultOf(layout, { sha256, bytes })
    const file = layout.objectFile(sha256)
    if (fault === undefined) {
      files.push({ file, first, last })
      continue
    }
    const which = first === last ? generationId(first) : `${generationId(first)} to ${generationId(last)}`
    yield* Effect.logWarning(
      `the records of ${which} (${file}) ${fault}: ingestion.duckdb is written without them. The data itself is intact. Restore the file from a backup, and remove ingestion.duckdb so that it is written again`
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
const bringUp = Effect.fnUntraced(function* (
  layout: Layout,
  manifest: Manifest,
  facts: ReadonlyArray<DataSetFacts>,
  after: number
) {
  const db = yield* DuckDb.readWrite(spareOf(layout))
  if (after === 0) yield* define(db, defined)
  yield* db.run(showUndone(manifest))
  if (yield* areOfAnotherRebuild(db)) return false
  const parts = yield* whole(
    layout,
    manifest.ingest.parts.filter(({ last }) => last > after)
  )
  for (let at = 0; at < parts.length; at += partsPerQuery) {
    yield* addRecords(db, parts.slice(at, at + partsPerQuery), after)
  }
  yield* db.run(["begin", ...markRolledBack, "delete from ingest.data_set", "commit"].join(";\n"))
  const rows = yield* dataSetRows(db, manifest, facts)
  yield* db.append("ingest", dataSetTable.name, cellsOf(dataSetTable, rows))
  yield* db.run("checkpoint") // no .wal is left after this and the close
  return true
}, Effect.scoped)

/**
 * Prepares a file to add to: the spare file if no reader has it open, otherwise a copy of `ingestion.duckdb`, otherwise
 * a new file. Returns the generation up to which it has the records.
 */
const begin = Effect.fnUntraced(function* (layout: Layout, upTo: Id | undefined) {
  const spare = spareOf(layout)
  const fresh = attempt(spare, async () => {
    await rm(`${spare}.wal`, { force: true })
    await rm(spare, { force: true })
    if (upTo === undefined) return 0
    await copyFile(layout.ingestion, spare)
    await chmod(spare, 0o644)
    return upTo.number
  })
  const spareUpTo = yield* recordsUpTo(layout, spare)
  if (upTo === undefined || spareUpTo === undefined || openHere.has(inodeOf(spare))) return yield* fresh
  yield* attempt(spare, () => chmod(spare, 0o644))
  const isFree = Effect.as(DuckDb.hold(spare), true).pipe(
    Effect.scoped,
    Effect.orElseSucceed(() => false)
  )
  return (yield* isFree) ? spareUpTo.number : yield* fresh // another process still reads the spare file
})

const exchange = (layout: Layout, manifest: Manifest, upTo: Id | undefined) =>
  attempt(layout.ingestion, async () => {
    const spare = spareOf(layout)
    const before = `${spare}.before`
    await mkdir(layout.seen, { recursive: true })
    await rm(before, { force: true })
    await rm(`${layout.ingestion}.wal`, { force: true }) // the write-ahead log of a program that wrote to the old file
    if (upTo !== undefined) await link(layout.ingestion, before)
    await chmod(spare, 0o444)
    await rename(spare, layout.ingestion)
    await note(layout, layout.ingestion, manifest)
    if (upTo === undefined) return
    await rename(before, spare)
    await note(layout, spare, upTo)
  })

/** Removes a half-written file, which is useless. */
const discard = (layout: Layout) =>
  attempt(spareOf(layout), async () => {
    for (const file of [spareOf(layout), `${spareOf(layout)}.wal`]) await rm(file, { force: true })
  }).pipe(Effect.ignore)

const notWritten =
  ({ ingestion }: Layout) =>
  (cause: DuckDbError | OpenError) =>
    Effect.fail(new IngestionNotWritten({ file: ingestion, cause }))

/**
 * Brings the spare file up to this generation. Returns the generation of the present file, which becomes the spare;
 * undefined if nothing can be added to that file.
 */
const makeNext = Effect.fnUntraced(function* (
  layout: Layout,
  manifest: Manifest,
  facts: ReadonlyArray<DataSetFacts>,
  upTo: Id | undefined
) {
  if (yield* bringUp(layout, manifest, facts, yield* begin(layout, upTo))) return upTo
  yield* bringUp(layout, manifest, facts, yield* begin(layout, undefined))
  return undefined
})

/** Brings `ingestion.duckdb` up to this generation. The caller holds the lock of the files that users open. */
export const refreshIngestion = Effect.fn("Ingestion.refresh")(function* (
  layout: Layout,
  manifest: Manifest,
  facts: ReadonlyArray<DataSetFacts>
): Effect.fn.Return<void, IngestionNotWritten | PartDamaged> {
  const upTo = yield* recordsUpTo(layout, layout.ingestion)
  if (upTo !== undefined && upTo.number >= manifest.number) return
  const spareUpTo = yield* makeNext(layout, manifest, facts, upTo).pipe(
    Effect.catchTags({
      DuckDbError: notWritten(layout),
      FileInUse: notWritten(layout),
      NotADatabase: notWritten(layout)
    }),
    Effect.onError(() => discard(layout))
  )
  yield* exchange(layout, manifest, spareUpTo)
})

/** Whether `ingestion.duckdb` already has the records of this generation. */
export const isUpTo = (layout: Layout, number: number) =>
  Effect.map(recordsUpTo(layout, layout.ingestion), (upTo) => upTo !== undefined && upTo.number >= number)
