/**
 * Stages a CSV file so that no record of it is lost without a word: DuckDB reads it strictly while its records are counted
 * beside it. Where DuckDB refuses the file, or the counts differ, broken records are sifted out first.
 */
import { type DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { Effect, Exit, Schema } from "effect"
import { countRecords } from "./count-records.ts"
import type { Header } from "./header.ts"
import type { LabelMember } from "./members.ts"
import { siftRecords } from "./sift-records.ts"
import { stageMember } from "./stage-members.ts"

export class RecordsLost extends Schema.TaggedError<RecordsLost>()("RecordsLost", {
  file: Schema.String,
  staged: Schema.Int,
  counted: Schema.Int
}) {
  override get message() {
    return `${this.file}: ${this.staged} of its ${this.counted} records were staged, and nothing says what became of the others. Please report this with the file.`
  }
}

type Db = DuckDb["Service"]

const Count = Schema.Struct({ rows: Schema.Int })
const rejectColumns = "line bigint, error_message varchar, csv_line varchar"

const noRejects = (member: LabelMember) => `create temp table rejects_${member} (${rejectColumns})`

const readRejects = (member: LabelMember, file: string) => `
  create temp table rejects_${member} as
  from read_json(${literal(file)}, format = 'newline_delimited', auto_detect = false,
    columns = {'line': 'bigint', 'error_message': 'varchar', 'csv_line': 'varchar'})`

const stagedRows = (db: Db, member: LabelMember) =>
  Effect.map(db.all(Count, `select count(*)::integer as rows from release.${member}`), ([row]) => row?.rows ?? 0)

/** A copy of the file with its good records, and the list of the others. `folder` is the run's own. */
export const sifted = Effect.fnUntraced(function* ({ columns, member, path }: Header, folder: string) {
  const good = `${folder}/${member}.good.csv`
  const bad = `${folder}/${member}.bad.ndjson`
  return { good, bad, ...(yield* siftRecords(path, columns.length, good, bad)) }
})

/** Fills `release.<member>`, in the order of the file, and `rejects_<member>` with the records that cannot be read. */
export const stageExactly = Effect.fnUntraced(function* (
  db: Db,
  header: Header & { readonly member: LabelMember },
  folder: string
) {
  const { member } = header
  const [read, counted] = yield* Effect.all(
    [Effect.exit(db.run(stageMember(header))), countRecords(member, header.path)],
    { concurrency: 2 }
  )
  if (Exit.isSuccess(read)) {
    if ((yield* stagedRows(db, member)) + 1 === counted) return yield* db.run(noRejects(member))
    yield* db.run(`drop table release.${member}`)
  }
  const { bad, good, records } = yield* sifted(header, folder)
  yield* db.run(stageMember({ ...header, path: good }))
  yield* db.run(readRejects(member, bad))
  const staged = yield* stagedRows(db, member)
  if (staged !== records) return yield* new RecordsLost({ file: `${member}.csv`, staged, counted: records })
})
