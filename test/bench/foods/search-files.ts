/** Builds the records and the search of foods again, in a new folder. */
import { DuckDb } from "@larder/warehouse"
import { buildFoods } from "@larder/warehouse/search/build/build.ts"
import { Effect } from "effect"

const { database, folder } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly database: string
  readonly folder: string
}
await DuckDb.readOnlyWithFiles(database).pipe(
  Effect.flatMap((db) => buildFoods(db, folder)),
  Effect.scoped,
  Effect.runPromise
)
