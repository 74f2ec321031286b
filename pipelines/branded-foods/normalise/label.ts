/**
 * Converts a label as a release states it into a row of `branded_food.food`. Both release forms use the same query, so
 * that the same label gives the same row. The input is the text of the source under common column names; the macros are
 * in `macros.sql`. A label that does not decode gets a `problem` that names the faulty field. An implausible value gets
 * a quality flag and is kept. The query is assembled from lists of columns: a file would repeat each list three times.
 */

import { labelColumns, literal } from "@larder/warehouse"
import { qualityFlags } from "./quality.ts"

/** The names of these fields in the release form, so that readers of a message find them there. */
export type FieldNames = Readonly<
  Record<"description" | "serving_size" | "published_on" | "available_on" | "modified_on" | "discontinued_on", string>
>

const shown = (field: string) => `'"' || left(${field}, 60) || '"'`

const problems = (names: FieldNames) => {
  const unreadable = (field: keyof FieldNames, isReadable: string, what: string) =>
    `if(trim(${field}) <> '' and not (${isReadable}), ${literal(`${names[field]} is `)} || ${shown(field)} || ${literal(`, which is not a ${what}`)}, null)`
  const day = (field: keyof FieldNames) => unreadable(field, `plausible(${field}_day) is not null`, "day")
  return `nullif(concat_ws('; ',
    other_problem,
    if(description is null and other_problem is null, ${literal(`${names.description} is empty`)}, null),
    ${unreadable("serving_size", "coalesce(size >= 0, false)", "size")},
    ${day("published_on")},
    ${day("available_on")},
    ${day("modified_on")},
    ${day("discontinued_on")}
  ), '')`
}

const texts = [
  "description",
  "short_description",
  "brand_owner",
  "brand_name",
  "subbrand_name",
  "category",
  "food_category",
  "gtin_upc",
  "package_weight",
  "serving_size",
  "serving_size_unit",
  "household",
  "preparation_state_code",
  "market_country",
  "ingredients",
  "caffeine_statement",
  "footnote",
  "data_source",
  "not_a_significant_source_of",
  "material_code"
]
const days = ["published_on", "available_on", "modified_on", "discontinued_on"]

/**
 * All texts of a label, joined by spaces. A text that is empty, or that begins or ends with a space, produces two
 * spaces in a row. Most labels are tidy, and this single test costs half as much as a test of each text.
 */
const together = `' ' || concat_ws(' ', ${texts.join(", ")}) || ' '`

/**
 * Selects from a relation with the columns of either form's `stated`, which are texts unless they are nested. Returns
 * the columns of `foodColumns`, `line` and `problem`.
 */
export const labelsFrom = (stated: string, names: FieldNames) => `
  with seen as (
    select *, has_untidy(${together}) as is_untidy
    from ${stated}
  ),
  tidied as (
    select * replace (${texts.map((column) => `if(is_untidy, tidied(${column}), ${column}) as ${column}`).join(", ")})
    from seen
  ),
  read as (
    select
      *,
      ${days.map((day) => `day_of(${day}) as ${day}_day`).join(", ")},
      bare_gtin(gtin_upc) as bare_gtin,
      try_cast(serving_size as decimal(18, 6)) as size,
      list_transform(nutrients, lambda stated: stated.nutrient_id) as ids,
      list_transform(nutrients, lambda stated: stated.amount) as amounts
    from tidied
  ),
  normalised as (
    select
      line,
      ${problems(names)} as problem,
      fdc_id,
      description,
      short_description,
      branded(brand_owner) as brand_owner,
      branded(brand_name) as brand_name,
      branded(subbrand_name) as subbrand_name,
      coalesce(categorised(category), categorised(food_category)) as category,
      category is not null as category_is_stated,
      whole(gpc_class_code, try_cast(gpc_class_code as integer)) as gpc_class_code,
      trim(gpc_class_code) <> '' as gpc_class_is_stated,
      gtin_upc as upc,
      package_weight,
      nullif(if(is_noisy(serving_size), shortest_float(serving_size), size), 0) as serving_size,
      size is not null as size_is_stated,
      serving_size_unit,
      normalised_unit(serving_size_unit, household, category) as serving_size_unit_normalized,
      household as household_serving_text,
      upper(preparation_state_code) as preparation_state_code,
      market_country,
      country.code as market_country_normalized,
      channels_of(trade_channels) as trade_channels,
      ingredients,
      nutrients,
      ids,
      amounts,
      attributes,
      caffeine_statement,
      footnote,
      upper(data_source) as data_source,
      ${days.map((day) => `plausible(${day}_day) as ${day}`).join(", ")},
      gtin_14_of(bare_gtin) as gtin_14,
      ${labelColumns.join(", ")},
      daily_values,
      not_a_significant_source_of,
      material_code,
      earlier_versions,
      source_rows,
      has_label_row
    from read
    left join country on country.name = lower(market_country)
  )
  select
    * exclude (ids, amounts, category_is_stated, gpc_class_is_stated, size_is_stated, has_label_row),
    ${qualityFlags} as quality_flags
  from normalised`

/** The columns of a label's row that `labelsFrom` returns, in the order of the table. The others describe the run. */
export const foodColumns = [
  "fdc_id",
  "description",
  "short_description",
  "brand_owner",
  "brand_name",
  "subbrand_name",
  "category",
  "gpc_class_code",
  "upc",
  "package_weight",
  "serving_size",
  "serving_size_unit",
  "serving_size_unit_normalized",
  "household_serving_text",
  "preparation_state_code",
  "market_country",
  "market_country_normalized",
  "trade_channels",
  "ingredients",
  "nutrients",
  "attributes",
  "caffeine_statement",
  "footnote",
  "data_source",
  "published_on",
  "available_on",
  "modified_on",
  "discontinued_on",
  "gtin_14",
  ...labelColumns,
  "daily_values",
  "not_a_significant_source_of",
  "material_code",
  "earlier_versions",
  "quality_flags",
  "source_rows"
] as const
