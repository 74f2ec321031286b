/**
 * Loads the forms of a release into the staging file, one after the other, and merges them. While a form is staged, the
 * table of labels contains only that form, so a faulty form can be removed completely.
 */
import { readFileSync } from "node:fs"
import type { FeedLeftOut, NutrientRow } from "@larder/schemas"
import {
  assignments,
  brandedFood,
  type DuckDb,
  type DuckDbError,
  foodTable,
  literal,
  mergeLabelColumn
} from "@larder/warehouse"
import { Effect, Path } from "effect"
import { readKnownOddValues, stageOddValues } from "../../run/odd-values.ts"
import type { RunContext } from "../../run/pipeline.ts"
import { placeholderMacro } from "../../run/placeholders.ts"
import { Progress } from "../../run/progress.ts"
import { isMachineFault } from "../decode/duckdb-faults.ts"
import { createOddTexts, takeOddTexts } from "../odd-texts.ts"
import { type FormToLoad, formFeed, type ReleaseForm } from "../source/fetch-release.ts"
import { checkForm } from "./check-form.ts"
import type { LoadResult } from "./load.ts"
import { loadForm } from "./load-form.ts"
import { findPartlyRejected } from "./rejected-labels.ts"
import { completeDictionaries, stageDictionaries } from "./stage-dictionaries.ts"
import { leaveOutUnclearAmounts } from "./stated-nutrients.ts"

export type StagedForm = LoadResult & Omit<FormToLoad, "form"> & { readonly form: ReleaseForm }

/** Errors that leave out a form. An error of DuckDB does too, unless this machine caused it, as a full disk does. */
const formErrors = [
  "ZipUnusable",
  "FileMissing",
  "FoodListUnusable",
  "HeaderUnreadable",
  "TruncatedFile",
  "RecordsLost",
  "RecordsMissing",
  "ImplausibleForm"
] as const

/** DuckDB cannot load this form for a reason that no check has found. */
const describeDuckDbError = (error: DuckDbError) =>
  `DuckDB cannot load this form: ${error.message}. Please report this with the file.`

/** Attaches a new file as `release`. Detaches it when the scope ends, because later steps need its memory. */
const attachRelease = (db: DuckDb["Service"], file: string) =>
  Effect.acquireRelease(db.run(`attach ${literal(file)} as release`), () =>
    Effect.ignore(db.run("detach release; drop table if exists temp.chunk"))
  )

const removeForm = (db: DuckDb["Service"], feed: string) =>
  db.run(`
    reset force_compression;
    delete from branded_food.food;
    delete from ingest.reject where feed = ${literal(feed)} or starts_with(feed, ${literal(`${feed}/`)});
    delete from release.odd_text;
    delete from release.nutrient;
    delete from release.derivation;
    checkpoint`)

const macros = readFileSync(new URL("../normalise/macros.sql", import.meta.url), "utf8")

const mergedColumns = assignments(Object.keys(foodTable.record.fields), mergeLabelColumn)

/** Moves the staged JSON form away, so that the CSV form is staged into an empty table. */
const moveJson = "create table release.json as from branded_food.food; delete from branded_food.food; checkpoint"

/** Merges the JSON form into the staged CSV form, which is larger, by the rule that also merges runs. */
const mergeJson = `
  update branded_food.food l set ${mergedColumns}, source_rows = s.source_rows + l.source_rows
  from release.json s where s.fdc_id = l.fdc_id;
  insert into branded_food.food from release.json json anti join branded_food.food food using (fdc_id)`

export const loadForms = Effect.fnUntraced(function* (
  run: RunContext,
  forms: ReadonlyArray<FormToLoad>,
  earlierNutrients: ReadonlyArray<typeof NutrientRow.Type>
) {
  const path = yield* Path.Path
  const progress = yield* Progress
  const { acceptShrinkage, run_id, staging } = run
  const { db } = staging
  const staged: Array<StagedForm> = []
  const left_out: Array<FeedLeftOut> = []
  if (forms.length === 0) return { staged, left_out }
  const folder = path.dirname(staging.file)
  yield* attachRelease(db, path.join(folder, "release.duckdb"))
  yield* db.run(placeholderMacro)
  yield* db.run(macros)
  yield* db.run(createOddTexts)
  yield* stageDictionaries(staging, earlierNutrients)
  const reportProgress = (rows: number) => progress.advance({ rows })
  const knownOddValues = yield* readKnownOddValues(run, brandedFood)
  let isJsonMoved = false
  for (const form of forms) {
    // if both forms are present, JSON comes first
    if (staged.length > 0 && !isJsonMoved) {
      yield* db.run(moveJson)
      isJsonMoved = true
    }
    const feed = formFeed(form.form)
    yield* progress.advance({ started: feed })
    const leaveOut = (reason: string) => Effect.succeed({ feed, kind: "untrusted" as const, reason })
    const loaded = yield* loadForm(form, { staging, run_id, folder, reportProgress, acceptShrinkage }).pipe(
      Effect.tap((loaded) => leaveOutUnclearAmounts(db, formFeed(loaded.form))),
      Effect.tap((loaded) => checkForm(db, { ...loaded, feed: formFeed(loaded.form) })),
      Effect.catchTag(formErrors, ({ message: reason }) => leaveOut(reason)),
      Effect.catchTag("DuckDbError", (error) =>
        isMachineFault(error) ? Effect.fail(error) : leaveOut(describeDuckDbError(error))
      )
    )
    if ("kind" in loaded) {
      left_out.push(loaded)
      yield* removeForm(db, feed)
    } else {
      staged.push({ ...form, ...loaded })
      const loadedFeed = formFeed(loaded.form)
      const partlyRejected = yield* findPartlyRejected(run, loadedFeed)
      if (partlyRejected !== undefined) left_out.push(partlyRejected)
      const odd = yield* takeOddTexts(db, loadedFeed)
      yield* stageOddValues(run, brandedFood.about.pipeline, loadedFeed, odd, knownOddValues)
      yield* completeDictionaries(staging)
    }
    yield* progress.advance({ finished: feed })
  }
  if (!isJsonMoved) return { staged, left_out }
  yield* progress.phase("merging the release forms")
  yield* db.run(mergeJson)
  return { staged, left_out }
})
