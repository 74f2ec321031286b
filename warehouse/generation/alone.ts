/**
 * Data sets that were pulled without the others, for people who need only these. They are not a generation of this
 * machine. Only its database is pulled, with the manifest that names it, as it was published. Both are in a
 * separate folder, which is removed when a whole generation is pulled.
 */
import { existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import path from "node:path"
import { Effect, FileSystem, Option, Schema } from "effect"
import { datedObjects, putObject } from "../depot/depot.ts"
import { HomeUnwritable, type Layout, layoutOf } from "./layout.ts"
import { generationId, type Manifest, ManifestUnusable, newestManifest } from "./manifest.ts"

/** A data set was pulled alone to a machine that publishes for itself: publishing would create a second history. */
class DataSetAlone extends Schema.TaggedError<DataSetAlone>()("DataSetAlone", {
  dir: Schema.String,
  generation: Schema.String
}) {
  override get message() {
    return `${this.dir} has a single data set of ${this.generation} that was pulled from a depot without the others. Nothing was changed. Set LARDER_DEPOT, or set LARDER_HOME to another folder.`
  }
}

const folderOf = ({ dir }: Layout) => path.join(dir, "alone")

/** The layout of a data set that is pulled alone. */
export const aloneLayout = (layout: Layout, pipeline: string) =>
  layoutOf(path.join(folderOf(layout), pipeline), layout.depot)

/**
 * The layouts of the data sets that were pulled alone. An unreadable folder is a failure: otherwise the generations
 * that this machine has seen would be forgotten.
 */
const allAlone = Effect.fnUntraced(function* (layout: Layout) {
  const folder = folderOf(layout)
  const entries = yield* Effect.tryPromise({
    try: () => (existsSync(folder) ? readdir(folder, { withFileTypes: true }) : Promise.resolve([])),
    catch: (cause) => new HomeUnwritable({ path: folder, cause })
  })
  const pipelines = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return yield* Effect.forEach(pipelines, (pipeline) => aloneLayout(layout, pipeline))
})

/** The newest generation from which a data set was pulled alone. */
export const newestAlone = Effect.fnUntraced(function* (layout: Layout) {
  const found = yield* Effect.forEach(yield* allAlone(layout), ({ home, local }) =>
    newestManifest(local).pipe(
      Effect.catchTag("ManifestUnusable", ({ fault, location, name }) =>
        Effect.fail(new ManifestUnusable({ location, name, fault, advice: `Remove ${home}, and pull again.` }))
      )
    )
  )
  return found.flatMap(Option.toArray).sort((a, b) => b.number - a.number)[0]
})

/** Fails if a data set was pulled alone, for a machine that publishes for itself. */
export const requireNoneAlone = Effect.fnUntraced(function* (layout: Layout) {
  const alone = yield* newestAlone(layout)
  if (alone === undefined) return
  return yield* new DataSetAlone({ dir: layout.dir, generation: generationId(alone.number) })
})

/** Reuses parts that were pulled alone for a generation that is about to be pulled: they are not transferred again. */
export const takeFromAlone = Effect.fnUntraced(function* (layout: Layout, { data_sets }: Manifest) {
  for (const { local, objectFile } of yield* allAlone(layout)) {
    const there = yield* datedObjects(local)
    for (const part of Object.values(data_sets).flatMap(({ parts }) => parts)) {
      if (there.has(part.sha256)) yield* putObject(layout.local, part, objectFile(part.sha256))
    }
  }
})

export const removeAlone = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const folder = folderOf(layout)
  yield* fs
    .remove(folder, { recursive: true, force: true })
    .pipe(
      Effect.catch((error) =>
        Effect.logWarning(`${folder} is no longer needed: the next pull removes it, ${error.message}`)
      )
    )
})
