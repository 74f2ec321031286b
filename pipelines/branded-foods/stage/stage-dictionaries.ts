/** Stages the built-in dictionaries, with the lookup tables for normalising, then the entries that a release adds. */

import { NutrientRow } from "@larder/schemas"
import { derivationTable, literal, nutrientTable, type Staging, servingAmount } from "@larder/warehouse"
import { Effect } from "effect"
import { countries, derivations, nutrients, ranks } from "../normalise/dictionaries.ts"

/** The most frequent codes, which come first in the `case`: nearly every amount matches the first or second one. */
const commonCodes = ["LCCS", "LCCD", "LCSA", "LCSL", "LCSG", "LCSE", "LCGE", "LCGA", "LCGL", "LCGP"]
const frequencyRank = (code: string) => (commonCodes.includes(code) ? commonCodes.indexOf(code) : commonCodes.length)
const cases = derivations
  .toSorted((a, b) => frequencyRank(a.derivation) - frequencyRank(b.derivation))
  .map(({ derivation, derivation_id }) => `when ${literal(derivation)} then ${derivation_id}`)
const derivationId = `case code ${cases.join(" ")} end::smallint`

/** The units of the nutrients, in the order of nutrient ids from 1. */
const unitsById = `
  select list(unit order by nutrient_id)
  from range(1, (select max(nutrient_id) + 1 from branded_food.nutrient)) ids(nutrient_id)
  left join branded_food.nutrient using (nutrient_id)`

/** Earlier releases have numbers of some built-in nutrients, and nutrients that are not built in. */
export const stageDictionaries = Effect.fnUntraced(function* (
  staging: Staging,
  earlier: ReadonlyArray<typeof NutrientRow.Type>
) {
  const { db } = staging
  const rows = new Map(earlier.map((nutrient) => [nutrient.nutrient_id, nutrient]))
  for (const nutrient of nutrients) {
    rows.set(nutrient.nutrient_id, {
      ...nutrient,
      number: nutrient.number ?? rows.get(nutrient.nutrient_id)?.number ?? null
    })
  }
  yield* staging.add(nutrientTable, [...rows.values()])
  yield* staging.add(derivationTable, derivations)
  yield* db.run(
    `create table release.lookup as select [${ranks.join(", ")}]::tinyint[] as ranks, (${unitsById}) as units`
  )
  yield* db.run(`
    create table release.nutrient (nutrient_id integer, number varchar, name varchar, unit varchar);
    create table release.derivation (derivation_id smallint, derivation varchar, description varchar)`)
  const names = countries().map(([name, code]) => `(${literal(name)}, ${literal(code)})`)
  yield* db.run(`create temp table country as from (values ${names.join(", ")}) as known(name, code)`)
  yield* db.run(`
    create or replace temp macro derivation_id_of(code) as ${derivationId};
    create or replace temp macro serving_amount${servingAmount}`)
})

const newNutrients = `
  select nutrient_id, min(number) as number, min(name) as name, spelled_unit(coalesce(arg_min(unit, name), min(unit))) as unit
  from release.nutrient
  where nutrient_id not in (select nutrient_id from branded_food.nutrient)
  group by nutrient_id
  order by nutrient_id`

const addNumbers = `
  update branded_food.nutrient known set number = released.number
  from (select nutrient_id, min(number) as number from release.nutrient where number <> '' group by nutrient_id) released
  where released.nutrient_id = known.nutrient_id and known.number is null`

/** Adds the entries and nutrient numbers that are in the staged form but not yet in the dictionaries. */
export const completeDictionaries = Effect.fnUntraced(function* ({ add, db }: Staging) {
  const added = yield* db.all(NutrientRow, newNutrients)
  yield* db.run(addNumbers)
  yield* add(nutrientTable, added)
  yield* db.run(`
    insert into branded_food.derivation from release.derivation;
    delete from release.nutrient;
    delete from release.derivation`)
})
