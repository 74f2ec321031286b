/**
 * What looks wrong in a label that decodes: flags, as SQL over a label that is being normalised. Flagged values are published
 * as they are.
 */
import { literal } from "@larder/warehouse/duckdb.ts"

/** Energy of pure fat is about 900 kcal; carbohydrates, fat and protein of 100 g cannot weigh more, but labels round. */
const mostEnergy = 905
const mostMass = 110

const amountOf = (nutrientId: number) => `coalesce(amounts[list_position(ids, ${nutrientId})], 0)`

const findings: Readonly<Record<string, string>> = {
  gtin_missing: "upc is null",
  gtin_unreadable: "gtin_14 is null and upc is not null",
  gtin_check_digit: "not has_check_digit(gtin_14::bigint)",
  serving_size_zero: "serving_size is null and size_is_stated",
  serving_unit_miscoded: "is_miscoded(serving_size_unit)",
  serving_unit_unknown: "serving_size_unit is not null and serving_size_unit_normalized is null",
  country_unknown: "market_country is not null and market_country_normalized is null",
  category_unreadable: "category is null and category_is_stated",
  no_nutrients: "coalesce(len(ids), 0) = 0",
  // amounts stand in the order of their nutrients
  nutrient_twice: "len(list_filter(ids, lambda id, place: id = ids[place - 1])) > 0",
  energy_impossible: `${amountOf(1008)} > ${mostEnergy}`,
  mass_impossible: `${amountOf(1003)} + ${amountOf(1004)} + ${amountOf(1005)} > ${mostMass}`,
  amount_negative: "list_min(amounts) < 0",
  label_row_missing: "not has_label_row"
}

/** Nearly all labels have nothing to find: the list is made for the others only. */
export const qualityFlags = `
    case
      when ${Object.values(findings)
        .map((finding) => `coalesce(${finding}, false)`)
        .join(" or ")}
      then list_filter(
        [${Object.entries(findings)
          .map(([flag, finding]) => `if(${finding}, ${literal(flag)}, null)`)
          .join(", ")}],
        lambda flag: flag is not null
      )
      else []
    end`
