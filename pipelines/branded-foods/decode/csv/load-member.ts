/**
 * Stages a CSV file as `release.<member>` without losing records. DuckDB types its fields while `countRecords` counts
 * its records. If a field cannot be typed, all are read as strings and checked, which takes 1.7 times as long. If
 * DuckDB still cannot read the file, or the counts differ, broken records are filtered out first.
 */
import { type DuckDb, identifier, literal } from "@larder/warehouse"
import { Effect, Exit, Schema } from "effect"
import { countRecords } from "./count-records.ts"
import { filterRecords } from "./filter-records.ts"
import { csvRelation, type Header } from "./header.ts"
import { addRejects, countRows, createRejects, moveToRejects } from "./line-numbers.ts"
import { type CsvColumn, type LabelMember, labelFileColumns } from "./members.ts"

export class RecordsLost extends Schema.TaggedError<RecordsLost>()("RecordsLost", {
  file: Schema.String,
  staged: Schema.Int,
  counted: Schema.Int
}) {
  override get message() {
    return `${this.file}: ${this.staged} of its ${this.counted} records were staged, and the others are missing without a reason. Please report this with the file.`
  }
}

export class TruncatedFile extends Schema.TaggedError<TruncatedFile>()("TruncatedFile", {
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
type LabelHeader = Header<LabelMember>

const columnsOf = (member: LabelMember) => Object.entries<CsvColumn>(labelFileColumns[member])

/** Columns that an older layout lacks are null, which means "not stated". */
const selectColumns = ({ columns, member }: LabelHeader, mode: "typed" | "checked") =>
  columnsOf(member)
    .map(([name, { header, type, stagedType = type, [mode]: sql }]) => {
      const value = columns.includes(header) ? sql(identifier(header)) : `null::${stagedType}`
      return `${value} as ${name}`
    })
    .join(", ")

/** An id that is not a whole number is null. */
const stageTypedSql = (header: LabelHeader) => {
  const types = new Map(columnsOf(header.member).map(([, column]) => [column.header, column.type]))
  return `create table release.${header.member} as select ${selectColumns(header, "typed")} from ${csvRelation(header, types)}`
}

/** Reads every field as a string. `unreadable` is the reason why a row cannot be used. */
const stageCheckedSql = (header: LabelHeader) => {
  const problems = columnsOf(header.member).flatMap(([, { checked, header: field, requirement }]) => {
    if (requirement === undefined || !header.columns.includes(field)) return []
    const raw = identifier(field)
    const unlessEmpty = requirement.isMandatory ? "" : ` and trim(${raw}) <> ''`
    const problem = `${literal(`${field} is "`)} || left(coalesce(${raw}, ''), 60) || ${literal(`", which is not a ${requirement.type}`)}`
    return [`if(${checked(raw)} is null${unlessEmpty}, ${problem}, null)`]
  })
  return `create table release.${header.member} as
    select ${selectColumns(header, "checked")}, nullif(concat_ws('; ', ${problems.join(", ")}), '') as unreadable
    from ${csvRelation(header)}`
}

/** Copies the good records, and lists the others, in files in `folder`. Fails if the file was truncated. */
export const filterMember = Effect.fnUntraced(function* ({ columns, member, path }: Header, folder: string) {
  const good = `${folder}/${member}.good.csv`
  const bad = `${folder}/${member}.bad.ndjson`
  const { broken, records, truncated } = yield* filterRecords(path, columns.length, good, bad)
  if (truncated !== undefined) return yield* new TruncatedFile({ file: `${member}.csv`, ...truncated })
  return { good, bad, broken, records }
})

/** Fills `release.<member>`, in the order of the file, and `rejects_<member>` with the records that cannot be read. */
export const loadMember = Effect.fnUntraced(function* (db: Db, header: LabelHeader, folder: string) {
  const { member } = header
  const drop = db.run(`drop table if exists release.${member}`)
  const countStaged = countRows(db, `from release.${member}`)
  const required = columnsOf(member).flatMap(([name, { requirement }]) =>
    requirement?.isMandatory ? [`${name} is not null`] : []
  )
  yield* createRejects(db, member)
  const [typed, counted] = yield* Effect.all(
    [Effect.exit(db.run(stageTypedSql(header))), countRecords(member, header.path)],
    { concurrency: 2 }
  )
  if (Exit.isSuccess(typed)) {
    const usable = yield* countRows(db, `from release.${member} where ${required.join(" and ")}`)
    if (usable + 1 === counted) return
  }
  yield* drop
  const checked = counted === undefined ? typed : yield* Effect.exit(db.run(stageCheckedSql(header)))
  if (counted === undefined || Exit.isFailure(checked) || (yield* countStaged) + 1 !== counted) {
    yield* drop
    const { bad, good, records } = yield* filterMember(header, folder)
    yield* db.run(stageCheckedSql({ ...header, path: good }))
    yield* addRejects(db, member, bad)
    const staged = yield* countStaged
    if (staged !== records) return yield* new RecordsLost({ file: `${member}.csv`, staged, counted: records })
  }
  yield* moveToRejects(
    db,
    member,
    `select rowid as row, unreadable as reason from release.${member} where unreadable is not null`
  )
  yield* db.run(`alter table release.${member} drop column unreadable`)
})
