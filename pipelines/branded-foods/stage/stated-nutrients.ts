/**
 * What a release states of its nutrients: other units than the dictionary, and, in the CSV form, numbers in place of ids.
 * Nearly all releases have ids, and the units of the dictionary.
 */
import type { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { csvRelation, type Header } from "../decode/csv/header.ts"
import type { LabelHeader } from "../decode/csv/load-member.ts"
import { numberOfNutrient, preciseAmount } from "../decode/csv/members.ts"
import { isMachineFault } from "../decode/duckdb-faults.ts"
import { addOddTexts } from "../odd-texts.ts"

type Db = DuckDb["Service"]

const ids = "(select nutrient_id from branded_food.nutrient union select nutrient_id from release.nutrient)"

const createOtherUnits = `
  create table release.other_unit as
  select nutrient_id, min(stated.unit) as stated, known.unit as own, unit_factor(min(stated.unit), known.unit) as factor
  from release.nutrient stated join branded_food.nutrient known using (nutrient_id)
  where known.unit is not null
  group by nutrient_id, known.unit
  having not bool_or(unit_factor(stated.unit, known.unit) is not distinct from 1)`

/** A nutrient whose number several ids have is not known by it. Spreadsheets write 208 as 208.0. */
const createNumbers = `
  create or replace temp macro plain_number(raw) as regexp_replace(trim(raw), '\\.0+$', '');
  create table release.nutrient_number as
  select plain_number(number) as number, min(nutrient_id) as id
  from release.nutrient
  group by all
  having number is not null and count(distinct nutrient_id) = 1`

const idOf = (raw: string) => `(select id from release.nutrient_number where number = plain_number(${raw}))`

/** Whether rows have only numbers of nutrients, and no id, in place of ids. */
const haveNumbers = (rows: string) => `
  select coalesce(bool_and(
    plain_number(nutrient_id) in (select number from release.nutrient_number)
    and coalesce(try_cast(plain_number(nutrient_id) as integer) not in ${ids}, true)
  ), false) as value
  from (select distinct nutrient_id from (${rows}))`
const Answer = Schema.Struct({ value: Schema.Boolean })

/** Rows from which it is seen whether a file may have numbers: reading all takes seconds. */
const firstRows = 1000

const hasNumbers = Effect.fnUntraced(function* (db: Db, header: Header) {
  const rows = `select nutrient_id from ${csvRelation(header)} where nutrient_id <> ''`
  for (const part of [`${rows} limit ${firstRows}`, rows]) {
    const answers = db.all(Answer, haveNumbers(part))
    const [answer] = yield* Effect.catchTag(answers, "DuckDbError", (error) =>
      isMachineFault(error) ? Effect.fail(error) : Effect.succeed([])
    )
    if (answer?.value !== true) return false // a file with rows that DuckDB cannot read may have numbers, and is then left out
  }
  return true
})

/** Needs the staged nutrient.csv. Returns the header of food_nutrient.csv with the columns that are read in another way. */
export const adaptToNutrients = Effect.fnUntraced(function* (db: Db, header: LabelHeader) {
  yield* db.run(createOtherUnits)
  yield* db.run(createNumbers)
  const [isConverted] = yield* db.all(Answer, "select count(*) > 0 as value from release.other_unit")
  const areNumbers = yield* hasNumbers(db, header)
  if (areNumbers) {
    yield* Effect.logWarning("numbers of nutrients are in place of ids; nutrient.csv has their ids").pipe(
      Effect.annotateLogs({ file: "food_nutrient.csv" })
    )
  }
  return {
    ...header,
    unusual: {
      ...(areNumbers && { nutrient_id: numberOfNutrient(idOf) }),
      ...(isConverted?.value === true && { amount: preciseAmount })
    }
  }
})

const OtherUnit = Schema.Struct({
  nutrient_id: Schema.Int,
  stated: Schema.String,
  own: Schema.String,
  is_usable: Schema.Boolean,
  is_used: Schema.Boolean
})
const otherUnits = `
  select nutrient_id, stated, own, factor is not null as is_usable,
    nutrient_id in (select nutrient_id from release.food_nutrient) as is_used
  from release.other_unit
  order by nutrient_id`

const unusable = `
  from release.food_nutrient join release.other_unit using (nutrient_id)
  where amount is not null and converted(amount, factor) is null`

/** Converts staged amounts to the units of the dictionary. An amount that cannot be converted is left out. */
export const convertUnits = Effect.fnUntraced(function* (db: Db) {
  const units = yield* db.all(OtherUnit, otherUnits)
  if (units.length === 0) return
  yield* db.run(addOddTexts(`select 'nutrient.unit_name' as field, stated as said ${unusable}`))
  yield* db.run(`
    insert into release.label_fault select distinct fdc_id, false, true ${unusable};
    update release.food_nutrient stated set amount = converted(amount, factor)
    from release.other_unit other where other.nutrient_id = stated.nutrient_id;
    alter table release.food_nutrient alter amount type decimal(18, 6)`)
  const list = (isUsable: boolean) =>
    units.flatMap(({ is_usable, is_used, nutrient_id, own, stated }) =>
      is_used && is_usable === isUsable ? [`${nutrient_id} in ${stated}, not ${own}`] : []
    )
  if (!units.some(({ is_used }) => is_used)) return
  yield* Effect.logWarning("nutrients are in other units than usual").pipe(
    Effect.annotateLogs({ file: "nutrient.csv", converted: list(true), left_out: list(false) })
  )
})

const newWithSeveralUnits = `
  select nutrient_id
  from release.nutrient
  where nutrient_id not in (select nutrient_id from branded_food.nutrient)
  group by nutrient_id
  having count(distinct spelled_unit(unit)) > 1`
const NutrientId = Schema.Struct({ nutrient_id: Schema.Int })

/** The unit of a new nutrient is unknown if a form states several: its amounts in this form are left out. */
export const leaveOutUnclearAmounts = Effect.fnUntraced(function* (db: Db, feed: string) {
  const nutrients = (yield* db.all(NutrientId, newWithSeveralUnits)).map(({ nutrient_id }) => nutrient_id)
  if (nutrients.length === 0) return
  const isUnclear = (amount: string) => `${amount}.nutrient_id in (${nutrients.join(", ")})`
  yield* db.run(`
    update branded_food.food set
      nutrients = list_transform(nutrients, lambda stated: if(${isUnclear("stated")}, struct_update(stated, amount := null::decimal(18, 6)), stated)),
      quality_flags = if(
        list_contains(quality_flags, 'nutrient_unit_unusable'),
        quality_flags,
        list_append(quality_flags, 'nutrient_unit_unusable')
      )
    where len(list_filter(nutrients, lambda stated: ${isUnclear("stated")} and stated.amount is not null)) > 0`)
  yield* Effect.logWarning("new nutrients are stated in several units, so their amounts are left out").pipe(
    Effect.annotateLogs({ feed, nutrients })
  )
})

/** Ids of amounts that no dictionary has, and that are numbers of other nutrients: 208 for 1008. */
export const numbersInPlaceOfIds = {
  csv: `select distinct nutrient_id from release.food_nutrient where nutrient_id not in ${ids}`,
  json: `
    select distinct nutrient_id from release.nutrient
    where nutrient_id not in (select nutrient_id from branded_food.nutrient) and coalesce(number = nutrient_id::varchar, true)`
}
