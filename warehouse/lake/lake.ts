/**
 * The lake: every generation also as Parquet files, under two catalogues that other engines read, a DuckLake over all tables and a
 * Delta log for each. It lies in the depot, beside the parts. Its files are there before a catalogue names them; which catalogue is that
 * of a generation is decided by who names it first, and everything else follows from that catalogue. So a program that is killed
 * leaves a lake that can be read, and the next one goes on from there.
 */
import { randomUUID } from "node:crypto"
import { chmod, copyFile, mkdir, open, readFile, rm, stat, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect, Option, Schema, Stream } from "effect"
import { type Depot, datedObjects, ObjectId } from "../depot/depot.ts"
import { DuckDb, literal } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import {
  type DataSetEntry,
  generationId,
  isLoaded,
  listNumbers,
  type Manifest,
  madeBy,
  newestManifest,
  readManifest
} from "../generation/manifest.ts"
import { objectIdOf, verifiedDatabase } from "../generation/parts.ts"
import { bringParts } from "../generation/pull.ts"
import { recordsUpTo, refreshIngestion } from "../ingestion/file.ts"
import { readableOf } from "../opened/readable.ts"
import { ownFolder } from "../staging.ts"
import { dataSets } from "../tables.ts"
import { addGeneration, type Generation, type ReadCatalogue, readCatalogueIn } from "./add-generation.ts"
import { type Commit, checkpointRows, linesOf } from "./delta.ts"
import {
  catalogueName,
  checkpointName,
  commitName,
  fileName,
  generationName,
  generationsFolder,
  lastCheckpointName,
  openedCatalogue
} from "./names.ts"
import { sweepLake } from "./retention.ts"
import { lakeSetting } from "./setting.ts"

/** The lake is not one that this warehouse wrote. */
export class ForeignLake extends Schema.TaggedError<ForeignLake>()("ForeignLake", {
  location: Schema.String,
  /** What was found. */
  fault: Schema.String
}) {
  override get message() {
    return `${this.location}/lake ${this.fault}. Nothing of it was changed. Move that folder aside, and the next run writes a new lake; or set LARDER_DEPOT to another depot.`
  }
}

/** A file on its way into the lake cannot be written on this machine, or is not what was put. */
export class LakeUnwritable extends Schema.TaggedError<LakeUnwritable>()("LakeUnwritable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.file} cannot be written: ${reason}`
  }
}

const attempt = <A>(file: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new LakeUnwritable({ file, cause }) })

/** Which catalogue is that of a generation. */
const Named = Schema.Struct({
  number: Schema.Int,
  /** Of the manifest. */
  id: Schema.String,
  catalogue: ObjectId,
  written_by: Schema.String,
  /** Random: tells one's own from that of somebody who was faster. */
  attempt: Schema.String
})
type Named = typeof Named.Type
const namedText = Schema.fromJsonString(Named)
const decodeNamed = Schema.decodeUnknownOption(namedText)
const encodeNamed = Schema.encodeSync(namedText)

const readNamed = Effect.fnUntraced(function* (depot: Depot, name: string) {
  const named = Option.flatMap(yield* depot.text(name), decodeNamed)
  if (Option.isSome(named)) return named.value
  return yield* new ForeignLake({ location: depot.location, fault: `has ${name}, which is damaged or not Larder's` })
})

/** The newest generation of the lake. */
const newestNamed = Effect.fnUntraced(function* (depot: Depot) {
  const name = (yield* depot.list(generationsFolder)).at(-1)
  return name === undefined ? undefined : yield* readNamed(depot, name)
})

/** Fails where somebody else has a lake there. Files of tables may be of a first run that was killed. */
const requireNone = Effect.fnUntraced(function* (depot: Depot) {
  const found = [...(yield* depot.dated("lake/")).keys()]
  const foreign = found.find(
    (name) => !/^lake\/(data\/[^/]+\/[^/]+|catalogues)\/[0-9a-f]{64}\.(parquet|ducklake)$/.test(name)
  )
  if (foreign === undefined) return
  return yield* new ForeignLake({
    location: depot.location,
    fault: `has files that Larder did not write, such as ${foreign}`
  })
})

/** Fails where the lake has another generation under this number. A manifest that is gone was removed since. */
const requireSame = Effect.fnUntraced(function* (depot: Depot, { id, number }: Named) {
  const manifest = yield* readManifest(depot, number)
  if (Option.isNone(manifest) || manifest.value.id === id) return
  return yield* new ForeignLake({
    location: depot.location,
    fault: `is that of another warehouse: its ${generationId(number)} is another one`
  })
})

/** Brings a catalogue to this machine. */
const fetch = Effect.fnUntraced(function* (depot: Depot, { bytes, sha256 }: ObjectId, file: string) {
  const name = catalogueName(sha256)
  const opened = yield* Effect.acquireRelease(
    attempt(file, () => open(file, "w")),
    (handle) => Effect.promise(() => handle.close())
  )
  yield* Stream.runForEach(depot.bytes(name, 0), (chunk) => attempt(file, () => opened.appendFile(chunk)))
  const found = yield* objectIdOf(file)
  if (found.sha256 === sha256 && found.bytes === bytes) return
  return yield* new ForeignLake({ location: depot.location, fault: `has ${name}, which is damaged` })
}, Effect.scoped)

/** A lake that is being brought up: its newest generation, and the catalogue of that on this machine. */
interface Known {
  readonly named: Named
  readonly file: string
  readonly read: ReadCatalogue
}

/** Puts a checkpoint of a Delta log, and the hint that leads readers to it. */
const putCheckpoint = Effect.fnUntraced(function* (
  depot: Depot,
  { schema, table, version }: Commit,
  actions: NonNullable<Commit["checkpoint"]>,
  folder: string
) {
  const lines = path.join(folder, `${schema}.${table}.json`)
  const file = path.join(folder, `${schema}.${table}.checkpoint.parquet`)
  yield* attempt(lines, () => writeFile(lines, linesOf(actions)))
  const db = yield* DuckDb.memory
  yield* db.run(`copy (${checkpointRows(lines)}) to ${literal(file)} (format parquet)`)
  yield* depot.putFile(checkpointName(schema, table, version), yield* objectIdOf(file), file)
  yield* depot.putHint(lastCheckpointName(schema, table), JSON.stringify({ version, size: actions.length }))
}, Effect.scoped)

/** Puts what the Delta logs say of the newest snapshot. Who did it before put the same. */
const putCommits = Effect.fnUntraced(function* (depot: Depot, { file, read: { commits } }: Known) {
  const put = Effect.fnUntraced(function* (commit: Commit) {
    const { checkpoint, schema, table, text, version } = commit
    const name = commitName(schema, table, version)
    if (!(yield* depot.putText(name, text))) {
      const there = yield* depot.text(name)
      if (Option.isSome(there) && there.value !== text) {
        return yield* new ForeignLake({ location: depot.location, fault: `has ${name}, which Larder did not write` })
      }
    }
    if (checkpoint !== undefined) yield* putCheckpoint(depot, commit, checkpoint, path.dirname(file))
  })
  yield* Effect.forEach(commits, put, { concurrency: 4, discard: true })
})

/** `ingestion.duckdb` as of this generation, in the folder. */
const ingestionOf = Effect.fnUntraced(function* (layout: Layout, manifest: Manifest, folder: string) {
  yield* attempt(folder, () => mkdir(folder, { recursive: true }))
  const own = {
    ...layout,
    dir: folder,
    ingestion: path.join(folder, "ingestion.duckdb"),
    seen: path.join(folder, "seen")
  }
  const inode = () => stat(layout.ingestion, { bigint: true }).then(({ ino }) => ino)
  if ((yield* recordsUpTo(layout, layout.ingestion))?.number === manifest.number) {
    const before = yield* attempt(layout.ingestion, inode)
    yield* attempt(own.ingestion, () => copyFile(layout.ingestion, own.ingestion))
    if (before === (yield* attempt(layout.ingestion, inode))) return own.ingestion // else it was exchanged, and may be written to
    yield* attempt(own.ingestion, () => rm(own.ingestion))
  }
  yield* refreshIngestion(own, manifest, dataSets)
  return own.ingestion
})

const loadedIn = ({ data_sets }: Manifest): Readonly<Record<string, DataSetEntry>> =>
  Object.fromEntries(Object.entries(data_sets).filter(([, entry]) => isLoaded(entry)))

/** What the lake takes of a generation, brought to this machine. Undefined where its data is no longer kept. */
const generationOf = Effect.fnUntraced(function* (
  layout: Layout,
  manifest: Manifest,
  objects: ReadonlyMap<string, number>,
  folder: string
) {
  const loaded = loadedIn(manifest)
  const databases = Object.values(loaded).flatMap(({ parts }) => parts.slice(0, 1))
  if (!databases.every(({ sha256 }) => objects.has(sha256))) return undefined
  yield* bringParts(layout, generationId(manifest.number), [...databases, ...manifest.ingest.parts])
  for (const [pipeline, entry] of Object.entries(loaded)) yield* verifiedDatabase(layout, pipeline, entry)
  const { others, readable } = yield* readableOf(layout, loaded)
  for (const { message } of others) yield* Effect.logWarning(`the lake keeps what it had of a data set: ${message}`)
  const parts = dataSets.flatMap((dataSet) => {
    const [database] = readable[dataSet.about.pipeline]?.parts ?? []
    return database === undefined ? [] : [{ dataSet, sha256: database.sha256 }]
  })
  const untouched = dataSets.filter(({ about: { pipeline } }) => pipeline in loaded && !(pipeline in readable))
  return {
    manifest,
    parts: parts.map(({ dataSet, sha256 }) => ({ dataSet, file: layout.objectFile(sha256) })),
    ingestion: yield* ingestionOf(layout, manifest, path.join(folder, String(manifest.number))),
    databases: Object.fromEntries(parts.map(({ dataSet, sha256 }) => [dataSet.schema, sha256])),
    untouched: new Set(untouched.map(({ schema }) => schema))
  } satisfies Generation as Generation
})

/** Puts a generation into the lake. Where another machine was faster, what that one put counts. */
const putGeneration = Effect.fnUntraced(function* (
  layout: Layout,
  generation: Generation,
  known: Known | undefined,
  objects: ReadonlyMap<string, number>,
  target: { readonly folder: string; readonly address: string }
) {
  const { depot } = layout
  const { id, number } = generation.manifest
  const folder = path.join(target.folder, String(number))
  const file = path.join(folder, "larder.ducklake")
  yield* attempt(folder, () => mkdir(folder, { recursive: true }))
  if (known !== undefined) {
    yield* attempt(file, async () => {
      await copyFile(known.file, file) // the depot may have that file itself, under another name
      await chmod(file, 0o644)
    })
  }
  let { added, read } = yield* addGeneration(generation, {
    ...target,
    folder,
    file,
    isNew: known === undefined,
    objects
  })
  yield* Effect.forEach(added, (one) => depot.putFile(one.name, one.object, one.file), {
    concurrency: 4,
    discard: true
  })
  const catalogue = yield* objectIdOf(file)
  yield* depot.putFile(catalogueName(catalogue.sha256), catalogue, file)
  let named: Named = { number, id, catalogue, written_by: madeBy(), attempt: randomUUID() }
  const name = generationName(number)
  if (!(yield* depot.putText(name, encodeNamed(named)))) {
    named = yield* readNamed(depot, name)
    yield* fetch(depot, named.catalogue, file)
    read = yield* readCatalogueIn(file)
  }
  const put: Known = { named, file, read }
  yield* putCommits(depot, put)
  const bytes = added.reduce((sum, { object }) => sum + object.bytes, 0)
  yield* Effect.logInfo(
    `the lake has ${generationId(number)}: ${added.length} new files, ${Math.ceil(bytes / 1024).toLocaleString("en-US")} KiB`
  )
  return put
})

/** Shows readers the newest catalogue. Another machine may put a newer one meanwhile, and this one must not take its place. */
const show = Effect.fnUntraced(function* (depot: Depot, known: Known, folder: string) {
  let shown = known
  for (;;) {
    yield* depot.replaceFile(openedCatalogue, shown.named.catalogue, shown.file)
    const newest = yield* newestNamed(depot)
    if (newest === undefined || newest.number <= shown.named.number) return
    const file = path.join(folder, `${newest.catalogue.sha256}.ducklake`)
    yield* fetch(depot, newest.catalogue, file)
    shown = { named: newest, file, read: yield* readCatalogueIn(file) }
  }
})

/** Notes what this machine has finished, so that the next run need not look whether all is there. */
const noteOf = ({ seen }: Layout) => path.join(seen, "lake")
const noted = ({ attempt: random, number }: Named) => `${number} ${random}\n`
const isFinished = (layout: Layout, named: Named) =>
  Effect.promise(() =>
    readFile(noteOf(layout), "utf8").then(
      (text) => text === noted(named),
      () => false
    )
  )
const noteFinished = (layout: Layout, named: Named) =>
  Effect.promise(
    () =>
      mkdir(layout.seen, { recursive: true })
        .then(() => writeFile(noteOf(layout), noted(named)))
        .catch(() => undefined) // it is looked at again
  )

const sweep = (depot: Depot, { named, read: { files, versions } }: Known) => {
  const names = files.map(({ path: of, schema, table }) => fileName(schema, table, of))
  const inUse = new Set([...names, catalogueName(named.catalogue.sha256), generationName(named.number)])
  return sweepLake(depot, inUse, versions)
}

/** The newest generation of the lake on this machine, and finished. */
const known = Effect.fnUntraced(function* (layout: Layout, named: Named, folder: string) {
  const { depot } = layout
  yield* requireSame(depot, named)
  const file = path.join(folder, "known.ducklake")
  yield* fetch(depot, named.catalogue, file)
  const found: Known = { named, file, read: yield* readCatalogueIn(file) }
  if (!(yield* isFinished(layout, named))) yield* putCommits(depot, found)
  return found
})

const bringUp = Effect.fnUntraced(function* (layout: Layout, address: string) {
  const { depot } = layout
  const newest = Option.getOrUndefined(yield* newestManifest(layout.local))
  const named = yield* newestNamed(depot)
  if (
    newest === undefined ||
    (named !== undefined && named.number >= newest.number && (yield* isFinished(layout, named)))
  )
    return
  const folder = yield* ownFolder(layout, `lake-${randomUUID()}`)
  if (named === undefined) yield* requireNone(depot)
  let lake = named === undefined ? undefined : yield* known(layout, named, folder)
  const missed = yield* listNumbers(depot, named?.number)
  for (const number of missed.filter((one) => one <= newest.number)) {
    const manifest = Option.getOrUndefined(yield* readManifest(depot, number))
    const objects = yield* datedObjects(depot)
    const generation = manifest && (yield* generationOf(layout, manifest, objects, folder))
    if (generation !== undefined) lake = yield* putGeneration(layout, generation, lake, objects, { folder, address })
    else yield* Effect.logInfo(`the lake is without ${generationId(number)}, whose data is no longer kept`)
  }
  if (lake === undefined) return
  yield* show(depot, lake, folder)
  yield* noteFinished(layout, lake.named)
  yield* sweep(depot, lake)
}, Effect.scoped)

/** Brings the lake up to the newest generation of this machine, where there is to be one. */
export const bringLakeUp = Effect.fn("Lake.bringUp")(function* (layout: Layout) {
  const address = yield* lakeSetting(layout)
  if (address !== undefined) yield* withLock(layout.lakeLock, bringUp(layout, address))
})

/** The same behind a publication, which stays whatever becomes of the lake. */
export const followWithLake = (layout: Layout) =>
  bringLakeUp(layout).pipe(
    Effect.catch(({ message }) =>
      Effect.logWarning(`the lake is not up to what is live, and the next run brings it up: ${message}`)
    )
  )
