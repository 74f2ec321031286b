/** Writes the texts of current labels for other programs: one line per label, with tabs between the columns. */
import { DuckDb, literal } from "@larder/warehouse"
import { Effect } from "effect"

const toOneLine = (column: string) => `translate(${column}, chr(9) || chr(10) || chr(13), '   ')`

/** Columns are `fdc_id`, description and ingredients, without quotes. Missing ingredients are empty. */
export const writeLines = (database: string, file: string) =>
  DuckDb.readOnlyWithFiles(database).pipe(
    Effect.flatMap((db) =>
      db.run(
        `copy (
           select fdc_id, ${toOneLine("description")}, ${toOneLine("coalesce(ingredients, '')")}
           from branded_food.current_food
           order by fdc_id
         ) to ${literal(file)} (format csv, header false, delimiter '\t', quote '', escape '')`
      )
    ),
    Effect.scoped,
    Effect.runPromise
  )
