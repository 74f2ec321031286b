/**
 * Writes and attaches `ingestion.duckdb`: the records of all runs, as tables that users query, made from the parts of
 * `ingest`. A new generation adds its part to a copy, which then replaces the file, so a reader that has the file open
 * keeps its state. The copy takes about 0.1 s for 40 MB, the size after some ten thousand runs. The file can be made again
 * from the parts at any time.
 */
import { existsSync } from "node:fs"
import { rm } from "node:fs/promises"
import path from "node:path"
import { Effect } from "effect"
import { copyForWriting, FileOperationFailed, fileOperation, writeAtomically } from "../disk.ts"
import { DuckDb, literal, openError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { generationId, type Manifest, readManifest } from "../generation/manifest.ts"
import { readMarker, readStamp, storeMarker } from "../generation/markers.ts"
import { findFault } from "../generation/parts.ts"
import { define, definitionHash } from "../tables/dictionary.ts"
import { dataSetTable, ingestTables, ingestViews } from "../tables/ingest-tables.ts"
import { type DataSet, toCells } from "../tables/tables.ts"
import type { IngestPartFile } from "./part.ts"
import { addRecords, createUndoneTable, dataSetRows, hasRebuildChanged, markRolledBack } from "./rows.ts"

const defined = { tables: ingestTables, views: ingestViews }
const hash = definitionHash(defined)

const problem = "could not be updated"
const consequence = "Nothing is lost. Remove the cause: the next run or `larder-ingest status` updates it."
const operation = fileOperation(problem, consequence)
const attempt = <A>(file: string, run: () => Promise<A>) => Effect.uninterruptible(operation(file, run))

const stampOf = (file: string) => attempt(file, () => readStamp(file))
const markerOf = ({ ingestion }: Layout) => path.basename(ingestion)

/** Records that this version has written the file, with the records of all generations up to this one. */
const markRecorded = Effect.fnUntraced(function* (layout: Layout, { id, number }: Manifest) {
  const facts = { stamp: yield* stampOf(layout.ingestion), definitions: hash, number: String(number), id }
  const name = markerOf(layout)
  yield* attempt(path.join(layout.markers, name), () => storeMarker(layout, name, facts))
})

/**
 * The newest generation whose records the file has. Undefined if the file was changed, or the manifest of that
 * generation was lost: then its number may have been used again, but not its id.
 */
export const findNewestRecorded = Effect.fnUntraced(
  function* (layout: Layout) {
    const { ingestion } = layout
    const { definitions, id, number, stamp } = yield* readMarker(layout, markerOf(layout))
    const isUnchanged = definitions === hash && stamp === (yield* stampOf(ingestion)) && !existsSync(`${ingestion}.wal`)
    if (!isUnchanged) return undefined
    const manifest = yield* readManifest(layout.local, Number(number))
    return manifest?.id === id ? manifest : undefined
  },
  Effect.orElseSucceed(() => undefined)
)

export const hasRecordsUpTo = (layout: Layout, number: number) =>
  Effect.map(findNewestRecorded(layout), (newest) => newest !== undefined && newest.number >= number)

/** Attaches the file to a session until the scope ends. */
export const attachIngestion = ({ ingestion }: Layout, session: DuckDb["Service"], name: string) =>
  Effect.acquireRelease(
    session.run(`attach ${literal(ingestion)} as ${name} (read_only)`).pipe(Effect.mapError(openError(ingestion))),
    () => Effect.ignore(session.run(`detach ${name}`))
  )

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
 * Adds the records of the generations after `after`, up to this one, to a file. `after` is 0 for a new file. Returns
 * false if the file has to be made again from all parts.
 */
const addGenerations = Effect.fnUntraced(function* (
  layout: Layout,
  file: string,
  manifest: Manifest,
  dataSets: ReadonlyArray<DataSet>,
  after: number
) {
  const db = yield* DuckDb.readWrite(file)
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

/** Updates `ingestion.duckdb` to this generation. The caller has the lock of the files that users open. */
export const refreshIngestion = Effect.fn("Ingestion.refresh")(function* (
  layout: Layout,
  manifest: Manifest,
  dataSets: ReadonlyArray<DataSet>
) {
  const file = layout.ingestion
  const recorded = yield* findNewestRecorded(layout)
  if (recorded !== undefined && recorded.number >= manifest.number) return
  const make = Effect.fnUntraced(function* (temporaryFile: string) {
    if (recorded !== undefined) {
      yield* attempt(file, () => copyForWriting(file, temporaryFile))
      if (yield* addGenerations(layout, temporaryFile, manifest, dataSets, recorded.number)) return
      yield* attempt(file, () => rm(temporaryFile))
    }
    yield* addGenerations(layout, temporaryFile, manifest, dataSets, 0)
  })
  const removeLog = attempt(file, () => rm(`${file}.wal`, { force: true })) // of a program that wrote to the old file
  yield* writeAtomically(file, (temporaryFile) => Effect.andThen(make(temporaryFile), removeLog)).pipe(
    Effect.catchTag(["DuckDbError", "FileInUse", "NotADatabase", "PlatformError"], (cause) =>
      Effect.fail(new FileOperationFailed({ file, problem, cause, consequence }))
    )
  )
  yield* markRecorded(layout, manifest)
})
