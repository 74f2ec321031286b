/**
 * The branded foods of a published generation. Their files are made again from the database where they are missing, damaged
 * or of another version of Larder: a generation is worth serving as long as its database is whole.
 */
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import { carriedFolder } from "../generation/carried.ts"
import type { Layout } from "../generation/layout.ts"
import { withPublishLock } from "../generation/lock.ts"
import { buildFoods, runOf } from "./build.ts"
import { FoodFilesDamaged, openFoods } from "./open.ts"

const buildAgain = Effect.fnUntraced(function* (file: string, folder: string) {
  const fs = yield* FileSystem.FileSystem
  const building = `${folder}.building`
  const db = yield* DuckDb.readingAndWritingFiles(file)
  yield* fs.remove(building, { recursive: true, force: true })
  yield* buildFoods(db, building)
  yield* fs.remove(folder, { recursive: true, force: true })
  yield* fs.rename(building, folder)
}, Effect.scoped)

/** Whole files may still be those of another generation. */
const openOwn = Effect.fnUntraced(function* (db: DuckDb["Service"], folder: string) {
  const foods = yield* openFoods(folder)
  if (foods.run_id === (yield* runOf(db))) return foods
  return yield* new FoodFilesDamaged({ file: "manifest.json", reason: "is that of another generation" })
})

/** Open until the scope ends. `db` is the generation's database. */
export const foodsOf = Effect.fn("Foods.ofGeneration")(function* (layout: Layout, file: string, db: DuckDb["Service"]) {
  const folder = carriedFolder(file, "foods")
  return yield* openOwn(db, folder).pipe(
    Effect.catchTag("FoodFilesDamaged", (damage) =>
      Effect.logWarning(`${damage.message} They are made again from ${file}.`).pipe(
        Effect.andThen(withPublishLock(layout, buildAgain(file, folder))),
        Effect.andThen(openFoods(folder))
      )
    )
  )
})
