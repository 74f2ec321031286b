/**
 * Single data sets that were pulled from a depot without the others. They do not form a generation of this machine.
 * Each has its own folder, with a database and its manifest. These folders are removed when a complete generation
 * is pulled.
 */
import { existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import path from "node:path"
import { Effect, FileSystem, Option } from "effect"
import { listObjectTimes, putObject } from "../depot/depot.ts"
import { WarehouseProblem } from "../problem.ts"
import { HomeUnwritable, type Layout, layoutOf } from "./layout.ts"
import { generationId, type Manifest, ManifestUnusable, newestManifest } from "./manifest.ts"

const folderOf = ({ dir }: Layout) => path.join(dir, "alone")

export const singleDataSetLayout = (layout: Layout, pipeline: string) =>
  layoutOf(path.join(folderOf(layout), pipeline), layout.depot)

/** Fails if the folder is unreadable: treating it as empty would hide which generations this machine has had. */
const listSingleDataSetLayouts = Effect.fnUntraced(function* (layout: Layout) {
  const folder = folderOf(layout)
  const entries = yield* Effect.tryPromise({
    try: () => (existsSync(folder) ? readdir(folder, { withFileTypes: true }) : Promise.resolve([])),
    catch: (cause) => new HomeUnwritable({ path: folder, cause })
  })
  const pipelines = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return yield* Effect.forEach(pipelines, (pipeline) => singleDataSetLayout(layout, pipeline))
})

export const newestSingleManifest = Effect.fnUntraced(function* (layout: Layout) {
  const manifests = yield* Effect.forEach(yield* listSingleDataSetLayouts(layout), ({ home, local }) =>
    newestManifest(local).pipe(
      Effect.catchTag("ManifestUnusable", ({ fault, file, location }) =>
        Effect.fail(new ManifestUnusable({ location, file, fault, advice: `Remove ${home}, and pull again.` }))
      )
    )
  )
  return manifests.flatMap(Option.toArray).sort((a, b) => b.number - a.number)[0]
})

/** Publishing without a shared depot would create a second history of a data set that was pulled from one. */
export const requireNoSingleDataSets = Effect.fnUntraced(function* (layout: Layout) {
  const newest = yield* newestSingleManifest(layout)
  if (newest === undefined) return
  return yield* new WarehouseProblem({
    problem: `${layout.dir} contains a data set of generation ${generationId(newest.number)} that was pulled on its own from a depot. Nothing was changed. Set LARDER_DEPOT, or set LARDER_HOME to another folder.`
  })
})

/** Copies parts that are already here into the generation that is about to be pulled, which saves the download. */
export const copyPulledParts = Effect.fnUntraced(function* (layout: Layout, { data_sets }: Manifest) {
  for (const { local, objectFile } of yield* listSingleDataSetLayouts(layout)) {
    const objects = yield* listObjectTimes(local)
    for (const part of Object.values(data_sets).flatMap(({ parts }) => parts)) {
      if (objects.has(part.sha256)) yield* putObject(layout.local, part, objectFile(part.sha256))
    }
  }
})

export const removeSingleDataSets = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const folder = folderOf(layout)
  yield* fs
    .remove(folder, { recursive: true, force: true })
    .pipe(
      Effect.catch((error) =>
        Effect.logWarning(
          `Cannot remove ${folder}, which is no longer needed; the next pull tries again. ${error.message}`
        )
      )
    )
})
