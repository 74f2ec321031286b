/**
 * What nutrient.csv of a CSV release states of the amounts in food_nutrient.csv: the nutrients of numbers in place of ids,
 * and units. Nearly all releases have ids, and the units of the built-in dictionary.
 */
import type { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { addOddTexts } from "../odd-texts.ts"

type Db = DuckDb["Service"]

const listUsed =
  "create or replace table release.used_nutrient as select distinct nutrient_id from release.food_nutrient"

const idsByNumber = `
  select whole(number, try_cast(number as integer)) as number, min(nutrient_id) as nutrient_id
  from release.stated_nutrient
  group by all
  having number is not null and count(distinct nutrient_id) = 1`

/** The different ids of the amounts, and how many of them no dictionary has but are numbers of nutrients. */
const countNumbers = `
  select count(*)::integer as ids, (count(number) filter (not is_id))::integer as numbers
  from (
    select nutrient_id as id, nutrient_id in (
      select nutrient_id from branded_food.nutrient union all select nutrient_id from release.stated_nutrient
    ) as is_id
    from release.used_nutrient
  )
  left join (${idsByNumber}) known on known.number = id`
const Numbers = Schema.Struct({ ids: Schema.Int, numbers: Schema.Int })

/**
 * Replaces numbers of nutrients, such as 208, by their ids, such as 1008, if all ids are such numbers. Another file with
 * numbers stays as it is: its form is left out.
 */
const mapNumbers = Effect.fnUntraced(function* (db: Db) {
  const [counts] = yield* db.all(Numbers, countNumbers)
  if (counts === undefined || counts.ids === 0 || counts.numbers < counts.ids) return
  yield* db.run(`
    update release.food_nutrient amount set nutrient_id = known.nutrient_id
    from (${idsByNumber}) known where known.number = amount.nutrient_id;
    ${listUsed}`)
  yield* Effect.logWarning(
    "food_nutrient.csv has numbers of nutrients in place of ids; nutrient.csv has their ids"
  ).pipe(Effect.annotateLogs({ nutrients: counts.ids }))
})

const createOtherUnits = `
  create table release.other_unit as
  select nutrient_id, min(stated.unit) as stated, known.unit as own,
    in_own_unit(1, min(stated.unit), known.unit) is not null as is_usable
  from release.used_nutrient
  join release.stated_nutrient stated using (nutrient_id)
  join branded_food.nutrient known using (nutrient_id)
  where known.unit is not null
  group by nutrient_id, known.unit
  having not bool_or(in_own_unit(1, stated.unit, known.unit) is not distinct from 1)`

const OtherUnit = Schema.Struct({
  nutrient_id: Schema.Int,
  stated: Schema.String,
  own: Schema.String,
  is_usable: Schema.Boolean
})

/** Converts amounts to the units of the dictionary. An amount that cannot be converted is left out. */
const convertUnits = Effect.fnUntraced(function* (db: Db) {
  yield* db.run(createOtherUnits)
  const units = yield* db.all(OtherUnit, "from release.other_unit order by nutrient_id")
  if (units.length === 0) return
  const unusable = `
    from release.food_nutrient join release.other_unit using (nutrient_id)
    where amount is not null and in_own_unit(amount, stated, own) is null`
  yield* db.run(addOddTexts(`select 'nutrient.unit_name' as field, stated as said ${unusable}`))
  yield* db.run(`
    insert into release.incomplete select distinct fdc_id, false, true ${unusable};
    update release.food_nutrient known set amount = in_own_unit(amount, stated, own)
    from release.other_unit other where other.nutrient_id = known.nutrient_id`)
  const list = (isUsable: boolean) =>
    units.flatMap(({ is_usable, nutrient_id, own, stated }) =>
      is_usable === isUsable ? [`${nutrient_id} in ${stated}, not ${own}`] : []
    )
  yield* Effect.logWarning("nutrients are in other units than usual").pipe(
    Effect.annotateLogs({ file: "nutrient.csv", converted: list(true), left_out: list(false) })
  )
})

/** Needs the staged amounts and nutrients. Adds labels of which an amount was left out to `release.incomplete`. */
export const applyStatedNutrients = Effect.fnUntraced(function* (db: Db) {
  yield* db.run(listUsed)
  yield* mapNumbers(db)
  yield* convertUnits(db)
})
