/**
 * The labels that rejected rows of a CSV release belong to: by their own `fdc_id`, or, in files with several rows of a food, by
 * the rows before and after. The rows of a food are together, so between two foods the row belongs to one of them: both
 * count as incomplete.
 */
import { type DuckDb, literal } from "@larder/warehouse"
import { Effect } from "effect"
import { countRows } from "../decode/count-rows.ts"
import type { Header } from "../decode/csv/header.ts"
import type { LabelMember } from "../decode/csv/members.ts"
import { createRejectedLabels } from "./rejected-labels.ts"

type Db = DuckDb["Service"]
type Headers = ReadonlyArray<Header<LabelMember>>

/**
 * The `fdc_id` of a rejected row: of a staged row as JSON, or of a line that could not be read, in which anything may follow
 * the digits.
 */
const fdcIdInPayload = ({ columns }: Header<LabelMember>) =>
  `try_cast(case
    when starts_with(payload, '{') and json_valid(payload) then payload ->> 'fdc_id'
    else regexp_extract(payload, ${literal(`^(?:[^,]*,){${columns.indexOf("fdc_id")}} *"?([0-9]+)(?:\\.0+)?(?:[^0-9.,]|,|$)`)}, 1)
  end as integer)`

const feedOf = (feed: string, { member }: Header<LabelMember>) => literal(`${feed}/${member}.csv`)

const rejectedRows = (feed: string, headers: Headers) => `
  select rowid as "row", feed, position, reason, case feed
    ${headers.map((header) => `when ${feedOf(feed, header)} then ${fdcIdInPayload(header)}`).join(" ")}
  end as fdc_id
  from ingest.reject where starts_with(feed, ${literal(`${feed}/`)})`

/** Whether the rows of each food are together, as in all releases. */
const isGrouped = (db: Db, member: LabelMember) =>
  Effect.map(
    countRows(
      db,
      `from (select fdc_id, fdc_id is distinct from lag(fdc_id) over () as is_first from release.${member}) where is_first
       having count(*) > count(distinct fdc_id)`
    ),
    (rows) => rows === 0
  )

/** The labels of the rows before and after a rejected row without an id. Of the lines before it, `k` are not staged. */
const neighbours = (feed: string, header: Header<LabelMember>) => `
  insert into release.rejected_row
  select near."row", near.feed, staged.fdc_id
  from (
    select "row", feed, unnest([position - 3 - k, position - 2 - k]) as at
    from (${rejectedRows(feed, [header])})
    join (select line, row_number() over (order by line) - 1 as k from rejects_${header.member}) on line = position
    where feed = ${feedOf(feed, header)} and fdc_id is null
  ) near
  join release.${header.member} staged on staged.rowid = near.at`

/**
 * Before labels are assembled: lists rejected rows with their labels in `release.rejected_row`, and labels of which a row
 * was rejected in `release.label_fault`. Of two rows of a label with other values, the first is used, and nothing is
 * missing.
 */
export const stageRejectedRows = Effect.fnUntraced(function* (db: Db, feed: string, headers: Headers) {
  yield* db.run(`
    create table release.rejected_row as
    select "row", feed, fdc_id from (${rejectedRows(feed, headers)}) where fdc_id is not null and not starts_with(reason, 'duplicate ');
    create table release.label_fault (fdc_id integer, part_is_rejected boolean, unit_is_unusable boolean)`)
  for (const header of headers.filter(({ member }) => member === "food_nutrient" || member === "food_attribute")) {
    const unknown = countRows(
      db,
      `from (${rejectedRows(feed, [header])}) where feed = ${feedOf(feed, header)} and fdc_id is null`
    )
    if ((yield* unknown) > 0 && (yield* isGrouped(db, header.member))) yield* db.run(neighbours(feed, header))
  }
  yield* db.run("insert into release.label_fault select distinct fdc_id, true, false from release.rejected_row")
})

/** A row of which the label is not known counts as a label of its own. Rows with an id that no label has do not count. */
export const stageCsvRejects = Effect.fnUntraced(function* (db: Db, feed: string, headers: Headers) {
  const labelFiles = ["food", "branded_food"].map((member) => literal(`${feed}/${member}.csv`))
  const isInLabelFile = `feed in (${labelFiles.join(", ")})`
  const count = countRows(db, `from ingest.reject where starts_with(feed, ${literal(`${feed}/`)})`)
  if ((yield* count) === 0) return yield* db.run(createRejectedLabels("select 0 as row, null::varchar as label"))
  yield* db.run(
    createRejectedLabels(`
      with rejected as (
        select stated."row", stated.feed, coalesce(stated.fdc_id, near.fdc_id) as fdc_id
        from (${rejectedRows(feed, headers)}) stated
        left join (select "row", min(fdc_id) as fdc_id from release.rejected_row group by all) near using ("row")
      )
      select "row", case
        when fdc_id is null then 'record ' || "row"
        when fdc_id in (from release.other_kind) then null
        when fdc_id in (select fdc_id from branded_food.food union all select fdc_id from rejected where ${isInLabelFile})
        then fdc_id::varchar
      end as label
      from rejected`)
  )
})
