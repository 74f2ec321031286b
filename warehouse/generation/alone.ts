/**
 * Data sets that were pulled without the others. They are not a generation of this machine. Each is a database, with the
 * manifest that names it, in a separate folder. These folders are removed when a whole generation is pulled.
 */
import { existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import path from "node:path"
import { Effect, FileSystem, Option } from "effect"
import { datedObjects, putObject } from "../depot/depot.ts"
import { WarehouseProblem } from "../problem.ts"
import { HomeUnwritable, type Layout, layoutOf } from "./layout.ts"
import { generationId, type Manifest, ManifestUnusable, newestManifest } from "./manifest.ts"

const folderOf = ({ dir }: Layout) => path.join(dir, "alone")

export const aloneLayout = (layout: Layout, pipeline: string) =>
  layoutOf(path.join(folderOf(layout), pipeline), layout.depot)

/** An unreadable folder is a failure: otherwise the generations that this machine has seen would be forgotten. */
const listAloneLayouts = Effect.fnUntraced(function* (layout: Layout) {
  const folder = folderOf(layout)
  const entries = yield* Effect.tryPromise({
    try: () => (existsSync(folder) ? readdir(folder, { withFileTypes: true }) : Promise.resolve([])),
    catch: (cause) => new HomeUnwritable({ path: folder, cause })
  })
  const pipelines = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return yield* Effect.forEach(pipelines, (pipeline) => aloneLayout(layout, pipeline))
})

export const newestAlone = Effect.fnUntraced(function* (layout: Layout) {
  const manifests = yield* Effect.forEach(yield* listAloneLayouts(layout), ({ home, local }) =>
    newestManifest(local).pipe(
      Effect.catchTag("ManifestUnusable", ({ fault, location, name }) =>
        Effect.fail(new ManifestUnusable({ location, name, fault, advice: `Remove ${home}, and pull again.` }))
      )
    )
  )
  return manifests.flatMap(Option.toArray).sort((a, b) => b.number - a.number)[0]
})

/** For machines without a shared depot: publishing would create a second history of such a data set. */
export const requireNoneAlone = Effect.fnUntraced(function* (layout: Layout) {
  const alone = yield* newestAlone(layout)
  if (alone === undefined) return
  return yield* new WarehouseProblem({
    problem: `${layout.dir} has a single data set of ${generationId(alone.number)} that was pulled from a depot without the others. Nothing was changed. Set LARDER_DEPOT, or set LARDER_HOME to another folder.`
  })
})

/** Reuses parts that were pulled alone for a generation that is about to be pulled. */
export const takeFromAlone = Effect.fnUntraced(function* (layout: Layout, { data_sets }: Manifest) {
  for (const { local, objectFile } of yield* listAloneLayouts(layout)) {
    const objects = yield* datedObjects(local)
    for (const part of Object.values(data_sets).flatMap(({ parts }) => parts)) {
      if (objects.has(part.sha256)) yield* putObject(layout.local, part, objectFile(part.sha256))
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
