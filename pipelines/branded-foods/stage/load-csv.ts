/**
 * Loads the CSV release: stages its files as tables, assembles labels from them, and accounts for every row. Rows that are
 * unusable or belong to no label go to `ingest.reject` with their line; those of other kinds of food are only counted.
 */
import { type DuckDb, literal } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { countRows } from "../decode/count-rows.ts"
import { readHeader } from "../decode/csv/header.ts"
import { moveToRejects, withLines } from "../decode/csv/line-numbers.ts"
import { dictionaries, readDictionaryHeader, stageDictionary } from "../decode/csv/load-dictionaries.ts"
import { loadMember } from "../decode/csv/load-member.ts"
import { type CsvMember, type LabelMember, labelMembers } from "../decode/csv/members.ts"
import { dropRepeatedRows } from "../decode/csv/repeated-rows.ts"
import { countsFile, findMissingRecords, readStatedCounts } from "../decode/csv/stated-counts.ts"
import { createCsvLabels, csvLabels, csvOdd } from "../normalise/release-labels.ts"
import { addOddTexts } from "../odd-texts.ts"
import { insertLabelsSql, type LoadInput, type LoadResult, maxPayloadLength } from "./load.ts"
import { stageCsvRejects, stageRejectedRows } from "./rejected-rows.ts"
import { adaptToNutrients, convertUnits } from "./stated-nutrients.ts"

type Db = DuckDb["Service"]

interface CsvFiles {
  readonly members: ReadonlyMap<CsvMember, string>
  readonly counts: string | undefined
  /** Whether no record can be missing. */
  readonly isComplete: boolean
}

const readHeaders = <Name extends CsvMember, A, E>(
  files: CsvFiles["members"],
  names: ReadonlyArray<Name>,
  read: (member: Name, path: string) => Effect.Effect<A | undefined, E>
) =>
  Effect.forEach(names, (member) => {
    const path = files.get(member)
    return path === undefined ? Effect.succeed(undefined) : read(member, path)
  }).pipe(Effect.map((headers) => headers.filter((header) => header !== undefined)))

const insertRejectsSql = (load: LoadInput, member: LabelMember, rows: string) => `
  insert into ingest.reject
  select 'branded-foods', ${literal(`${load.feed}/${member}.csv`)}, ${literal(load.run_id)}, ${literal(load.payloadContaining(member).sha256)},
    line, reason, left(payload, ${maxPayloadLength})
  from (${rows})`

/** The first row with an fdc_id is used. */
const duplicates = (member: LabelMember) => `
  select rowid as row, 'duplicate fdc_id ' || fdc_id || ' (first seen in an earlier row)' as reason
  from release.${member}
  qualify row_number() over (partition by fdc_id order by rowid) > 1`

/**
 * Before labels are assembled: removes rows that repeat an earlier one, returns how many they are, and rejects rows that
 * cannot be used, such as a second row of a food with other values.
 */
const rejectRows = Effect.fnUntraced(function* (db: Db, load: LoadInput, member: LabelMember) {
  const isOfFoods = member === "food" || member === "branded_food"
  const hasDuplicates =
    isOfFoods && (yield* countRows(db, `from release.${member} having count(*) > count(distinct fdc_id)`)) > 0
  const repeated = hasDuplicates || !isOfFoods ? yield* dropRepeatedRows(db, member) : 0
  if (hasDuplicates) yield* moveToRejects(db, member, duplicates(member))
  yield* db.run(insertRejectsSql(load, member, `from rejects_${member} where reason is not null`))
  return repeated
})

const withoutLabel = "anti join branded_food.food label using (fdc_id)"
const isOtherKind = "fdc_id in (from release.other_kind)"

/**
 * After labels are assembled: rejects rows without a label, except those of other kinds of food. Returns the number of
 * rows of other kinds of food.
 */
const rejectLeftovers = Effect.fnUntraced(function* (db: Db, load: LoadInput, member: LabelMember) {
  const ignored = yield* countRows(db, `from release.${member} where ${isOtherKind}`)
  const leftovers = yield* countRows(db, `from release.${member} ${withoutLabel}`)
  if (leftovers === ignored) return ignored
  const rows = `
    select staged.rowid as staged_row,
      coalesce('its label was rejected: ' || rejected.reason, 'food.csv has no readable row with the fdc_id ' || staged.fdc_id) as reason,
      to_json(staged)::varchar as payload
    from release.${member} staged left join release.rejected using (fdc_id) ${withoutLabel} where not (${isOtherKind})`
  yield* db.run(insertRejectsSql(load, member, `from ${withLines(member, rows)} order by line`))
  return ignored
})

const countAllRows = (db: Db, member: LabelMember) =>
  countRows(
    db,
    `from (select rowid from release.${member} union all select line from rejects_${member} where reason is not null)`
  )

/** Labels per range: about 500 MB of memory while they are assembled. */
const labelsPerRange = 400_000

const Range = Schema.Struct({ first: Schema.Int, last: Schema.Int, labels: Schema.Int })
const ranges = `
  select min(fdc_id) as first, max(fdc_id) as last, count(*)::integer as labels
  from (
    select fdc_id, (row_number() over (order by fdc_id) - 1) // ${labelsPerRange} as range
    from (
      select fdc_id from release.food where is_branded(data_type)
      union
      select fdc_id from release.branded_food
    )
  )
  group by range
  order by first`

/** Foods of other kinds, in releases that have them. A food in branded_food.csv is branded whatever food.csv states. */
const otherKinds = `
  select fdc_id from release.food anti join release.branded_food using (fdc_id) where not is_branded(data_type)`

/** Fills `branded_food.food`, `release.rejected` with invalid labels, and `release.other_kind`. */
const stageLabels = Effect.fnUntraced(function* (db: Db, load: LoadInput, hasAttributes: boolean) {
  yield* db.run(`
    create table release.rejected (fdc_id integer, reason varchar);
    create table release.other_kind as ${otherKinds}`)
  yield* db.run(createCsvLabels)
  for (const range of yield* db.all(Range, ranges)) {
    const { first, labels, last } = range
    const query = csvLabels(range, hasAttributes)
    yield* db.run(insertLabelsSql(load, query))
    const loaded = yield* countRows(db, `from branded_food.food where fdc_id between ${first} and ${last}`)
    if (loaded !== labels) {
      yield* db.run(`insert into release.rejected select fdc_id, problem from (${query}) where problem is not null`)
    }
  }
})

/** Writes copies of files without their broken records into `folder`. */
export const loadCsv = Effect.fnUntraced(function* (
  db: Db,
  load: LoadInput,
  { isComplete, counts, members: files }: CsvFiles,
  folder: string
) {
  const labelHeaders = yield* readHeaders(files, labelMembers, readHeader)
  const dictionaryHeaders = yield* readHeaders(files, dictionaries, readDictionaryHeader)
  const stated = counts === undefined ? undefined : yield* readStatedCounts(counts)
  if (stated !== undefined && stated.unclear.length > 0) {
    yield* Effect.logWarning("declared record counts are not understood, and not compared").pipe(
      Effect.annotateLogs({ feed: load.feed, file: countsFile, lines: stated.unclear })
    )
  }
  yield* db.run("set force_compression = 'uncompressed'") // the tables are temporary: compressing them takes longer
  for (const header of dictionaryHeaders) yield* stageDictionary(db, header, folder)
  for (const header of labelHeaders) {
    yield* loadMember(db, header.member === "food_nutrient" ? yield* adaptToNutrients(db, header) : header, folder)
    const repeated = yield* rejectRows(db, load, header.member)
    const rows = yield* countAllRows(db, header.member)
    const missing = stated && findMissingRecords(stated.counts, header.member, rows + repeated)
    if (missing !== undefined && !isComplete && !load.acceptShrinkage) return yield* missing
    if (missing !== undefined) yield* Effect.logWarning(missing.message)
    yield* load.reportProgress(rows)
  }
  const hasAttributes = labelHeaders.some(({ member }) => member === "food_attribute")
  if (!hasAttributes) {
    yield* db.run("create table release.food_attribute (fdc_id integer, name varchar, value varchar, added bigint)")
  }
  yield* stageRejectedRows(db, load.feed, labelHeaders)
  yield* convertUnits(db)
  yield* db.run("reset force_compression")
  yield* stageLabels(db, load, hasAttributes)
  yield* db.run(addOddTexts(csvOdd))

  const rows_read = new Map<string, number>()
  let rows_ignored = 0
  for (const { member } of labelHeaders) {
    rows_ignored += yield* rejectLeftovers(db, load, member)
    const { url } = load.payloadContaining(member)
    rows_read.set(url, (rows_read.get(url) ?? 0) + (yield* countAllRows(db, member)))
  }
  yield* stageCsvRejects(db, load.feed, labelHeaders)
  const result: LoadResult = {
    rows_read,
    rows_ignored,
    unknown_fields: [...labelHeaders, ...dictionaryHeaders].flatMap(({ member, unknown }) =>
      unknown.map((field) => ({ field: `${member}.${field}`, example: "" }))
    )
  }
  return result
})
