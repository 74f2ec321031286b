/**
 * Finds rows of food_nutrient.csv and food_attribute.csv that are in the file twice, for example because parts of it were
 * joined. They would show a nutrient twice. Equal rows have equal ids, and in a release the ids ascend, which takes 0.2 s
 * to find out for 30 million rows. Otherwise a bit for each id shows whether one repeats: 2 s, a quarter of what comparing
 * the ids themselves takes.
 */
import type { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { countRows, moveToRejects } from "./line-numbers.ts"
import { type LabelMember, labelFileColumns } from "./members.ts"

type Db = DuckDb["Service"]

/** Bits for ids: 64 MB per thread. The ids of a release have a range of about 2 ** 28. */
const maxIdRange = 2 ** 29

const Ids = Schema.Struct({
  rows: Schema.Int,
  stated: Schema.Int,
  min: Schema.NullOr(Schema.Number),
  max: Schema.NullOr(Schema.Number)
})
const idsOf = (member: LabelMember) => `
  select count(*)::integer as rows, count(added)::integer as stated, min(added)::double as min, max(added)::double as max
  from release.${member}`

/** How many different ids there are, if they are in this range. */
const countIds = (min: number, max: number) =>
  max - min < maxIdRange ? `bit_count(bitstring_agg(added, ${min}::bigint, ${max}::bigint))` : "count(distinct added)"

const isHigher = "added > lag(added) over ()"
/** Each proves that no id repeats: ids ascend in the whole file, or foods ascend and the ids in each of them. */
const orders = [isHigher, `fdc_id > lag(fdc_id) over () or (fdc_id = lag(fdc_id) over () and ${isHigher})`]
const hasOtherOrder = (db: Db, member: LabelMember, order: string) =>
  Effect.map(
    countRows(db, `from (select ${order} as is_next from release.${member} where added is not null) where not is_next`),
    (rows) => rows > 0
  )

const hasRepeatedId = Effect.fnUntraced(function* (
  db: Db,
  member: LabelMember,
  min: number,
  max: number,
  rows: number
) {
  for (const order of orders) if (!(yield* hasOtherOrder(db, member, order))) return false
  const repeated = `from (select ${countIds(min, max)} as ids from release.${member}) where ids < ${rows}`
  return (yield* countRows(db, repeated)) > 0
})

const repeatedRows = (member: LabelMember, isSuspect: string) => `
  select rowid as "row", null::varchar as reason
  from release.${member}
  where ${isSuspect}
  qualify row_number() over (partition by ${Object.keys(labelFileColumns[member]).join(", ")} order by rowid) > 1`

const repeatedIds = (member: LabelMember) =>
  `added in (select added from release.${member} group by added having count(*) > 1)`

/**
 * Removes rows that are equal to an earlier one, which keep their line numbers like blank lines, and returns how many they
 * are. Rows of foods are compared by their `fdc_id`, and rejected: two of them may differ.
 */
export const dropRepeatedRows = Effect.fnUntraced(function* (db: Db, member: LabelMember) {
  if (member === "food" || member === "branded_food") return 0
  const [ids] = yield* db.all(Ids, idsOf(member))
  if (ids === undefined || ids.rows === 0) return 0
  const { max, min, rows, stated } = ids
  const suspects = [
    ...(stated < rows ? ["added is null"] : []),
    ...(min !== null && max !== null && (yield* hasRepeatedId(db, member, min, max, stated))
      ? [repeatedIds(member)]
      : [])
  ]
  if (suspects.length === 0) return 0
  yield* moveToRejects(db, member, repeatedRows(member, suspects.join(" or ")))
  const repeated = rows - (yield* countRows(db, `from release.${member}`))
  if (repeated > 0) {
    yield* Effect.logWarning("rows that repeat an earlier row are read once").pipe(
      Effect.annotateLogs({ file: `${member}.csv`, rows: repeated })
    )
  }
  return repeated
})
