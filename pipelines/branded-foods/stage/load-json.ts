/** Loads the JSON release: reads each chunk with DuckDB while the next is written, and accounts for every record. */
import { basename } from "node:path"
import { type DuckDb, type DuckDbError, identifier, literal, rejectTable, type Staging } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { reasonOf } from "../../run/files/causes.ts"
import { OddValueCounter } from "../../run/odd-values.ts"
import { ReadFailed } from "../../run/pipeline.ts"
import { countRows } from "../decode/count-rows.ts"
import { isRecordError } from "../decode/duckdb-faults.ts"
import { checkLines, removeUnreadableLines } from "../decode/json/check-lines.ts"
import { type Chunk, type FoodList, splitFoods } from "../decode/json/food-lines.ts"
import type { FoodReject } from "../decode/json/food-list.ts"
import { foodShape, knownKeys, readChunkSql, textKeys } from "../decode/json/keys.ts"
import { chunkLabels, jsonLabels, rejectedParts } from "../normalise/release-labels.ts"
import { addCountedTexts } from "../odd-texts.ts"
import { readStart } from "../source/zip.ts"
import { printableName } from "../source/zip-members.ts"
import { type LoadInput, type LoadResult, maxPayloadLength } from "./load.ts"
import { countOddTexts, insertMarkedSql } from "./marked-odd-texts.ts"
import { addNutrientNames } from "./nutrient-names.ts"
import { stageJsonRejects } from "./rejected-labels.ts"

/** Bytes per chunk that are searched for unknown keys. A new key is in all records, or is rare enough to ignore. */
const searchedBytes = 262_144

/**
 * DuckDB may accept a line that is not strict JSON, such as one with an extra comma. Such a line is skipped here, because
 * other lines have the same keys.
 */
const parseEntries = (line: string): ReadonlyArray<[string, unknown]> => {
  try {
    const food: Readonly<Record<string, unknown>> = JSON.parse(line)
    return Object.entries(food)
  } catch {
    return []
  }
}

const findUnknownKeys = Effect.fnUntraced(function* (file: string, unknown: Map<string, string>) {
  const start = yield* Effect.tryPromise({
    try: () => readStart(file, searchedBytes),
    catch: (cause) =>
      new ReadFailed({
        faults: [
          `${basename(file)} cannot be read: ${reasonOf(cause)}. This run published nothing; the previous generation stays live. Run again.`
        ]
      })
  })
  const lines = start.toString("utf8").split("\n").slice(0, -1)
  for (const [key, value] of lines.flatMap(parseEntries)) {
    if (!knownKeys.has(key) && !unknown.has(key)) unknown.set(key, JSON.stringify(value).slice(0, 200))
  }
})

const lastLabel = "select coalesce(max(rowid), -1)::integer as row from branded_food.food"

const countAddedSql = (row: number) => `
  select
    count(*) filter (where rowid > ${row})::integer as labels,
    (count(*) - count(distinct fdc_id))::integer as duplicates
  from branded_food.food`

/**
 * Labels after a row that may need the slow check of their records. DuckDB reads a nested object, a list or a boolean as a
 * string of JSON, and a boolean as the number 0 or 1; the check distinguishes these from strings and numbers, replaces NULs,
 * and rejects parts that cannot be read. Few labels have any of these, so few chunks are checked.
 */
const suspects = (row: number) => {
  const isBoolean = (text: string) => `${text} in ('true', 'false', 'TRUE', 'FALSE')` // some codes are in upper case
  const maybeNoString = (text: string) =>
    `case when contains(${text}, chr(0)) then true
      when starts_with(${text}, '[') then regexp_matches(${text}, '^.["{}\\[\\]0-9tfn-]')
      else starts_with(${text}, '{') or ${isBoolean(text)} end`
  const anyMaybeNoString = (list: string, text: string) =>
    `len(list_filter(${list}, lambda item: ${maybeNoString(text)})) > 0`
  return `
    from branded_food.food
    where rowid > ${row} and (
      ${Object.values(textKeys)
        .map((column) => `coalesce(${maybeNoString(column)}, false)`)
        .join(" or ")}
      or coalesce(${anyMaybeNoString("attributes", "item.name")} or ${anyMaybeNoString("attributes", "item.value")}, false)
      or coalesce(nutrients[1].nutrient_id <= 1, false) -- they are sorted
      or list_contains(quality_flags, 'part_rejected')
    )`
}

const repeatedIds = `
  select whole_number(fdcId) as fdc_id, min(line) as first_line
  from chunk
  group by all
  having count(*) > 1`

/** Labels of the table `chunk`, each with its problem. The first food with an fdc_id is used. */
const labelsWithProblems = `
  select
    * exclude (first_line) replace (coalesce(problem, if(
      first_line < line or fdc_id in (select fdc_id from branded_food.food),
      'duplicate fdcId ' || fdc_id || ' (first seen in an earlier line)',
      null
    )) as problem)
  from (${chunkLabels})
  left join (${repeatedIds}) using (fdc_id)`

/** A rejected record without its line, which may be another one in the next release. */
const record = `{${Object.keys(foodShape)
  .map((key) => `${literal(key)}: chunk.${identifier(key)}`)
  .join(", ")}}`

/** `rejects` is a query of `feed`, `line`, `reason` and `payload`. */
const insertRejectsSql = (load: LoadInput, rejects: string) => `
  insert into ingest.reject
  select 'branded-foods', feed, ${literal(load.run_id)}, ${literal(load.raw_sha256)}, line, reason, left(payload, ${maxPayloadLength})
  from (${rejects})`

const isPartOf = (load: LoadInput) => `starts_with(feed, ${literal(`${load.feed}/`)})`

/**
 * Rejects records, then parts of the others, and adds labels. Parts of another shape were rejected when the lines were
 * checked, also those of records that are rejected here.
 */
const checkedLoadSql = (load: LoadInput) => [
  insertRejectsSql(
    load,
    `select ${literal(load.feed)} as feed, line, problem as reason, to_json(${record})::varchar as payload
     from (${labelsWithProblems}) join chunk using (line) where problem is not null`
  ),
  insertRejectsSql(
    load,
    `select ${literal(`${load.feed}/`)} || part as feed, line, reason, payload::varchar as payload
     from (${rejectedParts}) part
     where not exists (
       select 1 from ingest.reject known
       where known.feed = ${literal(`${load.feed}/foodNutrients`)} and known.position = part.line
         and starts_with(known.reason, 'foodNutrients[' || part.place || ']')
     )`
  ),
  `delete from ingest.reject
   where ${isPartOf(load)} and position in (select position from ingest.reject where feed = ${literal(load.feed)})`,
  insertMarkedSql(load, labelsWithProblems)
]

const Row = Schema.Struct({ row: Schema.Int })
const Added = Schema.Struct({ labels: Schema.Int, duplicates: Schema.Int })

/** The fast path of nearly every chunk: all records become labels, are unique and whole, and have only strings as texts. */
const loadWholeChunk = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  load: LoadInput,
  chunk: Chunk,
  before: number
) {
  const isRead = yield* db.run(insertMarkedSql(load, jsonLabels(chunk.file))).pipe(
    Effect.as(true),
    Effect.catchTag("DuckDbError", () => Effect.succeed(false)) // the check line by line finds the bad record
  )
  if (!isRead) return false
  const [added] = yield* db.all(Added, countAddedSql(before))
  if (added?.labels === chunk.records && added.duplicates === 0) {
    if ((yield* countRows(db, suspects(before))) === 0) return true
  }
  yield* db.run(`delete from branded_food.food where rowid > ${before}`)
  return false
})

type Reject = (rejects: ReadonlyArray<FoodReject>) => Effect.Effect<void, DuckDbError>

/**
 * The slow path of a chunk with an error: invalid lines, and optional parts of another shape, are removed first, then
 * each record is checked.
 */
const loadLineByLine = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  load: LoadInput,
  file: string,
  release: string,
  reject: Reject
) {
  const odd = new OddValueCounter()
  const toText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))
  yield* checkLines(file, release, reject, ({ field, value }) => odd.add("unreadable", field, toText(value)))
  if (odd.list().length > 0) yield* addCountedTexts(db, odd.list())
  const readAll = db.run(readChunkSql(file, `line in (select position from ingest.reject where ${isPartOf(load)})`))
  const readWithoutBadLines = removeUnreadableLines(db, file).pipe(Effect.flatMap(reject), Effect.andThen(readAll))
  yield* Effect.catchTag(readAll, "DuckDbError", (error) =>
    isRecordError(error) ? readWithoutBadLines : Effect.fail(error)
  )
  yield* Effect.forEach(checkedLoadSql(load), (sql) => db.run(sql), { discard: true })
})

/** For smaller chunks, planning the long query takes more time than running it. */
const chunkBytes = 192 << 20

/** Chunks are written to `folder`, which the run owns and removes. */
export const loadJson = Effect.fnUntraced(function* (
  staging: Staging,
  load: LoadInput,
  list: FoodList,
  folder: string
) {
  const { db } = staging
  const unknown = new Map<string, string>()
  const { feed, raw_sha256, run_id } = load
  const source = { pipeline: "branded-foods", feed, run_id, raw_sha256 }
  const reject = (rejects: ReadonlyArray<FoodReject>) =>
    staging.add(
      rejectTable,
      rejects.map(({ line: position, part, reason, payload }) => ({
        ...source,
        feed: part === undefined ? feed : `${feed}/${part}`,
        position,
        reason,
        payload
      }))
    )
  const counts = yield* splitFoods(list, { folder, chunkBytes }, (chunk) =>
    Effect.gen(function* () {
      yield* reject(chunk.rejects)
      yield* load.reportProgress(chunk.rejects.length)
      if (chunk.records === 0) return
      const [lastRow] = yield* db.all(Row, lastLabel)
      const before = lastRow?.row ?? -1
      if (!(yield* loadWholeChunk(db, load, chunk, before)))
        yield* loadLineByLine(db, load, chunk.file, list.name, reject)
      yield* countOddTexts(db, before)
      yield* findUnknownKeys(chunk.file, unknown)
      yield* addNutrientNames(db, chunk.file, before)
      yield* load.reportProgress(chunk.records)
    })
  )
  yield* stageJsonRejects(db, feed)
  const parts = yield* countRows(db, `from ingest.reject where ${isPartOf(load)}`)
  const result: LoadResult = {
    // records are counted by the splitter, independently of DuckDB; a rejected part is read in addition to its record
    rows_read: new Map([[load.url, counts.records + counts.rejects + parts]]),
    rows_ignored: 0,
    unknown_fields: [...unknown].map(([field, example]) => ({ field: printableName(field), example }))
  }
  return result
})
