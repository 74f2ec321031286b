/**
 * The branded foods of a published generation. Their files are made again from the database where they are missing, damaged
 * or of another version of Larder: a generation is worth serving as long as its database is whole.
 */
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import { carriedFolder } from "../generation/carried.ts"
import type { Layout } from "../generation/layout.ts"
import { withPublishLock } from "../generation/lock.ts"
import { buildFoods } from "./build.ts"
import { openFoods } from "./open.ts"

const buildAgain = Effect.fnUntraced(function* (file: string, folder: string) {
  const fs = yield* FileSystem.FileSystem
  const building = `${folder}.building`
  const db = yield* DuckDb.readingAndWritingFiles(file)
  yield* fs.remove(building, { recursive: true, force: true })
  yield* buildFoods(db, building)
  yield* fs.remove(folder, { recursive: true, force: true })
  yield* fs.rename(building, folder)
}, Effect.scoped)

/** Open until the scope ends. */
export const foodsOf = Effect.fn("Foods.ofGeneration")(function* (layout: Layout, file: string) {
  const folder = carriedFolder(file, "foods")
  return yield* openFoods(folder).pipe(
    Effect.catchTag("FoodFilesDamaged", (damage) =>
      Effect.logWarning(`${damage.message} They are made again from ${file}.`).pipe(
        Effect.andThen(withPublishLock(layout, buildAgain(file, folder))),
        Effect.andThen(openFoods(folder))
      )
    )
  )
})
