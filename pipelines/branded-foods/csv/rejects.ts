/**
 * Accounts for every row of the files: what did not parse, what cannot be used, and what belongs to no label goes to
 * `ingest.reject` with its line; rows of other kinds of food state nothing here. Lines count records: one that holds a line
 * break counts once.
 */
import { type DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import type { Load } from "../load.ts"
import { isBranded } from "./labels.ts"
import type { LabelMember } from "./members.ts"

type Db = DuckDb["Service"]

/** A row that is longer is shortened in the reject; the raw archive has it whole. */
const mostOfPayload = 100_000

const Count = Schema.Struct({ rows: Schema.Int })
const count = (db: Db, sql: string) =>
  Effect.map(db.all(Count, `select count(*)::integer as rows ${sql}`), ([row]) => row?.rows ?? 0)

/**
 * Line of a staged row: the header is line 1, and lines that did not parse stand between the others. The k-th of those, at
 * line L, comes after L - 2 - k rows that did.
 */
const shifts = (member: LabelMember) => `
  create table release.shift_${member} as
  select line - row_number() over (order by line) + 1 as after
  from rejects_${member}`
const lineOf = (member: LabelMember) =>
  `(staged.rowid + 2 + (select count(*) from release.shift_${member} where after <= staged.rowid + 2))`

const reject = (load: Load, member: LabelMember, rows: string) => `
  insert into ingest.reject
  select 'branded-foods', ${literal(`${load.feed}/${member}.csv`)}, ${literal(load.run_id)}, ${literal(load.rawOf(member))},
    line, reason, left(payload, ${mostOfPayload})
  from (${rows})`

const staged = (member: LabelMember, reason: string, from: string) => `
  select ${lineOf(member)} as line, ${reason} as reason, to_json(staged)::varchar as payload
  from release.${member} staged ${from}`

const unparsed = (member: LabelMember) => `
  select line, error_message as reason, csv_line as payload
  from rejects_${member}
  where error_message is not null`

/** Of rows with one fdc_id the first counts. */
const repeated = (member: LabelMember) => `
  select rowid
  from release.${member}
  where unreadable is null
  qualify row_number() over (partition by fdc_id order by rowid) > 1`

/** Before labels are put together: rows that cannot take part are told, and those that stand twice are taken out. */
export const rejectRows = Effect.fnUntraced(function* (db: Db, load: Load, member: LabelMember) {
  yield* db.run(shifts(member))
  yield* db.run(reject(load, member, unparsed(member)))
  yield* db.run(reject(load, member, staged(member, "unreadable", "where unreadable is not null")))
  if (member !== "food" && member !== "branded_food") return
  const [twice] = yield* db.all(
    Count,
    `select (count(*) - count(distinct fdc_id))::integer as rows from release.${member} where unreadable is null`
  )
  if (twice?.rows === 0) return
  yield* db.run(`create table release.repeated as ${repeated(member)}`)
  const again = "semi join release.repeated on repeated.rowid_of = staged.rowid"
  yield* db.run("alter table release.repeated rename column rowid to rowid_of")
  yield* db.run(reject(load, member, staged(member, "'fdc_id ' || fdc_id || ' stands in an earlier row, too'", again)))
  yield* db.run(
    `update release.${member} set unreadable = 'stands twice' where rowid in (select rowid_of from release.repeated)`
  )
  yield* db.run("drop table release.repeated")
})

const ofNoLabel = "anti join branded_food.food label using (fdc_id) where unreadable is null"
const others = `select fdc_id from release.food where unreadable is null and not (${isBranded})`

/** After labels are put together: rows that belong to none of them. Returns how many state nothing here. */
export const rejectLeftovers = Effect.fnUntraced(function* (db: Db, load: Load, member: LabelMember) {
  const isOther = member === "food" ? `not (${isBranded})` : `fdc_id in (${others})`
  const silent = yield* count(db, `from release.${member} where unreadable is null and ${isOther}`)
  const left = yield* count(db, `from release.${member} ${ofNoLabel}`)
  if (left === silent) return silent
  const reason =
    "coalesce('its label was refused: ' || refused.reason, 'food.csv has no row with the fdc_id ' || staged.fdc_id)"
  const from = `left join release.refused using (fdc_id) ${ofNoLabel} and not (${isOther})`
  yield* db.run(reject(load, member, staged(member, reason, from)))
  return silent
})

/** All rows of a file, read without looking at what became of them. */
export const rowsOf = (db: Db, member: LabelMember) =>
  count(
    db,
    `from (
    select rowid from release.${member}
    union all select line from rejects_${member} where error_message is not null
  )`
  )
