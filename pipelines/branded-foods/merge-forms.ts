/**
 * Both forms of one release in one run: the JSON form is staged first and put aside, and completes the CSV form, which is
 * larger. What only one of them states is kept; where both state something, JSON stands.
 */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { foodTable } from "@larder/warehouse/tables.ts"
import { Effect } from "effect"

const columns = Object.keys(foodTable.record.fields).filter((column) => column !== "fdc_id")
const completed = columns.map((column) =>
  column === "source_rows"
    ? "source_rows = json.source_rows + food.source_rows"
    : `${column} = coalesce(json.${column}, food.${column})`
)

/** Puts the staged JSON form aside, so that the CSV form is staged into an empty table. */
export const setJsonAside = (db: DuckDb["Service"]) =>
  db.run("create table release.json as from branded_food.food; delete from branded_food.food; checkpoint")

/** Completes the staged CSV form. */
export const completeWithJson = Effect.fnUntraced(function* (db: DuckDb["Service"]) {
  yield* db.run(`update branded_food.food food set ${completed.join(", ")}
    from release.json json where json.fdc_id = food.fdc_id`)
  yield* db.run("insert into branded_food.food from release.json json anti join branded_food.food food using (fdc_id)")
})
