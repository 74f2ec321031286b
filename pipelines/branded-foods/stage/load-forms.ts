/**
 * Loads the forms of a release into the staging file, one after the other. A faulty form leaves nothing behind: while a
 * form is staged, the table of labels holds only that form, so that all of it can be removed.
 */

import { readFileSync } from "node:fs"
import type { FeedLeftOut } from "@larder/schemas"
import { assignments, completedLabel, type DuckDb, foodTable, literal } from "@larder/warehouse"
import { Effect, Path } from "effect"
import type { RunContext } from "../../run/pipeline.ts"
import { Progress } from "../../run/progress.ts"
import { type Form, type FormToLoad, feedOf } from "../source/fetch-release.ts"
import { checkForm } from "./check-form.ts"
import type { Loaded } from "./load.ts"
import { loadForm } from "./load-form.ts"
import { completeDictionaries, stageDictionaries } from "./stage-dictionaries.ts"

export type StagedForm = Loaded & Omit<FormToLoad, "form"> & { readonly form: Form }

/** Errors of a payload that cannot be trusted. Others, such as a full disk, fail the run. */
const untrusted = [
  "ZipUnusable",
  "MemberMissing",
  "FoodListUnusable",
  "HeaderUnreadable",
  "FileCut",
  "RecordsLost",
  "RecordsMissing",
  "FormUnlikely"
] as const

/** Attaches a new file as `release` until the scope ends: later steps of the session need the memory. */
const attachRelease = (db: DuckDb["Service"], file: string) =>
  Effect.acquireRelease(db.run(`attach ${literal(file)} as release`), () =>
    Effect.ignore(db.run("detach release; drop table if exists temp.chunk"))
  )

/** Removes everything that a form has staged. */
const removeForm = (db: DuckDb["Service"], feed: string) =>
  db.run(`
    reset force_compression;
    delete from branded_food.food;
    delete from ingest.reject where feed = ${literal(feed)} or starts_with(feed, ${literal(`${feed}/`)});
    delete from release.nutrient;
    delete from release.derivation;
    checkpoint`)

const macros = readFileSync(new URL("../normalise/macros.sql", import.meta.url), "utf8")

const merged = assignments(Object.keys(foodTable.record.fields), completedLabel)

/** Sets the staged JSON form aside, so that the CSV form is staged into an empty table. */
const setJsonAside = "create table release.json as from branded_food.food; delete from branded_food.food; checkpoint"

/** Completes the staged CSV form, which is larger, with the JSON form, by the same rule as between runs. */
const completeWithJson = `
  update branded_food.food l set ${merged}, source_rows = s.source_rows + l.source_rows
  from release.json s where s.fdc_id = l.fdc_id;
  insert into branded_food.food from release.json json anti join branded_food.food food using (fdc_id)`

export const loadForms = Effect.fnUntraced(function* (
  { acceptShrinkage, run_id, staging }: RunContext,
  forms: ReadonlyArray<FormToLoad>,
  numbers: ReadonlyMap<number, string>
) {
  const path = yield* Path.Path
  const progress = yield* Progress
  const { db } = staging
  const staged: Array<StagedForm> = []
  const left_out: Array<FeedLeftOut> = []
  if (forms.length === 0) return { staged, left_out }
  const folder = path.dirname(staging.file)
  yield* attachRelease(db, path.join(folder, "release.duckdb"))
  yield* db.run(macros)
  yield* stageDictionaries(staging, numbers)
  const advance = (rows: number) => progress.advance({ rows })
  let hasJsonAside = false
  for (const form of forms) {
    // if both forms are present, JSON comes first
    if (staged.length > 0 && !hasJsonAside) {
      yield* db.run(setJsonAside)
      hasJsonAside = true
    }
    const feed = feedOf(form.form)
    yield* progress.advance({ reading: feed })
    const loaded = yield* loadForm(form, { staging, run_id, folder, advance, acceptShrinkage }).pipe(
      Effect.tap((loaded) => checkForm(db, { form: loaded.form, feed: feedOf(loaded.form) }, form.released_on)),
      Effect.catchTag(untrusted, ({ message: reason }) => Effect.succeed({ feed, kind: "untrusted" as const, reason }))
    )
    if ("kind" in loaded) {
      left_out.push(loaded)
      yield* removeForm(db, feed)
    } else {
      staged.push({ ...form, ...loaded })
      yield* completeDictionaries(staging)
    }
    yield* progress.advance({ feed })
  }
  if (!hasJsonAside) return { staged, left_out }
  yield* progress.phase("merging the release forms")
  yield* db.run(completeWithJson)
  return { staged, left_out }
})
