/**
 * Accounts for every row of the files. Rows that do not parse, cannot be used or belong to no label go to
 * `ingest.reject` with their line. Rows of other kinds of food are only counted, as silent.
 */
import { type DuckDb, literal } from "@larder/warehouse"
import { Effect } from "effect"
import { countRows, lineOf, moveToRejects } from "../decode/csv/line-numbers.ts"
import type { LabelMember } from "../decode/csv/members.ts"
import { type Load, maxPayload } from "./load.ts"

type Db = DuckDb["Service"]

const reject = (load: Load, member: LabelMember, rows: string) => `
  insert into ingest.reject
  select 'branded-foods', ${literal(`${load.feed}/${member}.csv`)}, ${literal(load.run_id)}, ${literal(load.payloadOf(member).sha256)},
    line, reason, left(payload, ${maxPayload})
  from (${rows})`

const staged = (member: LabelMember, reason: string, from: string) => `
  select ${lineOf(member)} as line, ${reason} as reason, to_json(staged)::varchar as payload
  from release.${member} staged ${from}`

/** Of several rows with one fdc_id, the first counts. */
const repeated = (member: LabelMember) => `
  select rowid as row, 'duplicate fdc_id ' || fdc_id || ': an earlier row has it' as reason
  from release.${member}
  qualify row_number() over (partition by fdc_id order by rowid) > 1`

/** Runs before labels are assembled: rejects rows that cannot be used, including duplicates. */
export const rejectRows = Effect.fnUntraced(function* (db: Db, load: Load, member: LabelMember) {
  if (member === "food" || member === "branded_food") {
    const twice = yield* countRows(db, `from release.${member} having count(*) > count(distinct fdc_id)`)
    if (twice > 0) yield* moveToRejects(db, member, repeated(member))
  }
  yield* db.run(reject(load, member, `from rejects_${member} where reason is not null`))
})

const ofNoLabel = "anti join branded_food.food label using (fdc_id)"
/** A food that branded_food.csv names is branded, whatever food.csv calls it. */
const isOther = "fdc_id in (select fdc_id from release.other_kind anti join release.branded_food using (fdc_id))"

/** Runs after labels are assembled: rejects rows that belong to none of them. Returns the number of silent rows. */
export const rejectLeftovers = Effect.fnUntraced(function* (db: Db, load: Load, member: LabelMember) {
  const silent = yield* countRows(db, `from release.${member} where ${isOther}`)
  const left = yield* countRows(db, `from release.${member} ${ofNoLabel}`)
  if (left === silent) return silent
  const reason =
    "coalesce('its label was refused: ' || refused.reason, 'food.csv has no row with the fdc_id ' || staged.fdc_id)"
  const from = `left join release.refused using (fdc_id) ${ofNoLabel} where not (${isOther})`
  yield* db.run(reject(load, member, staged(member, reason, from)))
  return silent
})

/** Counts all rows of a file, both staged and rejected. */
export const rowsOf = (db: Db, member: LabelMember) =>
  countRows(
    db,
    `from (
    select rowid from release.${member}
    union all select line from rejects_${member} where reason is not null
  )`
  )
