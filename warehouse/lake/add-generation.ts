/**
 * Adds a generation to a catalogue as the next snapshot, and returns the files that the snapshot before did not have.
 */
import path from "node:path"
import { Effect } from "effect"
import type { ObjectId } from "../depot/depot.ts"
import { DuckDb, identifier, literal } from "../duckdb.ts"
import { generationId, type Manifest } from "../generation/manifest.ts"
import { attachParts, describing, type Parts, rowsOf, type Source, sourcesOf } from "../opened/parts.ts"
import { nameOf } from "../tables/earlier-versions.ts"
import { dataSetTable } from "../tables/ingest-tables.ts"
import { markAllSamples } from "../tables/sample-marks.ts"
import { definitionsIn } from "./definitions.ts"
import { commitsOfNewest } from "./delta.ts"
import { attachCatalogue, catalogue, filesIn, oldestVersions } from "./ducklake.ts"
import { writeFiles } from "./files.ts"
import { fileName } from "./names.ts"
import { expireSnapshots } from "./retention.ts"
import { beginSnapshot, endSnapshot, setFiles } from "./snapshot.ts"

/** The parts of a generation on this machine. */
export interface GenerationParts extends Parts {
  readonly manifest: Manifest
  /** The SHA-256 of each data set's database, by schema. */
  readonly databases: Readonly<Record<string, string>>
  /** Schemas that this version cannot read: the lake keeps what it has of them. */
  readonly untouched: ReadonlySet<string>
}

export interface Target {
  /** The file of the catalogue. It does not exist yet if `isNew`. */
  readonly file: string
  readonly isNew: boolean
  /** Folder for the files of the tables. */
  readonly folder: string
  /** Address at which readers find the lake. */
  readonly address: string
  /** The objects in the depot, by SHA-256. */
  readonly objects: ReadonlyMap<string, number>
}

/** A file to put under a name. */
export interface NamedFile {
  readonly name: string
  readonly object: ObjectId
  readonly file: string
}

const messageOf = ({ event: { kind, note, outcome, pipeline, went_back_to }, number }: Manifest) => {
  const what =
    kind === "rollback"
      ? `rollback to ${went_back_to === null ? "before its first run" : generationId(went_back_to)}`
      : (outcome ?? kind)
  return [generationId(number), pipeline, what, note].filter((part) => part !== null).join(": ")
}

const from = ({ file, table }: Source) => `${identifier(file)}.${nameOf(table)}`

/** Creates the tables, views and comments in the session. Returns the sources of their rows. */
const define = Effect.fnUntraced(function* (db: DuckDb["Service"], parts: Parts) {
  yield* attachParts(db, parts)
  const sources = yield* sourcesOf(db, parts)
  const filled = sources.filter(({ table }) => table === dataSetTable)
  yield* db.run(
    [
      ...filled.map((source) => `insert into ${nameOf(source.table)} ${rowsOf(source, from(source))}`),
      ...describing(parts, sources, "table")
    ].join(";\n")
  )
  yield* markAllSamples(db)
  return sources
})

/**
 * Adds the snapshot to the catalogue and expires old ones. Returns the new files, and what is derived from the
 * catalogue.
 */
export const addGeneration = Effect.fnUntraced(function* (generation: GenerationParts, target: Target) {
  const { databases, manifest, untouched } = generation
  const db = yield* DuckDb.memory
  yield* db.run(`set temp_directory = ${literal(path.join(target.folder, "tmp"))}`)
  const sources = yield* define(db, generation)
  const definitions = yield* definitionsIn(db, untouched)
  yield* attachCatalogue(db, target.file, target.isNew)
  const snapshot = yield* beginSnapshot(db, manifest, definitions)
  const before = snapshot.before?.extra.databases ?? {}
  const added: Array<NamedFile> = []
  for (const source of sources) {
    const { name, schema } = source.table
    const database = databases[schema]
    if (database !== undefined && database === before[schema]) continue // unchanged, so not even read
    const table = snapshot.tables.get(`${schema}.${name}`)
    if (table === undefined) continue
    const columns = table.columns.map(({ node }) => node)
    const folder = path.join(target.folder, schema, name)
    const files = yield* writeFiles(db, source.table, columns, rowsOf(source, from(source)), folder)
    for (const { file, object } of yield* setFiles(db, snapshot, table, files)) {
      added.push({ name: fileName(schema, name, `${object.sha256}.parquet`), object, file })
    }
  }
  const stays = Object.entries(before).filter(([schema]) => untouched.has(schema))
  yield* endSnapshot(db, snapshot, {
    databases: { ...Object.fromEntries(stays), ...databases },
    address: target.address,
    message: messageOf(manifest)
  })
  yield* expireSnapshots(db, target.objects)
  const read = yield* readCatalogue(db)
  yield* db.run(`checkpoint ${catalogue}; detach ${catalogue}`)
  return { added, read }
}, Effect.scoped)

/** The Delta commits, file names and oldest log versions that are derived from a catalogue. */
const readCatalogue = (db: DuckDb["Service"]) =>
  Effect.all({ commits: commitsOfNewest(db), files: filesIn(db), versions: oldestVersions(db) })
export type ReadCatalogue = Effect.Success<ReturnType<typeof readCatalogue>>

/** The same from the file of a catalogue that another writer made. */
export const readCatalogueIn = Effect.fnUntraced(function* (file: string) {
  const db = yield* DuckDb.memory
  yield* db.run(`attach ${literal(file)} as ${catalogue} (read_only)`)
  return yield* readCatalogue(db)
}, Effect.scoped)
