/** Makes the records and the search of a generation once more, into a folder. */
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { buildFoods } from "@larder/warehouse/foods/build.ts"
import { Effect } from "effect"

const { folder, generation } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly generation: string
  readonly folder: string
}
await DuckDb.readingAndWritingFiles(generation).pipe(
  Effect.flatMap((db) => buildFoods(db, folder)),
  Effect.scoped,
  Effect.runPromise
)
