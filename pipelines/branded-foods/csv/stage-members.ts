/**
 * The files of a CSV release as tables of the staging file, in the order of the files: `release.food`,
 * `release.branded_food`, `release.food_nutrient`, `release.food_attribute`. Ids and amounts are typed, all other fields
 * stay texts. `unreadable` says what is wrong with a row that cannot be used at all.
 */

import { columnOf, type Header, relationOf } from "./header.ts"
import type { LabelMember } from "./members.ts"

const integer = (name: string) => `whole(${name}, try_cast(${name} as integer))`

const notWhole = (name: string, of: string) =>
  `if(${of} is null, '${name} is "' || left(coalesce(${name}, ''), 60) || '", which is no whole number', null)`

export const statements: Readonly<Record<LabelMember, (header: Header) => string>> = {
  food: (header) => {
    const column = columnOf(header)
    return `
      select
        food as fdc_id,
        ${column("data_type")} as data_type,
        description,
        ${column("food_category_id")} as food_category,
        publication_date as published_on,
        ${notWhole("fdc_id", "food")} as unreadable,
        if(food is null, fdc_id, null) as fdc_id_text
      from (select *, ${integer("fdc_id")} as food from ${relationOf(header)})`
  },
  branded_food: (header) => {
    const column = columnOf(header)
    return `
      select
        food as fdc_id,
        brand_owner,
        ${column("brand_name")} as brand_name,
        ${column("subbrand_name")} as subbrand_name,
        gtin_upc,
        ingredients,
        ${column("not_a_significant_source_of")} as not_a_significant_source_of,
        serving_size,
        serving_size_unit,
        household_serving_fulltext as household,
        branded_food_category as category,
        data_source,
        ${column("package_weight")} as package_weight,
        modified_date as modified_on,
        available_date as available_on,
        ${column("market_country")} as market_country,
        ${column("discontinued_date")} as discontinued_on,
        ${column("preparation_state_code")} as preparation_state_code,
        ${header.columns.includes("trade_channel") ? "coalesce(trade_channel, '')" : "null::varchar"} as trade_channel,
        ${column("short_description")} as short_description,
        ${column("material_code")} as material_code,
        ${notWhole("fdc_id", "food")} as unreadable,
        if(food is null, fdc_id, null) as fdc_id_text
      from (select *, ${integer("fdc_id")} as food from ${relationOf(header)})`
  },
  food_nutrient: (header) => {
    const column = columnOf(header)
    return `
      select
        food as fdc_id,
        nutrient as nutrient_id,
        number as amount,
        derivation as derivation_id,
        daily as percent_daily_value,
        added,
        if(
          food is null or nutrient is null or (number is null and trim(amount) <> '') or (daily is null and trim(daily_text) <> ''),
          concat_ws('; ',
            ${notWhole("fdc_id", "food")},
            ${notWhole("nutrient_id", "nutrient")},
            if(number is null and trim(amount) <> '', 'amount is "' || left(amount, 60) || '", which is no number', null),
            if(daily is null and trim(daily_text) <> '', 'percent_daily_value is "' || left(daily_text, 60) || '", which is no number', null)),
          null
        ) as unreadable,
        if(food is null, fdc_id, null) as fdc_id_text
      from (
        select
          *,
          ${integer("fdc_id")} as food,
          nutrient_id_of(${integer("nutrient_id")}) as nutrient,
          try_cast(amount as decimal(18, 6)) as number,
          try_cast(${column("derivation_id")} as smallint) as derivation,
          ${column("percent_daily_value")} as daily_text,
          try_cast(${column("percent_daily_value")} as decimal(9, 2)) as daily,
          try_cast(${column("id")} as bigint) as added
        from ${relationOf(header)})`
  },
  food_attribute: (header) => `
    select
      food as fdc_id,
      name,
      value,
      try_cast(${columnOf(header)("id")} as bigint) as added,
      ${notWhole("fdc_id", "food")} as unreadable,
      if(food is null, fdc_id, null) as fdc_id_text
    from (select *, ${integer("fdc_id")} as food from ${relationOf(header)})`
}

/** Reads one file. Rows keep the order of the file, so that a row's number gives its line. */
export const stageMember = (header: Header & { readonly member: LabelMember }) =>
  `create table release.${header.member} as ${statements[header.member](header)}`
