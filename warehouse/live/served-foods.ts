/**
 * Opens the branded foods in a server, with their sidecar files. If those are missing, changed or written by another
 * version of Larder, they are made again: a data set can be served as long as its database is intact.
 */
import { Effect, Exit, Path, Scope } from "effect"
import type { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import type { DataSetEntry } from "../generation/manifest.ts"
import { readNewestRun } from "../search/build/build.ts"
import { FoodFilesDamaged } from "../search/files.ts"
import { openFoods } from "../search/open.ts"
import { linkParts, rebuildFiles, requireUnchanged } from "./sidecar-files.ts"

/** Files that are damaged or belong to other foods are closed immediately, so that they can be made again. */
const openIfCurrent = Effect.fnUntraced(function* (db: DuckDb["Service"], folder: string, scope: Scope.Scope) {
  const child = yield* Scope.fork(scope)
  return yield* Effect.gen(function* () {
    const foods = yield* Scope.provide(openFoods(folder), child)
    if (foods.run_id === (yield* readNewestRun(db))) return foods
    return yield* new FoodFilesDamaged({ file: "manifest.json", reason: "belongs to other foods" })
  }).pipe(Effect.onError(() => Scope.close(child, Exit.void)))
})

/** Opens the branded foods until the scope ends. `db` is the database of the data set. */
export const openServedFoods = Effect.fn("Foods.openServed")(function* (
  layout: Layout,
  entry: DataSetEntry,
  db: DuckDb["Service"]
) {
  const path = yield* Path.Path
  const sha256 = entry.parts[0]?.sha256 ?? ""
  const file = layout.objectFile(sha256)
  const folder = path.join(layout.sidecars, sha256)
  const openCurrent = openIfCurrent(db, folder, yield* Effect.scope) // not in the scope of the lock
  const open = Effect.andThen(requireUnchanged(layout, entry, folder), openCurrent)
  const linkAndOpen = Effect.andThen(linkParts(layout, entry, folder), open)
  const buildAndOpen = (damage: FoodFilesDamaged) =>
    Effect.logWarning(`${damage.message} They are written again from ${file}.`).pipe(
      Effect.andThen(rebuildFiles(layout, file, folder, entry)),
      Effect.andThen(open)
    )
  /** Tries to open first: another server may have made the files while this one waited for the lock. */
  const repairAndOpen = open.pipe(
    Effect.catchTag("FoodFilesDamaged", () =>
      linkAndOpen.pipe(
        Effect.catchTag("PlatformError", ({ message }) =>
          Effect.fail(new FoodFilesDamaged({ file: folder, reason: message }))
        ),
        Effect.catchTag("FoodFilesDamaged", buildAndOpen)
      )
    )
  )
  return yield* Effect.catchTag(open, "FoodFilesDamaged", () => withLock(layout.sidecarsLock, repairAndOpen))
})
