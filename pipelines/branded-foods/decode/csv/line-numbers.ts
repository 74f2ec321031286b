/**
 * The rejects of a CSV file, and the line numbers of its staged rows, computed from their rowid and the lines of the
 * rejects. A record with a line break counts as one line.
 */
import { type DuckDb, literal } from "@larder/warehouse"
import { Effect } from "effect"
import { countRows } from "../count-rows.ts"
import type { LabelMember } from "./members.ts"

type Db = DuckDb["Service"]

/**
 * The header is line 1. The k-th line that is not staged, line L, follows L - 1 - k staged rows: from row `after` on, k lines
 * are added.
 */
const shiftsSql = (member: LabelMember) => `
  create or replace table release.shift_${member} as
  select line - k + 1 as after, max(k) as shift
  from (select line, row_number() over (order by line) as k from rejects_${member})
  group by after`

/** The rows of a query with their lines. It returns the rowid of staged rows as `staged_row`. */
export const withLines = (member: LabelMember, rows: string) => `(
  select * exclude (after, shift), staged_row + 2 + coalesce(shift, 0) as line
  from (${rows}) asof left join release.shift_${member} on after <= staged_row + 2
)`

export const createRejects = (db: Db, member: LabelMember) =>
  db.run(`create temp table rejects_${member} (line bigint, reason varchar, payload varchar); ${shiftsSql(member)}`)

/** Adds lines that were not staged, from newline-delimited JSON. Blank lines have no reason; they only count as lines. */
export const addRejects = (db: Db, member: LabelMember, file: string) =>
  db.run(`
    insert into rejects_${member}
    from read_json(${literal(file)}, format = 'newline_delimited', auto_detect = false, hive_partitioning = false,
      columns = {'line': 'bigint', 'reason': 'varchar', 'payload': 'varchar'});
    ${shiftsSql(member)}`)

/**
 * Moves unusable rows from `release.<member>` to `rejects_<member>`. The query `rows` returns their rowid as `row`, and a
 * `reason`.
 */
export const moveToRejects = Effect.fnUntraced(function* (db: Db, member: LabelMember, rows: string) {
  yield* db.run(`create or replace temp table unusable as ${rows}`)
  if ((yield* countRows(db, "from unusable")) === 0) return
  yield* db.run(`
    insert into rejects_${member}
    select line, reason, payload
    from ${withLines(
      member,
      `select staged.rowid as staged_row, unusable.reason as reason, to_json(staged)::varchar as payload
       from release.${member} staged join unusable on unusable.row = staged.rowid`
    )} order by line`)
  yield* db.run(`create table release.usable as from release.${member} where rowid not in (select row from unusable)`)
  yield* db.run(`drop table release.${member}; alter table release.usable rename to ${member}; ${shiftsSql(member)}`)
})
