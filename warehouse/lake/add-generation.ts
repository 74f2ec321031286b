/** Adds a generation to a catalogue as the next snapshot, and returns the files that are new in it. */
import path from "node:path"
import { Effect } from "effect"
import type { ObjectId } from "../depot/depot.ts"
import { DuckDb, identifier, literal } from "../duckdb.ts"
import { generationId, type Manifest } from "../generation/manifest.ts"
import {
  attachParts,
  listSources,
  type Parts,
  schemaStatements,
  type TableSource,
  viewsAndComments
} from "../opened/parts.ts"
import { qualifiedName } from "../tables/dictionary.ts"
import { dataSetTable } from "../tables/ingest-tables.ts"
import { markAllSamples } from "../tables/sample-marks.ts"
import { readNewestCommits } from "./delta.ts"
import { attachCatalogue, catalogue, listFiles, readOldestVersions } from "./ducklake.ts"
import { writeFiles } from "./files.ts"
import type { GenerationParts } from "./generation-parts.ts"
import { fileName } from "./names.ts"
import { expireSnapshots } from "./retention.ts"
import { beginSnapshot, endSnapshot, setFiles } from "./snapshot.ts"

interface Target {
  /** The file of the catalogue. It does not exist yet if `isNew`. */
  readonly file: string
  readonly isNew: boolean
  /** Folder for the files of the tables. */
  readonly folder: string
  /** Address for readers of the lake. */
  readonly address: string
  /** The objects in the depot, by SHA-256. */
  readonly objects: ReadonlyMap<string, number>
}

export interface NamedFile {
  readonly name: string
  readonly object: ObjectId
  readonly file: string
}

const describeEvent = ({ event: { kind, note, outcome, pipeline, went_back_to }, number }: Manifest) => {
  const action =
    kind === "rollback"
      ? `rollback to ${went_back_to === null ? "before its first run" : generationId(went_back_to)}`
      : (outcome ?? kind)
  return [generationId(number), pipeline, action, note].filter((part) => part !== null).join(": ")
}

const selectFrom = ({ file, table }: TableSource) => `from ${identifier(file)}.${qualifiedName(table)}`

/** Creates the tables, views and comments in the session. Returns the sources of their rows. */
const define = Effect.fnUntraced(function* (db: DuckDb["Service"], parts: Parts) {
  yield* attachParts(db, parts)
  const sources = listSources(parts)
  yield* db.run([...schemaStatements(parts), ...sources.map(({ table }) => table.ddl)].join(";\n"))
  const inserts = sources
    .filter(({ table }) => table === dataSetTable)
    .map((source) => `insert into ${qualifiedName(source.table)} ${selectFrom(source)}`)
  yield* db.run([...inserts, ...viewsAndComments(parts, sources, "table")].join(";\n"))
  yield* markAllSamples(db)
  return sources
})

/** Adds the snapshot to the catalogue and expires old ones. Returns the new files, and the contents of the catalogue. */
export const addGeneration = Effect.fnUntraced(function* (generation: GenerationParts, target: Target) {
  const { databases, manifest, untouched } = generation
  const db = yield* DuckDb.memory
  yield* db.run(`set temp_directory = ${literal(path.join(target.folder, "tmp"))}`)
  const sources = yield* define(db, generation)
  yield* attachCatalogue(db, target.file, target.isNew)
  const snapshot = yield* beginSnapshot(db, manifest, untouched)
  const previous = snapshot.before?.extra.databases ?? {}
  const added: Array<NamedFile> = []
  for (const source of sources) {
    const { name, schema } = source.table
    const database = databases[schema]
    if (database !== undefined && database === previous[schema]) continue // unchanged, so not even read
    const table = snapshot.tables.get(`${schema}.${name}`)
    if (table === undefined) continue
    const fields = table.columns.map(({ field }) => field)
    const folder = path.join(target.folder, schema, name)
    const files = yield* writeFiles(db, source.table, fields, selectFrom(source), folder)
    for (const { file, object } of yield* setFiles(db, manifest.number, table, files)) {
      added.push({ name: fileName(schema, name, `${object.sha256}.parquet`), object, file })
    }
  }
  const kept = Object.entries(previous).filter(([schema]) => untouched.has(schema))
  const allDatabases = { ...Object.fromEntries(kept), ...databases }
  yield* endSnapshot(db, snapshot, allDatabases, target.address, describeEvent(manifest))
  yield* expireSnapshots(db, target.objects)
  const contents = yield* readContents(db)
  yield* db.run(`checkpoint ${catalogue}; detach ${catalogue}`)
  return { added, contents }
}, Effect.scoped)

/** The newest Delta commits, the files and the oldest log versions of a catalogue. */
const readContents = (db: DuckDb["Service"]) =>
  Effect.all({ commits: readNewestCommits(db), files: listFiles(db), versions: readOldestVersions(db) })
export type CatalogueContents = Effect.Success<ReturnType<typeof readContents>>

/** Reads the file of a catalogue that another writer made. */
export const readCatalogueFile = Effect.fnUntraced(function* (file: string) {
  const db = yield* DuckDb.memory
  yield* db.run(`attach ${literal(file)} as ${catalogue} (read_only)`)
  return yield* readContents(db)
}, Effect.scoped)
