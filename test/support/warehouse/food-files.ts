/** A database with a few label versions, and the sidecar files that are made from it. */
import { writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DuckDb, identifier, literal } from "@larder/warehouse"
import { buildFoods } from "@larder/warehouse/search/build/build.ts"
import { define } from "@larder/warehouse/tables/dictionary.ts"
import { Effect, FileSystem, Schema } from "effect"
import { labelsWithoutFiles } from "./label-rows.ts"

/** Some columns of `branded_food.food`, and whether the version is current. */
export type Food = Readonly<Record<string, unknown>> & { readonly fdc_id: number; readonly is_current?: boolean }

const Column = Schema.Struct({ column_name: Schema.String, data_type: Schema.String })
const columnsOfFood =
  "select column_name, data_type from duckdb_columns() where schema_name = 'branded_food' and table_name = 'food'"

const defaults = {
  description: "",
  source_rows: 1,
  form: "json",
  fetched_at: "2026-10-01 13:04:36.000",
  run_id: "run",
  raw_sha256: "sha"
}

export const aFolder = FileSystem.FileSystem.use((fs) =>
  fs.makeTempDirectoryScoped({ directory: tmpdir(), prefix: "larder-foods-" })
)

/** A database with these label versions. Each is current unless it has `is_current: false`. */
export const makeFoodDatabase = Effect.fnUntraced(function* (
  folder: string,
  foods: ReadonlyArray<Food>,
  { dataSet = labelsWithoutFiles, nutrients = "" } = {}
) {
  const db = yield* DuckDb.readWrite(join(folder, "foods.duckdb"))
  yield* define(db, dataSet)
  const columns = yield* db.all(Column, columnsOfFood)
  const types = columns.map(({ column_name, data_type }) => `${identifier(column_name)}: ${literal(data_type)}`)
  const lines = join(folder, "foods.json")
  writeFileSync(lines, foods.map((food) => `${JSON.stringify({ ...defaults, ...food })}\n`).join(""))
  yield* db.run(`insert into branded_food.food by name
    from read_json(${literal(lines)}, format = 'newline_delimited', columns = {${types.join(", ")}})`)
  const versions = foods.map(
    ({ fdc_id, is_current = true }) =>
      `select ${fdc_id} as fdc_id, 1 as version, 1 as version_count, ${is_current} as is_current,
        false as is_current_of_gtin, true as is_loaded`
  )
  if (versions.length > 0) yield* db.run(`insert into branded_food.version by name ${versions.join(" union all ")}`)
  yield* db.run(`insert into branded_food.category
    select category, count(*) from branded_food.current_food where category is not null group by category`)
  if (nutrients !== "") yield* db.run(`insert into branded_food.nutrient values ${nutrients}`)
  return db
})

/** Builds the sidecar files of these label versions. Returns their folder. */
export const buildFoodFiles = Effect.fnUntraced(function* (foods: ReadonlyArray<Food>) {
  const folder = yield* aFolder
  const db = yield* makeFoodDatabase(folder, foods)
  yield* buildFoods(db, join(folder, "foods"))
  return join(folder, "foods")
})
