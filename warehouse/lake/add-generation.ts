/** A generation as the next snapshot of a catalogue, and the files of it that the one before did not have. */
import path from "node:path"
import { Effect } from "effect"
import { nameOf } from "../columns-by-name.ts"
import type { ObjectId } from "../depot/depot.ts"
import { DuckDb, identifier, literal } from "../duckdb.ts"
import { generationId, type Manifest } from "../generation/manifest.ts"
import { attachParts, describing, type Parts, rowsOf, type Source, sourcesOf } from "../opened/parts.ts"
import { markAllSamples } from "../sample-marks.ts"
import { dataSetTable } from "../tables.ts"
import { definitionsIn } from "./definitions.ts"
import { commitsOfNewest } from "./delta.ts"
import { attachCatalogue, catalogue, filesIn, oldestVersions } from "./ducklake.ts"
import { writeFiles } from "./files.ts"
import { fileName } from "./names.ts"
import { expireSnapshots } from "./retention.ts"
import { beginSnapshot, endSnapshot, setFiles } from "./snapshot.ts"

/** What a generation is made of, on this machine. */
export interface GenerationParts extends Parts {
  readonly manifest: Manifest
  /** The SHA-256 of the database of each data set, by its schema. */
  readonly databases: Readonly<Record<string, string>>
  /** Schemas that this version cannot read: what the lake has of them stays. */
  readonly untouched: ReadonlySet<string>
}

export interface Target {
  /** The catalogue; it is not there yet where it is to be a new one. */
  readonly file: string
  readonly isNew: boolean
  /** For the files of the tables. */
  readonly folder: string
  /** Where readers find the lake. */
  readonly address: string
  /** What the depot has. */
  readonly objects: ReadonlyMap<string, number>
}

/** A file that is to be put under its name. */
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

/** Creates the tables, views and comments in the session. Answers with the sources of their rows. */
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

/** Adds the snapshot to the catalogue and expires old ones. Answers with the new files, and what follows from the catalogue. */
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
    if (database !== undefined && database === before[schema]) continue // not even read
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

/** What follows from a catalogue. */
const readCatalogue = (db: DuckDb["Service"]) =>
  Effect.all({ commits: commitsOfNewest(db), files: filesIn(db), versions: oldestVersions(db) })
export type ReadCatalogue = Effect.Success<ReturnType<typeof readCatalogue>>

/** The same of one that somebody else wrote. */
export const readCatalogueIn = Effect.fnUntraced(function* (file: string) {
  const db = yield* DuckDb.memory
  yield* db.run(`attach ${literal(file)} as ${catalogue} (read_only)`)
  return yield* readCatalogue(db)
}, Effect.scoped)
