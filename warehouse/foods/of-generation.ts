/**
 * The branded foods of a published generation. Their files are made again from the database where they are missing, damaged
 * or of another version of Larder: a generation is worth serving as long as its database is whole.
 */
import { Effect, Exit, FileSystem, Path, Scope } from "effect"
import { DuckDb } from "../duckdb.ts"
import { carriedFolder } from "../generation/carried.ts"
import type { Layout } from "../generation/layout.ts"
import { withPublishLock } from "../generation/lock.ts"
import { buildFoods, runOf } from "./build.ts"
import { FoodFilesDamaged, openFoods } from "./open.ts"

/**
 * Happens in the process that wants to serve the files, and takes as long as this part of a publication: minutes at 2 M label
 * versions, with all cores busy. DuckDB and two more threads do the work; only the checksums and the opening at its end keep
 * the event loop, about as long as every opening does.
 */
const buildAgain = Effect.fnUntraced(function* (file: string, folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const building = `${folder}.building`
  const db = yield* DuckDb.readingAndWritingFiles(file)
  yield* fs.remove(building, { recursive: true, force: true })
  yield* buildFoods(db, building, { requestsWait: true })
  for (const name of yield* fs.readDirectory(building)) yield* fs.chmod(path.join(building, name), 0o444) // as published
  yield* fs.remove(folder, { recursive: true, force: true })
  yield* fs.rename(building, folder)
}, Effect.scoped)

/** Whole files may still be those of another generation: these are closed at once. */
const openOwn = Effect.fnUntraced(function* (db: DuckDb["Service"], folder: string, scope: Scope.Scope) {
  const own = yield* Scope.fork(scope)
  const foods = yield* Scope.provide(openFoods(folder), own)
  if (foods.run_id === (yield* runOf(db))) return foods
  yield* Scope.close(own, Exit.void)
  return yield* new FoodFilesDamaged({ file: "manifest.json", reason: "is that of another generation" })
})

/** Open until the scope ends. `db` is the generation's database. */
export const foodsOf = Effect.fn("Foods.ofGeneration")(function* (layout: Layout, file: string, db: DuckDb["Service"]) {
  const folder = carriedFolder(file, "foods")
  const opened = openOwn(db, folder, yield* Effect.scope) // not in the scope of the lock
  /** Another server may have made them while this one waited for the lock. */
  const again = opened.pipe(
    Effect.catchTag("FoodFilesDamaged", (damage) =>
      Effect.logWarning(`${damage.message} They are made again from ${file}.`).pipe(
        Effect.andThen(buildAgain(file, folder)),
        Effect.andThen(opened)
      )
    )
  )
  return yield* Effect.catchTag(opened, "FoodFilesDamaged", () => withPublishLock(layout, again))
})
