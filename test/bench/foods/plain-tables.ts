/** Only reads the CSV files of a release into plain tables of a new DuckDB database. */
import path from "node:path"
import { DuckDb, identifier, literal } from "@larder/warehouse"
import { Effect } from "effect"

const { database, folder } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly folder: string
  readonly database: string
}
const tables = ["food", "branded_food", "food_nutrient", "food_attribute"]
const readAll = Effect.flatMap(DuckDb.readWrite(database), (db) =>
  Effect.forEach(tables, (table) =>
    db.run(
      `create table ${identifier(table)} as from read_csv(${literal(path.join(folder, `${table}.csv`))}, header = true)`
    )
  )
)
await Effect.runPromise(Effect.scoped(readAll))
