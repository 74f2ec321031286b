/**
 * Stages a CSV file as `release.<member>` without losing records. DuckDB types its fields while `countRecords` counts
 * its records. If a field cannot be typed, all are read as strings and checked, which takes 1.7 times as long. If
 * DuckDB still cannot read the file, or the counts of records or fields differ, broken records are filtered out first. A
 * quoted file in which a text is `NA` or `NULL` is read again: without quotes, these are no text.
 */
import { type DuckDb, identifier, literal } from "@larder/warehouse"
import { Effect, Exit, Schema } from "effect"
import { fieldOfCsv } from "../../label-fields.ts"
import { addOddTexts } from "../../odd-texts.ts"
import { countRows } from "../count-rows.ts"
import { countRecords } from "./count-records.ts"
import { filterRecords } from "./filter-records.ts"
import { csvRelation, type Header } from "./header.ts"
import { addRejects, createRejects, moveToRejects } from "./line-numbers.ts"
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

export interface LabelHeader extends Header<LabelMember> {
  /** Columns that are read in another way than in nearly all releases. */
  readonly unusual?: Readonly<Record<string, CsvColumn>>
}

const columnsOf = ({ member, unusual }: LabelHeader) =>
  Object.entries<CsvColumn>({ ...labelFileColumns[member], ...unusual })

/** Columns that an older layout lacks are null, which means "not stated". */
const selectColumns = (header: LabelHeader, mode: "typed" | "checked") =>
  columnsOf(header)
    .map(([name, { header: column, type, stagedType = type, [mode]: sql }]) => {
      const value = header.columns.includes(column) ? sql(identifier(column)) : `null::${stagedType}`
      return `${value} as ${name}`
    })
    .join(", ")

/** A key that is not a whole number is null. */
const stageTypedSql = (header: LabelHeader) => {
  const types = new Map(columnsOf(header).map(([, column]) => [column.header, column.type]))
  return `create table release.${header.member} as select ${selectColumns(header, "typed")} from ${csvRelation(header, types)}`
}

/** What an optional field said, if it cannot be read. */
const oddColumn = (name: string) => `odd_${name}`

/** The checked columns that the file has, with their roles. */
const checkedColumns = (file: LabelHeader) =>
  columnsOf(file).flatMap(([name, { checked, header, isChecked }]) =>
    isChecked && file.columns.includes(header)
      ? [
          {
            name,
            header,
            raw: identifier(header),
            value: checked(identifier(header)),
            field: fieldOfCsv(file.member, header)
          }
        ]
      : []
  )

/** Reads every field as a string. `unreadable` is the reason why a row cannot be used. */
const stageCheckedSql = (header: LabelHeader) => {
  const checked = checkedColumns(header)
  const problems = checked.flatMap(({ field: { role, type }, header: name, raw, value }) => {
    if (role === "optional") return []
    const unlessNothing = role === "key" ? "" : ` and not is_placeholder(${raw})`
    const problem = `${literal(`${name} is "`)} || left(coalesce(${raw}, ''), 60) || ${literal(`", which is not a ${type}`)}`
    return [`if(${value} is null${unlessNothing}, ${problem}, null)`]
  })
  const odd = checked.flatMap(({ field: { role }, name, raw, value }) =>
    role === "optional"
      ? [`, if(${value} is null and not is_placeholder(${raw}), ${raw}, null) as ${oddColumn(name)}`]
      : []
  )
  return `create table release.${header.member} as
    select ${selectColumns(header, "checked")}, nullif(concat_ws('; ', ${problems.join(", ")}), '') as unreadable
      ${odd.join("")}
    from ${csvRelation(header)}`
}

/** Counts what optional fields of usable rows said, and removes the columns with these texts. */
const takeOddColumns = Effect.fnUntraced(function* (db: Db, header: LabelHeader) {
  const { member } = header
  for (const { field, header: column, name } of checkedColumns(header)) {
    if (field.role !== "optional") continue
    const odd = oddColumn(name)
    yield* db.run(
      addOddTexts(`
        select ${literal(`${member}.${column}`)} as field, ${odd} as said
        from release.${member} where ${odd} is not null and unreadable is null`)
    )
    yield* db.run(`alter table release.${member} drop column ${odd}`)
  }
})

/** Whether a text that keeps placeholders is one that a tool writes for nothing. */
const hasNothingText = (db: Db, file: LabelHeader) => {
  const { columns, member } = file
  const texts = columnsOf(file).flatMap(([name, { header }]) =>
    columns.includes(header) && fieldOfCsv(member, header).type === "text" ? [`${name} in ('NA', 'NULL')`] : []
  )
  if (texts.length === 0) return Effect.succeed(false)
  return Effect.map(countRows(db, `from release.${member} where ${texts.join(" or ")}`), (rows) => rows > 0)
}

/** Copies the good records, and lists the others, in files in `folder`. Fails if the file was truncated. */
export const filterMember = Effect.fnUntraced(function* (
  { columns, isLastUnnamed, member, path }: Header,
  folder: string
) {
  const good = `${folder}/${member}.good.csv`
  const bad = `${folder}/${member}.bad.ndjson`
  const { broken, records, truncated } = yield* filterRecords(
    path,
    { count: columns.length, isLastIgnored: isLastUnnamed },
    good,
    bad
  )
  if (truncated !== undefined) return yield* new TruncatedFile({ file: `${member}.csv`, ...truncated })
  return { good, bad, broken, records }
})

/** Reads the file as strings, after broken records were filtered out if DuckDB cannot read it as it is. */
const stageChecked = Effect.fnUntraced(function* (
  db: Db,
  header: LabelHeader,
  folder: string,
  counted: number | undefined
) {
  const { member } = header
  const drop = db.run(`drop table if exists release.${member}`)
  const countStaged = countRows(db, `from release.${member}`)
  yield* drop
  const isRead = counted !== undefined && Exit.isSuccess(yield* Effect.exit(db.run(stageCheckedSql(header))))
  if (!isRead || (yield* countStaged) + 1 !== counted) {
    yield* drop
    const { bad, good, records } = yield* filterMember(header, folder)
    yield* db.run(stageCheckedSql({ ...header, path: good }))
    yield* addRejects(db, member, bad)
    const staged = yield* countStaged
    if (staged !== records) return yield* new RecordsLost({ file: `${member}.csv`, staged, counted: records })
  }
  yield* takeOddColumns(db, header)
  yield* moveToRejects(
    db,
    member,
    `select rowid as row, unreadable as reason from release.${member} where unreadable is not null`
  )
  yield* db.run(`alter table release.${member} drop column unreadable`)
})

/** Fills `release.<member>`, in the order of the file, and `rejects_<member>` with the records that cannot be read. */
export const loadMember = Effect.fnUntraced(function* (db: Db, header: LabelHeader, folder: string) {
  const { isQuoted, member } = header
  yield* createRejects(db, member)
  const keys = checkedColumns(header).flatMap(({ field, name }) =>
    field.role === "key" ? [`${name} is not null`] : []
  )
  const [typed, counted] = yield* Effect.all(
    [Effect.exit(db.run(stageTypedSql(header))), countRecords(member, header.path, header.columns.length)],
    { concurrency: 2 }
  )
  const usable = Exit.isSuccess(typed)
    ? yield* countRows(db, `from release.${member} where ${keys.join(" and ")}`)
    : undefined
  const isTyped = usable !== undefined && usable + 1 === counted
  const hasBareNulls = isQuoted && (!isTyped || (yield* hasNothingText(db, header)))
  if (isTyped && !hasBareNulls) return
  yield* stageChecked(db, { ...header, ...(hasBareNulls && { hasBareNulls }) }, folder, counted)
})
