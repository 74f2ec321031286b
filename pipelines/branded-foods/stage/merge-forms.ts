/**
 * Merges both forms of one release within one run. The JSON form is staged first and set aside. It then completes the
 * CSV form, which is larger, by the same rule as between runs.
 */

import { completedLabel } from "@larder/warehouse/branded-foods/completed-label.ts"
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { foodTable } from "@larder/warehouse/tables/branded_food/data-set.ts"
import { Effect } from "effect"

const completed = Object.keys(foodTable.record.fields).flatMap((column) => {
  const value = completedLabel(column)
  return value === undefined ? [] : [`${column} = ${value}`]
})

/** Sets the staged JSON form aside, so that the CSV form is staged into an empty table. */
export const setJsonAside = (db: DuckDb["Service"]) =>
  db.run("create table release.json as from branded_food.food; delete from branded_food.food; checkpoint")

/** Completes the staged CSV form with the JSON form. */
export const completeWithJson = Effect.fnUntraced(function* (db: DuckDb["Service"]) {
  yield* db.run(`update branded_food.food l set ${completed.join(", ")}, source_rows = s.source_rows + l.source_rows
    from release.json s where s.fdc_id = l.fdc_id`)
  yield* db.run("insert into branded_food.food from release.json json anti join branded_food.food food using (fdc_id)")
})
