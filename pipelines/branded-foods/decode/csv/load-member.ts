/**
 * Stages a CSV file so that no record is lost silently. DuckDB reads the file strictly and types its fields, while
 * `countRecords` counts its records in parallel. If a field cannot be typed, every row is checked. If DuckDB still
 * refuses the file, or the counts differ, broken records are filtered out first.
 */
import type { DuckDb } from "@larder/warehouse"
import { Effect, Exit, Schema } from "effect"
import { countRecords } from "./count-records.ts"
import { filterRecords } from "./filter-records.ts"
import type { Header } from "./header.ts"
import { addRejects, countRows, createRejects, moveToRejects } from "./line-numbers.ts"
import { requiredOf, stageChecked, stageTyped } from "./member-tables.ts"
import type { LabelMember } from "./members.ts"

export class RecordsLost extends Schema.TaggedError<RecordsLost>()("RecordsLost", {
  file: Schema.String,
  staged: Schema.Int,
  counted: Schema.Int
}) {
  override get message() {
    return `${this.file}: ${this.staged} of its ${this.counted} records were staged, and nothing says what became of the others. Please report this with the file.`
  }
}

/** The file ends within a record. */
export class FileCut extends Schema.TaggedError<FileCut>()("FileCut", {
  file: Schema.String,
  /** The header is record 1. */
  record: Schema.Int,
  problem: Schema.String
}) {
  override get message() {
    return `${this.file} was cut off in record ${this.record}: ${this.problem}. Download the release again, or give another one with --file.`
  }
}

type Db = DuckDb["Service"]

/** Staged rows with a value in each of these columns. */
const stagedRows = (db: Db, member: LabelMember, columns: ReadonlyArray<string> = []) => {
  const hasAll = ["true", ...columns.map((column) => `${column} is not null`)].join(" and ")
  return countRows(db, `from release.${member} where ${hasAll}`)
}

/** Copies the good records, and lists the others. Fails if the file was truncated. `folder` belongs to the run. */
export const filterMember = Effect.fnUntraced(function* ({ columns, member, path }: Header, folder: string) {
  const good = `${folder}/${member}.good.csv`
  const bad = `${folder}/${member}.bad.ndjson`
  const { broken, cut, records } = yield* filterRecords(path, columns.length, good, bad)
  if (cut !== undefined) return yield* new FileCut({ file: `${member}.csv`, ...cut })
  return { good, bad, broken, records }
})

/** Fills `release.<member>`, in the order of the file, and `rejects_<member>` with the records that cannot be read. */
export const loadMember = Effect.fnUntraced(function* (db: Db, header: Header<LabelMember>, folder: string) {
  const { member } = header
  const drop = db.run(`drop table if exists release.${member}`)
  yield* createRejects(db, member)
  const [typed, counted] = yield* Effect.all(
    [Effect.exit(db.run(stageTyped(header))), countRecords(member, header.path)],
    { concurrency: 2 }
  )
  if (Exit.isSuccess(typed) && (yield* stagedRows(db, member, requiredOf(member))) + 1 === counted) return
  yield* drop
  const checked = counted === undefined ? typed : yield* Effect.exit(db.run(stageChecked(header)))
  if (counted === undefined || Exit.isFailure(checked) || (yield* stagedRows(db, member)) + 1 !== counted) {
    yield* drop
    const { bad, good, records } = yield* filterMember(header, folder)
    yield* db.run(stageChecked({ ...header, path: good }))
    yield* addRejects(db, member, bad)
    const staged = yield* stagedRows(db, member)
    if (staged !== records) return yield* new RecordsLost({ file: `${member}.csv`, staged, counted: records })
  }
  yield* moveToRejects(
    db,
    member,
    `select rowid as row, unreadable as reason from release.${member} where unreadable is not null`
  )
  yield* db.run(`alter table release.${member} drop column unreadable`)
})
