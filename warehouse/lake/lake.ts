/**
 * The lake: every generation also as Parquet files, described by two catalogues that other engines read, a DuckLake for
 * all tables and a Delta log for each. It is stored in the depot, beside the parts. Files are put before a catalogue
 * names them. The first writer to put the next state of the lake decides its catalogue, and everything else follows
 * from that catalogue. So a killed process leaves a readable lake, and the next one continues from there.
 */
import { randomUUID } from "node:crypto"
import { chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect, Option } from "effect"
import { type Depot, datedObjects } from "../depot/depot.ts"
import { DuckDb, literal } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import { generationId, listNumbers, madeBy, newestManifest, readManifest } from "../generation/manifest.ts"
import { objectIdOf } from "../generation/parts.ts"
import { ownFolder } from "../publishing/staging.ts"
import { newerIn } from "../tables/newer-versions.ts"
import {
  addGeneration,
  type GenerationParts,
  type NamedFile,
  type ReadCatalogue,
  readCatalogueIn
} from "./add-generation.ts"
import { type Commit, checkpointRows, isSameCommit, linesOf } from "./delta.ts"
import { generationPartsOf } from "./generation-parts.ts"
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
  ForeignLake,
  fetchCatalogue,
  newestState,
  readState,
  requireNone,
  requireSame,
  type State
} from "./states.ts"

/** A state of the lake, with its catalogue on this machine. */
interface LocalState {
  readonly state: State
  readonly file: string
  readonly read: ReadCatalogue
}

/** Puts a checkpoint of a Delta log, and the hint by which readers find it. */
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

/** Puts the Delta commits of the newest snapshot. A run that did so before has put the same commits. */
const putCommits = Effect.fnUntraced(function* (depot: Depot, { file, read: { commits } }: LocalState) {
  const put = Effect.fnUntraced(function* (commit: Commit) {
    const { checkpoint, schema, table, text, version } = commit
    const name = commitName(schema, table, version)
    if (!(yield* depot.putText(name, text))) {
      const there = yield* depot.text(name)
      if (Option.isSome(there) && !isSameCommit(there.value, text)) {
        return yield* new ForeignLake({ location: depot.location, fault: `has ${name}, which Larder did not write` })
      }
    }
    if (checkpoint !== undefined) yield* putCheckpoint(depot, commit, checkpoint, path.dirname(file))
  })
  yield* Effect.forEach(commits, put, { concurrency: 4, discard: true })
})

const putFiles = (depot: Depot, files: ReadonlyArray<NamedFile>) =>
  Effect.forEach(files, ({ file, name, object }) => depot.putFile(name, object, file), {
    concurrency: 4,
    discard: true
  })

/** Puts a generation into the lake. If another machine was faster, returns that machine's state. */
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
  const { added, read } = yield* addGeneration(generation, {
    ...target,
    folder,
    file,
    isNew: before === undefined,
    objects
  })
  yield* putFiles(depot, added)
  const catalogue = yield* objectIdOf(file)
  yield* depot.putFile(catalogueName(catalogue.sha256), catalogue, file)
  const place = (before?.state.place ?? 0) + 1
  const state: State = { place, number, id, catalogue, written_by: madeBy(), nonce: randomUUID() }
  if (!(yield* depot.putText(stateName(place), encodeState(state)))) {
    const faster = yield* newestState(depot)
    return faster === undefined ? undefined : yield* fetchState(layout, faster, target.folder)
  }
  yield* putFiles(depot, added) // again: an existing file may have been removed before it was named
  const put: LocalState = { state, file, read }
  yield* putCommits(depot, put)
  const bytes = added.reduce((sum, { object }) => sum + object.bytes, 0)
  yield* Effect.logInfo(
    `the lake has ${generationId(number)}: ${added.length} new files, ${Math.ceil(bytes / 1024).toLocaleString("en-US")} KiB`
  )
  return put
})

/**
 * Shows readers the newest catalogue, and returns its state. Another machine may have put a newer catalogue, which this
 * machine's must not replace.
 */
const show = Effect.fnUntraced(function* (depot: Depot, own: LocalState, folder: string) {
  let shown = own
  for (let isShown = false; ; ) {
    const newest = yield* newestState(depot)
    if (newest !== undefined && newest.place > shown.state.place) {
      const file = yield* fetchCatalogue(depot, newest.catalogue, folder)
      shown = { state: newest, file, read: yield* readCatalogueIn(file) }
    } else if (isShown) return shown
    yield* depot.replaceFile(openedCatalogue, shown.state.catalogue, shown.file)
    isShown = true
  }
})

/** Notes the state that this machine has finished, so that the next run need not check whether everything is there. */
const noteOf = ({ seen }: Layout) => path.join(seen, "lake")
const noted = ({ nonce, place }: State) => `${place} ${nonce}\n`
const isFinished = (layout: Layout, state: State) =>
  Effect.promise(() =>
    readFile(noteOf(layout), "utf8").then(
      (text) => text === noted(state),
      () => false
    )
  )
const noteFinished = (layout: Layout, state: State) =>
  Effect.promise(
    () =>
      mkdir(layout.seen, { recursive: true })
        .then(() => writeFile(noteOf(layout), noted(state)))
        .catch(() => undefined) // the next run checks again
  )

/** The newest states are kept, because another machine may be reading one of them. */
const keptStates = 10

const sweep = Effect.fnUntraced(function* (depot: Depot, { read: { files, versions }, state }: LocalState) {
  const names = files.map(({ path: of, schema, table }) => fileName(schema, table, of))
  const states = (yield* depot.list(statesFolder)).slice(-keptStates)
  if (states.at(-1) !== stateName(state.place)) return // another machine put a newer state, and knows what is needed
  const kept = yield* Effect.forEach(states, (name) => readState(depot, name))
  const catalogues = kept.flatMap((one) => (one === undefined ? [] : [catalogueName(one.catalogue.sha256)]))
  yield* sweepLake(depot, new Set([...names, ...states, ...catalogues]), versions)
})

/** Fetches a state of the lake to this machine, and finishes it. */
const fetchState = Effect.fnUntraced(function* (layout: Layout, state: State, folder: string) {
  const { depot } = layout
  yield* requireSame(depot, state)
  const file = yield* fetchCatalogue(depot, state.catalogue, folder)
  const found: LocalState = { state, file, read: yield* readCatalogueIn(file) }
  if (!(yield* isFinished(layout, state))) yield* putCommits(depot, found)
  return found
})

/**
 * The parts that the lake takes from a generation; undefined, with a reason in the log, if the generation is left out.
 */
const takenOf = Effect.fnUntraced(function* (
  layout: Layout,
  number: number,
  objects: ReadonlyMap<string, number>,
  folder: string
) {
  const manifest = Option.getOrUndefined(yield* readManifest(layout.depot, number))
  const taken = manifest && (yield* generationPartsOf(layout, manifest, objects, folder))
  if (taken === undefined) yield* Effect.logInfo(`the lake is without ${generationId(number)}, whose data was removed`)
  return taken
})

const update = Effect.fnUntraced(function* (layout: Layout, address: string) {
  const { depot } = layout
  const newest = Option.getOrUndefined(yield* newestManifest(layout.local))
  if (newest === undefined) return
  const [newer] = newerIn(newest)
  if (newer !== undefined) return yield* newer
  const state = yield* newestState(depot)
  if (state !== undefined && state.number >= newest.number && (yield* isFinished(layout, state))) return
  const folder = yield* ownFolder(layout, `lake-${randomUUID()}`)
  if (state === undefined) yield* requireNone(depot)
  let lake = state === undefined ? undefined : yield* fetchState(layout, state, folder)
  for (const number of (yield* listNumbers(depot, state?.number)).filter((one) => one <= newest.number)) {
    const objects = yield* datedObjects(depot)
    const taking = takenOf(layout, number, objects, folder)
    // Older generations are only history: an error in one of them is logged, and the generation is left out.
    const taken = yield* number === newest.number
      ? taking
      : taking.pipe(
          Effect.catch(({ message }) =>
            Effect.as(Effect.logWarning(`the lake is without ${generationId(number)}: ${message}`), undefined)
          )
        )
    while (taken !== undefined && (lake?.state.number ?? 0) < number) {
      lake = yield* putGeneration(layout, taken, lake, objects, { folder, address })
    }
  }
  if (lake === undefined) return
  const shown = yield* show(depot, lake, folder)
  yield* noteFinished(layout, lake.state)
  yield* sweep(depot, shown)
}, Effect.scoped)

/** Brings the lake up to the newest generation of this machine, if a lake is configured. */
export const updateLake = Effect.fn("Lake.update")(function* (layout: Layout) {
  const address = yield* lakeSetting(layout)
  if (address !== undefined) yield* withLock(layout.lakeLock, update(layout, address))
})
