/**
 * Both forms of one release in one run: the JSON form is staged first and put aside, and completes the CSV form, which is
 * larger, by the rule that holds between runs, too.
 */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { completedLabel } from "@larder/warehouse/foods/completed-label.ts"
import { foodTable } from "@larder/warehouse/tables.ts"
import { Effect } from "effect"

const completed = Object.keys(foodTable.record.fields).flatMap((column) => {
  const value = completedLabel(column)
  return value === undefined ? [] : [`${column} = ${value}`]
})

/** Puts the staged JSON form aside, so that the CSV form is staged into an empty table. */
export const setJsonAside = (db: DuckDb["Service"]) =>
  db.run("create table release.json as from branded_food.food; delete from branded_food.food; checkpoint")

/** Completes the staged CSV form. */
export const completeWithJson = Effect.fnUntraced(function* (db: DuckDb["Service"]) {
  yield* db.run(`update branded_food.food l set ${completed.join(", ")}, source_rows = s.source_rows + l.source_rows
    from release.json s where s.fdc_id = l.fdc_id`)
  yield* db.run("insert into branded_food.food from release.json json anti join branded_food.food food using (fdc_id)")
})
