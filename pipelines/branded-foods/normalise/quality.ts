/** Quality flags for implausible values of a label, as SQL. An implausible value is published as it is; one that cannot be read is null. */
import { isServingUnit, literal } from "@larder/warehouse"
import { nutrients } from "./dictionaries.ts"

/** Per 100 g. Pure fat has about 900 kcal, and nutrients weigh at most 100 g. Labels round, so the limits are higher. */
const maxEnergy = 905
const maxMass = 110

const amountOf = (nutrientId: number) => `amounts[list_position(ids, ${nutrientId})]`
const amountOrZero = (nutrientId: number) => `coalesce(${amountOf(nutrientId)}, 0)`

/**
 * Maximum amounts of nutrients that many labels state: macronutrients in g; then cholesterol in mg (dried yolk and brain
 * have about 3,000) and sodium in mg (salt has 39,300 and, in a rounded serving of 1.4 g, 42,100).
 */
const maxAmounts: Readonly<Record<number, number>> = {
  ...Object.fromEntries([1003, 1004, 1005, 2000, 1063, 1235, 1079, 1258, 1257].map((id) => [id, maxMass])),
  1253: 5000,
  1093: 45_000
}
const commonAmountTooHigh = Object.entries(maxAmounts)
  .map(([id, max]) => `coalesce(${amountOf(Number(id))} > ${max}, false)`)
  .join(" or ")

const listIds = (...units: ReadonlyArray<string>) =>
  nutrients.flatMap(({ nutrient_id, unit }) => (unit !== null && units.includes(unit) ? [nutrient_id] : [])).join(", ")

/** All other nutrients in g, mg or µg. Few labels have such large numbers, so the search rarely runs. */
const otherAmountTooHigh = `if(
  list_max(amounts) > ${maxMass * 1e3},
  len(list_filter(amounts, lambda amount, index:
    (ids[index] in (${listIds("g", "mg")}) and amount > ${maxMass * 1e3})
    or (ids[index] in (${listIds("µg")}) and amount > ${maxMass * 1e6})
  )) > 0,
  false
)`

/** By how much a part exceeds its whole: sugars and carbohydrate, or saturated fat and fat; the larger of the two. */
const excess = `greatest(
  coalesce(${amountOf(2000)}, ${amountOf(1063)}) - ${amountOf(1005)},
  ${amountOf(1258)} - ${amountOf(1004)}
)`

const flagConditions: Readonly<Record<string, string>> = {
  gtin_missing: "upc is null and not gtin_is_placeholder and has_label_row",
  gtin_placeholder: "gtin_is_placeholder",
  gtin_unreadable: "gtin_14 is null and upc is not null",
  gtin_check_digit: "not has_check_digit(gtin_14::bigint)",
  serving_size_zero: "serving_size is null and size_is_stated",
  serving_unit_miscoded: "is_miscoded(serving_size_unit)",
  // nearly all units are g or ml, which spares the comparison with a hundred others
  serving_unit_unknown: `case when serving_size_unit is not null and serving_size_unit_normalized is null
    then not ${isServingUnit("serving_size_unit")} end`,
  country_unknown: "market_country is not null and market_country_normalized is null",
  category_unreadable: "category is null and category_is_stated",
  gpc_class_unreadable: "gpc_class_is_odd",
  discontinued_unreadable: "discontinued_on_is_odd",
  trade_channels_unreadable: "channels_are_odd",
  no_nutrients: "coalesce(len(ids), 0) = 0 and not part_is_rejected",
  // amounts are sorted by nutrient; reading the previous element from the list instead takes eight times as long
  nutrient_twice: "list_reduce(ids, lambda before, id: if(id = before or before = -1, -1, id), -2) = -1",
  energy_impossible: `${amountOf(1008)} > ${maxEnergy}`,
  mass_impossible: `${amountOrZero(1003)} + ${amountOrZero(1004)} + ${amountOrZero(1005)} > ${maxMass}`,
  amount_impossible: `${commonAmountTooHigh} or ${otherAmountTooHigh}`,
  // more than 1 g per 100 g and per serving: labels round, and state "less than 1 g" as 1
  part_exceeds_whole: `if(
    ${excess} > 1,
    coalesce(${excess}::double * serving_amount(serving_size, serving_size_unit)::double > 100, true),
    false
  )`,
  amount_negative: "list_min(amounts) < 0",
  nutrient_unit_unusable: "unit_is_unusable",
  label_row_missing: "not has_label_row",
  part_rejected: "part_is_rejected"
}

/** Nearly all labels have no flag, so the list is built only for the others. */
export const qualityFlags = `
    case
      when ${Object.values(flagConditions)
        .map((condition) => `coalesce(${condition}, false)`)
        .join(" or ")}
      then list_filter(
        [${Object.entries(flagConditions)
          .map(([flag, condition]) => `if(${condition}, ${literal(flag)}, null)`)
          .join(", ")}],
        lambda flag: flag is not null
      )
      else []
    end`
