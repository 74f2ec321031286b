/**
 * Converts labels as a release states them into rows of `branded_food.food`, by the same query for both forms. A label
 * with an invalid field gets a `problem` that names the field. An implausible value is kept and gets a quality flag.
 */
import { literal } from "@larder/warehouse"
import { textKeys } from "../decode/json/keys.ts"
import { qualityFlags } from "./quality.ts"

const days = ["published_on", "available_on", "modified_on", "discontinued_on"]

/** The names of columns in a release form, for messages. */
export type FieldNames = Readonly<Record<string, string>>

const problems = (names: FieldNames) => {
  const unreadable = (field: string, isReadable: string, what: string) =>
    `if(trim(${field}) <> '' and not (${isReadable}), ${literal(`${names[field]} is `)} || '"' || left(${field}, 60) || '"' || ${literal(`, which is not a ${what}`)}, null)`
  return `nullif(concat_ws('; ',
    other_problem,
    if(description is null and other_problem is null, ${literal(`${names.description} is empty`)}, null),
    ${unreadable("serving_size", "coalesce(size >= 0, false)", "size")},
    ${days.map((day) => unreadable(day, `plausible(${day}_day) is not null`, "day")).join(", ")}
  ), '')`
}

/** Columns that are strings in the source. */
const stringColumns = [...Object.values(textKeys), "food_category", "serving_size", "not_a_significant_source_of"]

/**
 * One test of all strings takes half the time of testing each. A string that is empty, or has a space at an end, makes
 * two spaces in a row here.
 */
const joinedStrings = `' ' || concat_ws(' ', ${stringColumns.join(", ")}) || ' '`

/** Returns `line`, `problem`, and the columns of `branded_food.food` that do not describe the run. */
export const normaliseLabels = (labels: string, names: FieldNames) => `
  with joined as (
    select *, has_untidy_part(${joinedStrings}) as is_untidy
    from ${labels}
  ),
  tidied as (
    select * replace (${stringColumns.map((column) => `if(is_untidy, tidied(${column}), ${column}) as ${column}`).join(", ")})
    from joined
  ),
  read as (
    select
      *,
      ${days.map((day) => `day_of(${day}) as ${day}_day`).join(", ")},
      compact_gtin(upc) as compact_gtin,
      try_cast(serving_size as decimal(18, 6)) as size,
      list_transform(nutrients, lambda amount: amount.nutrient_id) as ids,
      list_transform(nutrients, lambda amount: amount.amount) as amounts
    from tidied
  ),
  normalised as (
    select
      read.* replace (
        branded(brand_owner) as brand_owner,
        branded(brand_name) as brand_name,
        branded(subbrand_name) as subbrand_name,
        coalesce(categorised(category), categorised(food_category)) as category,
        whole(gpc_class_code, try_cast(gpc_class_code as integer)) as gpc_class_code,
        nullif(if(is_noisy(serving_size), shortest_float(serving_size), size), 0) as serving_size,
        upper(preparation_state_code) as preparation_state_code,
        channels_of(trade_channels) as trade_channels,
        upper(data_source) as data_source,
        ${days.map((day) => `plausible(${day}_day) as ${day}`).join(", ")}
      ),
      ${problems(names)} as problem,
      category is not null as category_is_stated,
      trim(gpc_class_code) <> '' as gpc_class_is_stated,
      size is not null as size_is_stated,
      normalised_unit(serving_size_unit, household_serving_text, category) as serving_size_unit_normalized,
      country.code as market_country_normalized,
      gtin_14_of(compact_gtin) as gtin_14
    from read
    left join country on country.name = lower(market_country)
  )
  select
    * exclude (
      food_category, category_is_stated, gpc_class_is_stated, size, size_is_stated, compact_gtin, ids, amounts,
      ${days.map((day) => `${day}_day`).join(", ")}, has_label_row, other_problem, is_untidy
    ),
    ${qualityFlags} as quality_flags
  from normalised`
