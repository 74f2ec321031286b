/**
 * Updates the lake: the generations as Parquet files, which other engines read through a DuckLake catalogue for all
 * tables or through a Delta log for each. The lake is stored in the depot, next to the parts. Files are stored before
 * a catalogue names them. The first writer to store the next state of the lake decides its catalogue, and everything
 * else is derived from that catalogue. So a killed process leaves a readable lake, and the next process continues it.
 */
import { randomUUID } from "node:crypto"
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect, Option } from "effect"
import { type Depot, listObjectTimes } from "../depot/depot.ts"
import { DuckDb, literal } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import { currentMaker, generationId, listNumbers, newestManifest, readManifest } from "../generation/manifest.ts"
import { isMarked, writeMarker } from "../generation/markers.ts"
import { identifyFile } from "../generation/parts.ts"
import { makeOwnFolder } from "../publishing/staging.ts"
import { findNewer } from "../tables/versions.ts"
import { addGeneration, type CatalogueContents, type NamedFile, readCatalogueFile } from "./add-generation.ts"
import { type Commit, isSameCommit, selectCheckpoint, toJsonLines } from "./delta.ts"
import { type GenerationParts, pullGenerationParts } from "./generation-parts.ts"
import {
  catalogueName,
  checkpointName,
  commitName,
  fileName,
  lastCheckpointName,
  openedCatalogue,
  stateName,
  statesFolder
} from "./names.ts"
import { sweepLake } from "./retention.ts"
import { lakeSetting } from "./setting.ts"
import {
  attempt,
  encodeState,
  fetchCatalogue,
  foreignLake,
  type LakeState,
  newestState,
  readLakeState,
  requireNoOtherFiles,
  requireOwnHistory
} from "./states.ts"

interface LocalState {
  readonly state: LakeState
  readonly file: string
  readonly contents: CatalogueContents
}

/** Stores a checkpoint of a Delta log, and the hint by which readers find it. */
const putCheckpoint = Effect.fnUntraced(function* (
  depot: Depot,
  { schema, table, version }: Commit,
  actions: NonNullable<Commit["checkpoint"]>,
  folder: string
) {
  const lines = path.join(folder, `${schema}.${table}.json`)
  const file = path.join(folder, `${schema}.${table}.checkpoint.parquet`)
  yield* attempt(lines, () => writeFile(lines, toJsonLines(actions)))
  const db = yield* DuckDb.memory
  yield* db.run(`copy (${selectCheckpoint(lines)}) to ${literal(file)} (format parquet)`)
  yield* depot.putFile(checkpointName(schema, table, version), yield* identifyFile(file), file)
  yield* depot.putHint(lastCheckpointName(schema, table), JSON.stringify({ version, size: actions.length }))
}, Effect.scoped)

/** Stores the Delta commits of the newest snapshot. Commits that an earlier run stored are the same. */
const putCommits = Effect.fnUntraced(function* (depot: Depot, { contents: { commits }, file }: LocalState) {
  const putCommit = Effect.fnUntraced(function* (commit: Commit) {
    const { checkpoint, schema, table, text, version } = commit
    const name = commitName(schema, table, version)
    if (!(yield* depot.putText(name, text))) {
      const stored = yield* depot.readText(name)
      if (Option.isSome(stored) && !isSameCommit(stored.value, text)) {
        return yield* foreignLake(depot, `contains ${name}, which Larder did not write`)
      }
    }
    if (checkpoint !== undefined) yield* putCheckpoint(depot, commit, checkpoint, path.dirname(file))
  })
  yield* Effect.forEach(commits, putCommit, { concurrency: 4, discard: true })
})

const putFiles = (depot: Depot, files: ReadonlyArray<NamedFile>) =>
  Effect.forEach(files, ({ file, name, object }) => depot.putFile(name, object, file), {
    concurrency: 4,
    discard: true
  })

/** Adds a generation to the lake. If another machine was faster, returns that machine's state. */
const putGeneration = Effect.fnUntraced(function* (
  layout: Layout,
  generation: GenerationParts,
  before: LocalState | undefined,
  objects: ReadonlyMap<string, number>,
  target: { readonly folder: string; readonly address: string }
) {
  const { depot } = layout
  const { id, number } = generation.manifest
  const folder = path.join(target.folder, randomUUID())
  const file = path.join(folder, "larder.ducklake")
  yield* attempt(folder, () => mkdir(folder))
  if (before !== undefined) {
    yield* attempt(file, async () => {
      await copyFile(before.file, file) // the depot may have this same file under another name
      await chmod(file, 0o644)
    })
  }
  const isNew = before === undefined
  const { added, contents } = yield* addGeneration(generation, { ...target, folder, file, isNew, objects })
  yield* putFiles(depot, added)
  const catalogue = yield* identifyFile(file)
  yield* depot.putFile(catalogueName(catalogue.sha256), catalogue, file)
  const place = (before?.state.place ?? 0) + 1
  const state: LakeState = { place, number, id, catalogue, written_by: currentMaker(), nonce: randomUUID() }
  if (!(yield* depot.putText(stateName(place), encodeState(state)))) {
    const newest = yield* newestState(depot)
    return newest === undefined ? undefined : yield* fetchState(layout, newest, target.folder)
  }
  yield* putFiles(depot, added) // again: an existing file may have been removed before it was named
  const local: LocalState = { state, file, contents }
  yield* putCommits(depot, local)
  const bytes = added.reduce((sum, { object }) => sum + object.bytes, 0)
  yield* Effect.logInfo(
    `the lake has ${generationId(number)}: ${added.length} new files, ${Math.ceil(bytes / 1024).toLocaleString("en-US")} KiB`
  )
  return local
})

/**
 * Replaces the catalogue that readers open with the newest one, and returns its state. The newest may be another
 * machine's: this machine's must not replace it.
 */
const replaceOpenedCatalogue = Effect.fnUntraced(function* (depot: Depot, own: LocalState, folder: string) {
  let shown = own
  for (let isShown = false; ; ) {
    const newest = yield* newestState(depot)
    if (newest !== undefined && newest.place > shown.state.place) {
      const file = yield* fetchCatalogue(depot, newest.catalogue, folder)
      shown = { state: newest, file, contents: yield* readCatalogueFile(file) }
    } else if (isShown) return shown
    yield* depot.replaceFile(openedCatalogue, shown.state.catalogue, shown.file)
    isShown = true
  }
})

/** Names the state that this machine has finished, so that the next run does not check again what was stored. */
const markerOf = ({ nonce, place }: LakeState) => ({ place: String(place), nonce })
const isFinished = (layout: Layout, state: LakeState) => isMarked(layout, "lake", markerOf(state))

/** Number of kept states: another machine may be reading one of them. */
const maxStates = 10

const sweep = Effect.fnUntraced(function* (depot: Depot, { contents: { files, versions }, state }: LocalState) {
  const names = files.map(({ path: file, schema, table }) => fileName(schema, table, file))
  const stateNames = (yield* depot.list(statesFolder)).slice(-maxStates)
  if (stateNames.at(-1) !== stateName(state.place)) return // another machine stored a newer state, and removes what is not needed
  const states = yield* Effect.forEach(stateNames, (name) => readLakeState(depot, name))
  const catalogues = states.flatMap((kept) => (kept === undefined ? [] : [catalogueName(kept.catalogue.sha256)]))
  yield* sweepLake(depot, new Set([...names, ...stateNames, ...catalogues]), versions)
})

/** Fetches a state of the lake to this machine, and finishes it. */
const fetchState = Effect.fnUntraced(function* (layout: Layout, state: LakeState, folder: string) {
  const { depot } = layout
  yield* requireOwnHistory(depot, state)
  const file = yield* fetchCatalogue(depot, state.catalogue, folder)
  const local: LocalState = { state, file, contents: yield* readCatalogueFile(file) }
  if (!(yield* isFinished(layout, state))) yield* putCommits(depot, local)
  return local
})

const update = Effect.fnUntraced(function* (layout: Layout, address: string) {
  const { depot } = layout
  const newest = Option.getOrUndefined(yield* newestManifest(layout.local))
  if (newest === undefined) return
  const [newer] = findNewer(newest)
  if (newer !== undefined) return yield* newer
  const state = yield* newestState(depot)
  if (state !== undefined && state.number >= newest.number && (yield* isFinished(layout, state))) return
  const folder = yield* makeOwnFolder(layout, `lake-${randomUUID()}`)
  if (state === undefined) yield* requireNoOtherFiles(depot)
  let lake = state === undefined ? undefined : yield* fetchState(layout, state, folder)
  const numbers = (yield* listNumbers(depot, state?.number)).filter((number) => number <= newest.number)
  for (const number of numbers) {
    const objects = yield* listObjectTimes(depot)
    const pulling = Effect.gen(function* () {
      const manifest = Option.getOrUndefined(yield* readManifest(depot, number))
      const parts = manifest && (yield* pullGenerationParts(layout, manifest, objects, folder))
      if (parts === undefined) yield* Effect.logInfo(`the lake skips ${generationId(number)}: its data was removed`)
      return parts
    })
    // Older generations are only history: an error in one of them is logged, and the generation is skipped.
    const parts = yield* number === newest.number
      ? pulling
      : pulling.pipe(
          Effect.catch(({ message }) =>
            Effect.as(Effect.logWarning(`the lake skips ${generationId(number)}: ${message}`), undefined)
          )
        )
    while (parts !== undefined && (lake?.state.number ?? 0) < number) {
      lake = yield* putGeneration(layout, parts, lake, objects, { folder, address })
    }
  }
  if (lake === undefined) return
  const shown = yield* replaceOpenedCatalogue(depot, lake, folder)
  yield* writeMarker(layout, "lake", markerOf(lake.state))
  yield* sweep(depot, shown)
}, Effect.scoped)

/** Brings the lake up to the newest generation of this machine, if a lake is configured. */
export const updateLake = Effect.fn("Lake.update")(function* (layout: Layout) {
  const address = yield* lakeSetting(layout)
  if (address !== undefined) yield* withLock(layout.lakeLock, update(layout, address))
})
