/** Names, numbers and units of nutrients of a JSON chunk that are not in the dictionary. */
import { type DuckDb, literal } from "@larder/warehouse"
import { Effect } from "effect"
import { countRows } from "../decode/count-rows.ts"
import { maxJsonObjectBytes } from "../decode/json/keys.ts"

const nutrientNames = "struct(nutrient struct(id varchar, number varchar, name varchar, unitName varchar))[]"

/** Nutrients of labels after a row that no dictionary contains, or that ours lists without a number. */
const unnamedNutrients = (row: number) => `
  from (select distinct unnest(nutrients).nutrient_id as nutrient_id from branded_food.food where rowid > ${row})
  where nutrient_id not in (
    select nutrient_id from branded_food.nutrient where number is not null
    union all
    select nutrient_id from release.nutrient
  )`

/** `line` is not used, but DuckDB takes four times as long to read a single column of JSON. */
const insertNutrientNamesSql = (path: string) => `
  insert into release.nutrient
  select distinct nutrient_id_of(try_cast(entry.nutrient.id as integer)) as nutrient_id, entry.nutrient.number, entry.nutrient.name, entry.nutrient.unitName
  from (
    select unnest(foodNutrients) as entry
    from read_json(${literal(path)}, format = 'newline_delimited', auto_detect = false, hive_partitioning = false,
      ignore_errors = true, maximum_object_size = ${maxJsonObjectBytes}, columns = {
        'line': 'bigint', 'foodNutrients': ${literal(nutrientNames)}
      })
  )
  where nutrient_id not in (select nutrient_id from branded_food.nutrient where number is not null)`

/**
 * Adds those of the labels after row `before` to `release.nutrient`. Reading the names with every chunk would take longer than
 * all other steps. If a record cannot be read here, only its nutrient names are missing.
 */
export const addNutrientNames = Effect.fnUntraced(function* (db: DuckDb["Service"], chunk: string, before: number) {
  if ((yield* countRows(db, unnamedNutrients(before))) > 0) yield* db.run(insertNutrientNamesSql(chunk))
})
