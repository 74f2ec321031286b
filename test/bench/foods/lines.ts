/** The texts of current labels for other programs: a line per label, `fdc_id`, description and ingredients between tabs. */
import { DuckDb, literal } from "@larder/warehouse"
import { Effect } from "effect"

const oneLine = (column: string) => `translate(${column}, chr(9) || chr(10) || chr(13), '   ')`

/** Nothing is quoted. What is not stated is empty. */
export const writeLines = (database: string, file: string) =>
  DuckDb.readOnlyWithFiles(database).pipe(
    Effect.flatMap((db) =>
      db.run(
        `copy (
           select fdc_id, ${oneLine("description")}, ${oneLine("coalesce(ingredients, '')")}
           from branded_food.current_food
           order by fdc_id
         ) to ${literal(file)} (format csv, header false, delimiter '\t', quote '', escape '')`
      )
    ),
    Effect.scoped,
    Effect.runPromise
  )
