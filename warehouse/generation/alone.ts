/**
 * Data sets that were pulled without the others, for people who need no more. That is no generation of this machine: the part, and the
 * manifest that names it as it was published, lie in a home of their own below this one, and are removed when a whole generation comes.
 */
import { Effect, FileSystem, Option, Path } from "effect"
import { ifMissing, type Layout, layoutOf } from "./layout.ts"
import { newestManifest } from "./manifest.ts"

const folderOf = ({ home }: Layout) => Effect.map(Path.Path, (path) => path.join(home, "alone"))

/** Where a data set lies that is pulled alone. */
export const aloneLayout = Effect.fnUntraced(function* (layout: Layout, pipeline: string) {
  const path = yield* Path.Path
  return yield* layoutOf(path.join(yield* folderOf(layout), pipeline), layout.depot)
})

/** The newest generation of which this machine has a data set alone. */
export const newestAlone = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const pipelines = yield* fs.readDirectory(yield* folderOf(layout)).pipe(ifMissing<ReadonlyArray<string>>([]))
  const found = yield* Effect.forEach(pipelines, (pipeline) =>
    Effect.flatMap(aloneLayout(layout, pipeline), ({ local }) => newestManifest(local))
  )
  return found.flatMap(Option.toArray).sort((a, b) => b.number - a.number)[0]
})

export const removeAlone = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.remove(yield* folderOf(layout), { recursive: true, force: true })
})
