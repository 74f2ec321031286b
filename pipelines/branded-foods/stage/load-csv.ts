/** Loads the CSV release: stages its files as tables, assembles labels from them, and accounts for every row. */
import type { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { readHeader } from "../decode/csv/header.ts"
import { countRows } from "../decode/csv/line-numbers.ts"
import { dictionaries, readDictionaryHeader, stageDictionary } from "../decode/csv/load-dictionaries.ts"
import { loadMember } from "../decode/csv/load-member.ts"
import { labelMembers, type MemberName } from "../decode/csv/members.ts"
import { missingRecords, readStatedCounts } from "../decode/csv/stated-counts.ts"
import { createCsvLabels, csvLabels } from "../normalise/csv-labels.ts"
import { rejectLeftovers, rejectRows, rowsOf } from "./csv-rejects.ts"
import { insertLabels, type Load, type Loaded } from "./load.ts"

/** Paths of the files that are present. */
export interface CsvFiles {
  readonly members: ReadonlyMap<MemberName, string>
  /** The file with the record counts that the release states. */
  readonly counts: string | undefined
  /** True if the files come from a zip, whose checksums prove that nothing is missing. */
  readonly areWhole: boolean
}

const noAttributes = "create table release.food_attribute (fdc_id integer, name varchar, value varchar, added bigint)"

/** Reads the headers of the files that are present. */
const headersOf = <Name extends MemberName, A, E>(
  files: CsvFiles["members"],
  names: ReadonlyArray<Name>,
  read: (member: Name, path: string) => Effect.Effect<A | undefined, E>
) =>
  Effect.forEach(names, (member) => {
    const path = files.get(member)
    return path === undefined ? Effect.succeed(undefined) : read(member, path)
  }).pipe(Effect.map((headers) => headers.filter((header) => header !== undefined)))

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

/**
 * Fills `branded_food.food`. Labels that do not decode go to `release.refused`, and foods that are not branded to
 * `release.other_kind`: the release of all foods contains them.
 */
const stageLabels = Effect.fnUntraced(function* (db: DuckDb["Service"], load: Load, hasAttributes: boolean) {
  yield* db.run(`
    create table release.refused (fdc_id integer, reason varchar);
    create table release.other_kind as select fdc_id, data_type from release.food where not is_branded(data_type)`)
  yield* db.run(createCsvLabels)
  for (const range of yield* db.all(Range, ranges)) {
    const { first, labels, last } = range
    const stated = csvLabels(range, hasAttributes)
    yield* db.run(insertLabels(load, stated))
    const loaded = yield* countRows(db, `from branded_food.food where fdc_id between ${first} and ${last}`)
    if (loaded !== labels) {
      yield* db.run(`insert into release.refused select fdc_id, problem from (${stated}) where problem is not null`)
    }
  }
})

/** `folder` belongs to the run. It takes copies of files from which broken records must be removed. */
export const loadCsv = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  load: Load,
  { areWhole, counts, members: files }: CsvFiles,
  folder: string
) {
  const present = yield* headersOf(files, labelMembers, readHeader)
  const known = yield* headersOf(files, dictionaries, readDictionaryHeader)
  const stated = counts === undefined ? new Map<string, number>() : yield* readStatedCounts(counts)
  yield* db.run("set force_compression = 'uncompressed'") // read at most twice, and dropped within a minute
  for (const header of present) {
    yield* loadMember(db, header, folder)
    yield* rejectRows(db, load, header.member)
    const rows = yield* rowsOf(db, header.member)
    const missing = missingRecords(stated, header.member, rows)
    if (missing !== undefined && !areWhole && !load.acceptShrinkage) return yield* missing
    if (missing !== undefined) yield* Effect.logWarning(missing.message)
    yield* load.advance(rows)
  }
  const hasAttributes = present.some(({ member }) => member === "food_attribute")
  if (!hasAttributes) yield* db.run(noAttributes)
  for (const header of known) yield* stageDictionary(db, header, folder)
  yield* db.run("reset force_compression")
  yield* stageLabels(db, load, hasAttributes)

  const rows_read = new Map<string, number>()
  let rows_silent = 0
  for (const { member } of present) {
    rows_silent += yield* rejectLeftovers(db, load, member)
    const { url } = load.payloadOf(member)
    rows_read.set(url, (rows_read.get(url) ?? 0) + (yield* rowsOf(db, member)))
  }
  return {
    rows_read,
    rows_silent,
    unknown_fields: [...present, ...known].flatMap(({ member, unknown }) =>
      unknown.map((field) => ({ field: `${member}.${field}`, example: "" }))
    )
  } satisfies Loaded as Loaded
})
