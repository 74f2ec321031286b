/** Loads the CSV release: stages its files as tables, assembles labels from them, and accounts for every row. */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { readHeader } from "../decode/csv/header.ts"
import { dictionaries, readDictionaryHeader, stageDictionary } from "../decode/csv/load-dictionaries.ts"
import { stageExactly } from "../decode/csv/load-member.ts"
import { labelMembers, type MemberName } from "../decode/csv/members.ts"
import { missingRecords, readStatedCounts } from "../decode/csv/stated-counts.ts"
import type { Load, Loaded } from "../load.ts"
import { stageLabels } from "../normalise/csv-labels.ts"
import { rejectLeftovers, rejectRows, rowsOf } from "./csv-rejects.ts"

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
    yield* stageExactly(db, header, folder)
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
