/**
 * What optional fields of a form said where it cannot be read. While a form is staged, the texts are counted in
 * `release.odd_text`; only those of accepted forms are staged for `ingest.odd_value`.
 */
import type { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { maxSaidLength, type OddValue, readOddTexts } from "../run/odd-values.ts"
import { thresholds } from "../run/thresholds.ts"
import { type LabelField, labelFields } from "./label-fields.ts"

type Db = DuckDb["Service"]

export const createOddTexts = "create or replace table release.odd_text (field varchar, said varchar, rows bigint)"

/** Counts the texts of a query of `field` and `said`. */
export const addOddTexts = (texts: string) => `
  insert into release.odd_text
  select field, left(said, ${maxSaidLength}) as said, count(*) as rows from (${texts}) group by all`

const insertCounted = `
  insert into release.odd_text by name
  select unnest(from_json($values, '[{"field": "VARCHAR", "said": "VARCHAR", "rows": "BIGINT"}]'), recursive := true)`

/** Adds texts that were counted without SQL. As a parameter, a text may contain anything, such as a NUL. */
export const addCountedTexts = (db: Db, values: ReadonlyArray<OddValue>) =>
  Effect.asVoid(db.rows(insertCounted, { values: JSON.stringify(values) }))

const Counts = Schema.Record(Schema.String, Schema.Int)
const countValues = `select count(*)::integer as labels, ${Object.entries<LabelField>(labelFields)
  .flatMap(([column, { role }]) =>
    role === "optional" && column !== "data_type" && column !== "food_category"
      ? [`count(${column})::integer as ${column}`]
      : []
  )
  .join(", ")} from branded_food.food`

/**
 * Whether so many unreadable values of a field, without a readable one, show that its meaning has changed. In a form with
 * fewer labels than the limit, it is all of them.
 */
export const isSystematic = (values: number, labels: number) =>
  thresholds.rejectedValues.isMetBy(values) || values >= Math.max(2, labels)

/** Warns about optional fields of a staged form without any readable value: their meaning may have changed. */
const warnOfUnreadFields = Effect.fnUntraced(function* (db: Db, feed: string, values: ReadonlyArray<OddValue>) {
  const [counts = {}] = yield* db.all(Counts, countValues)
  const labels = counts.labels ?? 0
  for (const [column, { csv, json }] of Object.entries<LabelField>(labelFields)) {
    const texts = values.filter(({ field }) => field === csv || field === json)
    const rows = texts.reduce((total, text) => total + text.rows, 0)
    if (counts[column] !== 0 || !isSystematic(rows, labels)) continue
    yield* Effect.logWarning("no value of an optional field was understood; it is null in every label").pipe(
      Effect.annotateLogs({ feed, field: texts[0]?.field, rows, example: texts[0]?.said })
    )
  }
})

/** Returns what optional fields of the staged form said. */
export const takeOddTexts = Effect.fnUntraced(function* (db: Db, feed: string) {
  const values = yield* readOddTexts(db, "unreadable", "from release.odd_text")
  if (values.length > 0) yield* warnOfUnreadFields(db, feed, values)
  yield* db.run("delete from release.odd_text")
  return values
})
