/**
 * Odd texts of the JSON form. One query reads a chunk, and it can only fill one table: until its odd texts are counted, a label
 * has them among its quality flags, each with a mark.
 */
import { type DuckDb, literal } from "@larder/warehouse"
import { Effect } from "effect"
import { countRows } from "../decode/count-rows.ts"
import { addOddTexts } from "../odd-texts.ts"
import { insertLabelsSql, type LoadInput } from "./load.ts"

const mark = "odd "

/** Inserts the valid labels of a query, with their marks. */
export const insertMarkedSql = (load: LoadInput, labels: string) =>
  insertLabelsSql(
    load,
    `select * replace (if(
      len(odd) > 0,
      list_concat(quality_flags, list_transform(odd, lambda text: ${literal(mark)} || text.field || ' ' || text.said)),
      quality_flags
    ) as quality_flags) from (${labels})`
  )

const markedLabels = (before: number) => `rowid > ${before} and starts_with(quality_flags[-1], ${literal(mark)})`
const isMark = `starts_with(flag, ${literal(mark)})`

/** Counts the odd texts of a chunk, and removes them from the quality flags. */
export const countOddTexts = Effect.fnUntraced(function* (db: DuckDb["Service"], before: number) {
  const where = markedLabels(before)
  if ((yield* countRows(db, `from branded_food.food where ${where}`)) === 0) return
  const texts = `
    select split_part(flag, ' ', 2) as field, regexp_replace(flag, '^\\S+ \\S+ ', '') as said
    from (select unnest(quality_flags) as flag from branded_food.food where ${where})
    where ${isMark}`
  yield* db.run(addOddTexts(texts))
  yield* db.run(`
    update branded_food.food set quality_flags = list_filter(quality_flags, lambda flag: not ${isMark}) where ${where}`)
})
