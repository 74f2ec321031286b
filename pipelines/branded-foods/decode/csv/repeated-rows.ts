/**
 * Finds rows that are in a file twice, for example because parts of it were joined. In food_nutrient.csv they would show a
 * nutrient twice. Equal rows have equal ids, and in a release the ids of amounts ascend, which takes 0.2 s to find out for
 * 30 million rows. Otherwise the different ids are counted, which takes 3 s.
 */
import type { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { countRows } from "../count-rows.ts"
import { moveToRejects } from "./line-numbers.ts"
import { type LabelMember, labelFileColumns } from "./members.ts"

type Db = DuckDb["Service"]

const Ids = Schema.Struct({ rows: Schema.Int, stated: Schema.Int })
const idsOf = (member: LabelMember) =>
  `select count(*)::integer as rows, count(added)::integer as stated from release.${member}`

const isHigher = "added > lag(added) over ()"
/** Each proves that no row repeats: ids ascend in the whole file, or foods ascend and the ids in each of them. */
const orders = [isHigher, `fdc_id > lag(fdc_id) over () or (fdc_id = lag(fdc_id) over () and ${isHigher})`]
const hasOtherOrder = (db: Db, member: LabelMember, order: string) =>
  Effect.map(
    countRows(db, `from (select ${order} as is_next from release.${member} where added is not null) where not is_next`),
    (rows) => rows > 0
  )

const hasRepeatedId = Effect.fnUntraced(function* (db: Db, member: LabelMember, rows: number) {
  for (const order of orders) if (!(yield* hasOtherOrder(db, member, order))) return false
  const repeated = `from (select count(distinct added) as ids from release.${member}) where ids < ${rows}`
  return (yield* countRows(db, repeated)) > 0
})

const equalRows = (member: LabelMember, isSuspect: string) => `
  select rowid as "row", null::varchar as reason
  from release.${member}
  where ${isSuspect}
  qualify row_number() over (partition by ${Object.keys(labelFileColumns[member]).join(", ")} order by rowid) > 1`

const isRepeated = (member: LabelMember, id: string) =>
  `${id} in (select ${id} from release.${member} group by ${id} having count(*) > 1)`

/** Removes rows that are equal to an earlier one, if they have one of these properties. */
const dropEqualRows = Effect.fnUntraced(function* (db: Db, member: LabelMember, properties: ReadonlyArray<string>) {
  const countAll = countRows(db, `from release.${member}`)
  const before = yield* countAll
  yield* moveToRejects(db, member, equalRows(member, properties.join(" or ")))
  const repeated = before - (yield* countAll)
  if (repeated > 0) {
    yield* Effect.logWarning("rows that repeat an earlier row are read once").pipe(
      Effect.annotateLogs({ file: `${member}.csv`, rows: repeated })
    )
  }
  return repeated
})

/**
 * Removes rows that are equal to an earlier one, which keep their line numbers like blank lines, and returns how many they
 * are.
 */
export const dropRepeatedRows = Effect.fnUntraced(function* (db: Db, member: LabelMember) {
  if (member === "food" || member === "branded_food") {
    return yield* dropEqualRows(db, member, [isRepeated(member, "fdc_id")])
  }
  const [ids] = yield* db.all(Ids, idsOf(member))
  if (ids === undefined || ids.rows === 0) return 0
  const { rows, stated } = ids
  const properties: Array<string> = []
  if (stated < rows) properties.push("added is null")
  if (yield* hasRepeatedId(db, member, stated)) properties.push(isRepeated(member, "added"))
  return properties.length === 0 ? 0 : yield* dropEqualRows(db, member, properties)
})
