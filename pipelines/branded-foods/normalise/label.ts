/**
 * Converts labels as a release states them into rows of `branded_food.food`, by the same query for both forms. A label
 * with a key or a substance that cannot be read gets a `problem` that names the field; an optional field that cannot be read
 * is null. An implausible value is kept and gets a quality flag.
 */
import { literal } from "@larder/warehouse"
import { codedColumns, isInWords, type LabelField, labelFields, textColumn } from "../label-fields.ts"
import { oddFields, oddText } from "./odd-fields.ts"
import { qualityFlags } from "./quality.ts"

const columnsWhere = (isWanted: (field: LabelField) => boolean) =>
  Object.entries<LabelField>(labelFields).flatMap(([column, field]) => (isWanted(field) ? [column] : []))

const days = columnsWhere(({ type }) => type === "day")
const optionalDays = columnsWhere(({ role, type }) => type === "day" && role === "optional")

/** The names of columns in a release form, for messages. */
export type FieldNames = Readonly<Record<string, string>>

const problems = (names: FieldNames) => {
  const unreadable = (field: string, isReadable: string, what: string) =>
    `case when ${isReadable} or is_placeholder(${field}) then null
      else ${literal(`${names[field]} is `)} || '"' || left(${field}, 60) || '"' || ${literal(`, which is not a ${what}`)} end`
  return `nullif(concat_ws('; ',
    other_problem,
    if(description is null and other_problem is null, ${literal(`${names.description} is empty`)}, null),
    ${unreadable("serving_size", "coalesce(size >= 0, false)", "size")},
    ${unreadable("published_on", "plausible(published_on_day) is not null", "day")}
  ), '')`
}

/** Columns that are strings in the source. */
const stringColumns = [...columnsWhere(isInWords).filter((column) => column !== "data_type"), "serving_size"]

/**
 * One test of all strings takes half the time of testing each. A string that is empty, or has a space at an end, makes
 * two spaces in a row here.
 */
const joinedStrings = `' ' || concat_ws(' ', ${stringColumns.join(", ")}) || ' '`

/** A placeholder is nothing in a code. Tidied placeholders are short, and a test of the length is much faster. */
const unlessPlaceholder = (column: string) =>
  `case when strlen(${column}) <= 4 and is_placeholder(${column}) then null else ${column} end`

const isStated = (column: string) => `(${column} <> '' and not is_placeholder(${column}))`

const collectOdd = (names: FieldNames) => {
  const texts = oddFields.flatMap(([column, { type }]) => {
    const field = names[textColumn(column)]
    return field === undefined ? [] : [`{'field': ${literal(field)}, 'said': ${oddText(type, `${column}_said`)}}`]
  })
  return `list_filter(list_concat([${texts.join(", ")}], coalesce(odd_parts, [])), lambda odd: odd.said is not null)`
}

/**
 * DuckDB hashes the side of a join that it expects to be smaller. It expects few labels, and this condition makes it expect
 * even fewer countries: otherwise it would copy each label with all its amounts.
 */
const countries = "(from country where name <> '')"

/**
 * Returns `line`, `problem`, `odd` (what unreadable optional fields said), and the columns of `branded_food.food` that do
 * not describe the run.
 */
export const normaliseLabels = (labels: string, names: FieldNames) => `
  with joined as (
    select *, has_untidy_part(${joinedStrings}) as is_untidy
    from ${labels}
  ),
  tidied as (
    select * replace (${stringColumns.map((column) => `if(is_untidy, tidied(${column}), ${column}) as ${column}`).join(", ")})
    from joined
  ),
  coded as (
    select * replace (${codedColumns
      .filter((column) => stringColumns.includes(column))
      .map((column) => `${unlessPlaceholder(column)} as ${column}`)
      .join(", ")})
    from tidied
  ),
  read as (
    select
      *,
      ${days.map((day) => `day_of(${day}) as ${day}_day`).join(", ")},
      channels_in(trade_channel) as channels,
      whole_number(gpc_class_code) as gpc_class,
      ${oddFields.map(([column]) => `${textColumn(column)} as ${column}_said`).join(", ")},
      compact_gtin(upc) as compact_gtin,
      is_placeholder_gtin(compact_gtin(upc)) as gtin_is_placeholder,
      if(contains(serving_size, '_'), null, try_cast(serving_size as decimal(18, 6))) as size,
      list_transform(nutrients, lambda amount: amount.nutrient_id) as ids,
      list_transform(nutrients, lambda amount: amount.amount) as amounts
    from coded
  ),
  normalised as (
    select
      read.* replace (
        branded(brand_owner) as brand_owner,
        branded(brand_name) as brand_name,
        branded(subbrand_name) as subbrand_name,
        coalesce(categorised(category), categorised(food_category)) as category,
        gpc_class as gpc_class_code,
        nullif(if(is_noisy(serving_size), shortest_float(serving_size), size), 0) as serving_size,
        upper(preparation_state_code) as preparation_state_code,
        upper(data_source) as data_source,
        if(gtin_is_placeholder, null, upc) as upc,
        ${days.map((day) => `plausible(${day}_day) as ${day}`).join(", ")}
      ),
      channels_of(channels) as trade_channels,
      ${problems(names)} as problem,
      category is not null and categorised(category) is null as category_is_odd,
      category is not null as category_is_stated,
      case when gpc_class is null then ${isStated("gpc_class_code")} end as gpc_class_is_odd,
      channels is null and trade_channel is not null as channels_are_odd,
      ${optionalDays.map((day) => `case when plausible(${day}_day) is null then ${isStated(day)} end as ${day}_is_odd`).join(", ")},
      size is not null as size_is_stated,
      normalised_unit(serving_size_unit, household_serving_text, category) as serving_size_unit_normalized,
      country.code as market_country_normalized,
      if(gtin_is_placeholder, null, gtin_14_of(compact_gtin)) as gtin_14
    from read
    left join ${countries} country on country.name = lower(market_country)
  )
  select
    * exclude (
      food_category, category_is_stated, category_is_odd, gpc_class, gpc_class_is_odd, channels, channels_are_odd, trade_channel,
      size, size_is_stated, compact_gtin, gtin_is_placeholder, ids, amounts,
      ${days.map((day) => `${day}_day`).join(", ")}, ${optionalDays.map((day) => `${day}_is_odd`).join(", ")},
      ${oddFields.map(([column]) => `${column}_said`).join(", ")},
      has_label_row, part_is_rejected, unit_is_unusable, other_problem, is_untidy, odd_parts
    ),
    case when ${[
      "odd_parts is not null",
      "category_is_odd",
      "gpc_class_is_odd",
      "channels_are_odd",
      ...optionalDays.map((day) => `${day}_is_odd`)
    ].join(" or ")} then ${collectOdd(names)} end as odd,
    ${qualityFlags} as quality_flags
  from normalised`
