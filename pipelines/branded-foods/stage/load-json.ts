/**
 * Loads the JSON release: cuts it into chunks of lines, reads each chunk with DuckDB while the next one is cut, and
 * accounts for every record.
 */
import { basename } from "node:path"
import { type DuckDb, type DuckDbError, literal, rejectTable, type Staging } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { FileUnwritable } from "../../run/files/write-all.ts"
import { checkLines } from "../decode/json/check-lines.ts"
import { type Chunk, cutFoods, type FoodList } from "../decode/json/food-lines.ts"
import type { FoodReject } from "../decode/json/food-list.ts"
import { knownKeys, maxFoodBytes, readChunk } from "../decode/json/keys.ts"
import { nestedAfter } from "../decode/json/nested-texts.ts"
import { blamesRecord, takeRefused } from "../decode/json/refused-lines.ts"
import { chunkLabels, jsonLabels } from "../normalise/json-labels.ts"
import { startOf } from "../source/zip.ts"
import { shown } from "../source/zip-members.ts"
import { insertLabels, type Load, type Loaded, maxPayload } from "./load.ts"

/**
 * Bytes at the start of each chunk in which unknown keys are looked for: about one record in a thousand. A new key
 * occurs in all records, or is of little importance.
 */
const inspectedBytes = 262_144

/** DuckDB may accept a line that is not strict JSON, such as one with an extra comma. The other lines show new keys. */
const keysOf = (line: string): ReadonlyArray<[string, unknown]> => {
  try {
    const food: Readonly<Record<string, unknown>> = JSON.parse(line)
    return Object.entries(food)
  } catch {
    return []
  }
}

const lookForKeys = async (file: string, unknown: Map<string, string>) => {
  const start = await startOf(file, inspectedBytes)
  const lines = start.toString("utf8").split("\n").slice(0, -1)
  for (const [key, value] of lines.flatMap(keysOf)) {
    if (!knownKeys.has(key) && !unknown.has(key)) unknown.set(key, JSON.stringify(value).slice(0, 200))
  }
}

const unknownKeysIn = (file: string, unknown: Map<string, string>) =>
  Effect.tryPromise({
    try: () => lookForKeys(file, unknown),
    catch: (cause) => new FileUnwritable({ file: basename(file), cause })
  })

/** The last row of the table before the labels of a chunk. */
const endOfLabels = "select coalesce(max(rowid), -1)::integer as row from branded_food.food"
const removeAfter = (after: number) => `delete from branded_food.food where rowid > ${after}`

/** How many labels a chunk gave, and how many labels of the whole table are duplicates. */
const loadedAfter = (row: number) => `
  select
    count(*) filter (where rowid > ${row})::integer as labels,
    (count(*) - count(distinct fdc_id))::integer as repeated
  from branded_food.food`

const again = `
  select try_cast(fdcId as integer) as fdc_id, min(line) as first_line
  from chunk
  group by all
  having count(*) > 1`

/** Labels of the table `chunk`, each with its problem. Of several foods with one fdc_id, the first counts. */
const checked = `
  select
    * exclude (first_line) replace (coalesce(problem, if(
      first_line < line or fdc_id in (select fdc_id from branded_food.food),
      'duplicate fdcId ' || fdc_id || ': an earlier line has it',
      null
    )) as problem)
  from (${chunkLabels})
  left join (${again}) using (fdc_id)`

/** Rejects the records of `chunk` that become no label, then inserts the others. */
const loadChecked = (load: Load) => [
  `insert into ingest.reject
   select 'branded-foods', ${literal(load.feed)}, ${literal(load.run_id)}, ${literal(load.raw_sha256)}, line, problem,
     left(to_json(chunk)::varchar, ${maxPayload})
   from (${checked}) join chunk using (line) where problem is not null`,
  insertLabels(load, checked)
]

const namedNutrients = "struct(nutrient struct(id varchar, number varchar, name varchar, unitName varchar))[]"

/** Counts nutrients of a chunk's labels that no dictionary knows yet, or that ours has without a number. */
const newNutrients = (row: number) => `
  select count(*)::integer as rows
  from (select distinct unnest(nutrients).nutrient_id as nutrient_id from branded_food.food where rowid > ${row})
  where nutrient_id not in (
    select nutrient_id from branded_food.nutrient where number is not null
    union all
    select nutrient_id from release.nutrient
  )`

/**
 * Reads the names of these nutrients from the chunk itself: reading them with every chunk would take longer than all
 * other steps. Only names are read here, so a record that cannot be read loses no data.
 */
const nameNutrients = (path: string) => `
  insert into release.nutrient
  select distinct try_cast(stated.nutrient.id as integer) as nutrient_id, stated.nutrient.number, stated.nutrient.name, stated.nutrient.unitName
  from (
    select unnest(foodNutrients) as stated
    from read_json(${literal(path)}, format = 'newline_delimited', auto_detect = false, hive_partitioning = false,
      ignore_errors = true, maximum_object_size = ${maxFoodBytes}, columns = {'foodNutrients': ${literal(namedNutrients)}})
  )
  where nutrient_id not in (select nutrient_id from branded_food.nutrient where number is not null)`

const Row = Schema.Struct({ row: Schema.Int })
const AtOnce = Schema.Struct({ labels: Schema.Int, repeated: Schema.Int })
const Count = Schema.Struct({ rows: Schema.Int })

/**
 * The fast path of nearly every chunk: all of its records become labels, are unique, and hold texts. Returns whether
 * this was the case; if not, the labels are removed again.
 */
const loadAtOnce = Effect.fnUntraced(function* (db: DuckDb["Service"], load: Load, chunk: Chunk, before: number) {
  const isRead = yield* db.run(insertLabels(load, jsonLabels(chunk.file))).pipe(
    Effect.as(true),
    Effect.catchTag("DuckDbError", () => Effect.succeed(false)) // the check of each line finds the one that DuckDB refuses
  )
  if (!isRead) return false
  const [loaded] = yield* db.all(AtOnce, loadedAfter(before))
  if (loaded?.labels === chunk.records && loaded.repeated === 0) {
    const [nested] = yield* db.all(Count, nestedAfter(before))
    if (nested?.rows === 0) return true
  }
  yield* db.run(removeAfter(before))
  return false
})

type Reject = (rejects: ReadonlyArray<FoodReject>) => Effect.Effect<void, DuckDbError>

/** The slow path of a chunk with an error: invalid lines are removed first, then each record is checked. */
const loadOneByOne = Effect.fnUntraced(function* (db: DuckDb["Service"], load: Load, file: string, reject: Reject) {
  yield* checkLines(file, reject)
  const read = db.run(readChunk(file))
  const readOthers = Effect.andThen(Effect.flatMap(takeRefused(db, file), reject), read)
  yield* Effect.catchTag(read, "DuckDbError", (error) => (blamesRecord(error) ? readOthers : Effect.fail(error)))
  yield* Effect.forEach(loadChecked(load), (sql) => db.run(sql), { discard: true })
})

/** Bytes of a chunk. For a smaller one, planning a query of this size costs more than running it. */
const chunkBytes = 192 << 20

/** `folder` holds the chunks and belongs to the run. */
export const loadJson = Effect.fnUntraced(function* (staging: Staging, load: Load, list: FoodList, folder: string) {
  const { db } = staging
  const unknown = new Map<string, string>()
  const reject = (rejects: ReadonlyArray<FoodReject>) =>
    staging.add(
      rejectTable,
      rejects.map(({ line, payload, reason }) => ({
        pipeline: "branded-foods",
        feed: load.feed,
        run_id: load.run_id,
        raw_sha256: load.raw_sha256,
        position: line,
        reason,
        payload
      }))
    )
  const counted = yield* cutFoods(list, { folder, chunkBytes }, (chunk) =>
    Effect.gen(function* () {
      yield* reject(chunk.rejects)
      yield* load.advance(chunk.rejects.length)
      if (chunk.records === 0) return
      const [end] = yield* db.all(Row, endOfLabels)
      const before = end?.row ?? -1
      if (!(yield* loadAtOnce(db, load, chunk, before))) yield* loadOneByOne(db, load, chunk.file, reject)
      yield* unknownKeysIn(chunk.file, unknown)
      const [unnamed] = yield* db.all(Count, newNutrients(before))
      if (unnamed?.rows !== 0) yield* db.run(nameNutrients(chunk.file))
      yield* load.advance(chunk.records)
    })
  )
  return {
    rows_read: new Map([[load.url, counted.records + counted.rejects]]), // counted by the cutter, independently of DuckDB
    rows_silent: 0,
    unknown_fields: [...unknown].map(([field, example]) => ({ field: shown(field), example }))
  } satisfies Loaded as Loaded
})
