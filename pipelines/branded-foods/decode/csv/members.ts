/**
 * The files of a CSV release that are read, by base name, and their columns. Releases add, drop and move columns without
 * notice: if a needed column is missing, the file is unreadable; an unknown column is recorded and ignored.
 */

/** How a column is read: with a type, or as a text that is checked. The functions return SQL for a field of the file. */
export interface CsvColumn {
  readonly header: string
  /** Whether a file without the column is unreadable. */
  readonly isRequired: boolean
  readonly type: string
  readonly typed: (raw: string) => string
  readonly checked: (raw: string) => string
  /** The type in the table, if it differs from `type`. */
  readonly stagedType?: string
  /** What the field must be, or else its row is unusable. If `required`, it must also be present. */
  readonly must?: { readonly be: string; readonly required: boolean }
}

const unchanged = (raw: string) => raw
const optionalText = (header: string): CsvColumn => ({
  header,
  isRequired: false,
  type: "varchar",
  typed: unchanged,
  checked: unchanged
})
const text = (header: string): CsvColumn => ({ ...optionalText(header), isRequired: true })

/** Doubles are exact for ids. Integers would accept 1.6 as 2. */
const wholeNumber = (header: string, type: string) => ({
  header,
  type: "double",
  typed: (raw: string) => `if(${raw} >= 0 and ${raw} = floor(${raw}), try_cast(${raw} as ${type}), null)`,
  checked: (raw: string) => `whole(${raw}, try_cast(${raw} as ${type}))`
})
const fdcId: CsvColumn = {
  ...wholeNumber("fdc_id", "integer"),
  isRequired: true,
  must: { be: "whole number", required: true }
}
const nutrientNumber = wholeNumber("nutrient_id", "integer")
const nutrientId: CsvColumn = {
  ...fdcId,
  ...nutrientNumber,
  typed: (raw) => `nutrient_id_of(${nutrientNumber.typed(raw)})`,
  checked: (raw) => `nutrient_id_of(${nutrientNumber.checked(raw)})`
}

/** A derivation id that is not a whole number becomes null, and its row is still usable. */
const derivationId: CsvColumn = {
  ...wholeNumber("derivation_id", "smallint"),
  isRequired: false,
  stagedType: "smallint"
}

/** Distinguishes rows of one food. Rows without it are still usable. */
const rowId: CsvColumn = {
  header: "id",
  isRequired: false,
  type: "bigint",
  typed: unchanged,
  checked: (raw) => `try_cast(${raw} as bigint)`
}
/** A value that is not a number makes its row unusable; an empty field is null. */
const number = (header: string, type: string, isRequired: boolean): CsvColumn => ({
  header,
  isRequired,
  type,
  typed: unchanged,
  checked: (raw) => `try_cast(${raw} as ${type})`,
  must: { be: "number", required: false }
})

/** Older layouts do not state channels. In newer ones, an empty field means that there are none. */
const channelsOrEmpty = (raw: string) => `coalesce(${raw}, '')`

/** Labels are made of the rows of these files, and each row is accounted for: the columns of `release.<file>`. */
export const labelFileColumns = {
  food: {
    fdc_id: fdcId,
    data_type: optionalText("data_type"),
    description: text("description"),
    food_category: optionalText("food_category_id"),
    published_on: text("publication_date")
  },
  branded_food: {
    fdc_id: fdcId,
    brand_owner: text("brand_owner"),
    brand_name: optionalText("brand_name"),
    subbrand_name: optionalText("subbrand_name"),
    gtin_upc: text("gtin_upc"),
    ingredients: text("ingredients"),
    not_a_significant_source_of: optionalText("not_a_significant_source_of"),
    serving_size: text("serving_size"),
    serving_size_unit: text("serving_size_unit"),
    household: text("household_serving_fulltext"),
    category: text("branded_food_category"),
    data_source: text("data_source"),
    package_weight: optionalText("package_weight"),
    modified_on: text("modified_date"),
    available_on: text("available_date"),
    market_country: optionalText("market_country"),
    discontinued_on: optionalText("discontinued_date"),
    preparation_state_code: optionalText("preparation_state_code"),
    trade_channel: { ...optionalText("trade_channel"), typed: channelsOrEmpty, checked: channelsOrEmpty },
    short_description: optionalText("short_description"),
    material_code: optionalText("material_code")
  },
  food_nutrient: {
    fdc_id: fdcId,
    nutrient_id: nutrientId,
    amount: number("amount", "decimal(18, 6)", true),
    derivation_id: derivationId,
    percent_daily_value: number("percent_daily_value", "decimal(9, 2)", false),
    added: rowId
  },
  food_attribute: { fdc_id: fdcId, name: text("name"), value: text("value"), added: rowId }
} as const satisfies Readonly<Record<string, Readonly<Record<string, CsvColumn>>>>

export type LabelMember = keyof typeof labelFileColumns
export const labelMembers = ["food", "branded_food", "food_nutrient", "food_attribute"] as const

const listHeaders = (member: LabelMember, isRequired: boolean) =>
  Object.values<CsvColumn>(labelFileColumns[member]).flatMap((column) =>
    column.isRequired === isRequired ? [column.header] : []
  )

/** `ignoredColumns` are known but not read: empty in branded foods, or stated elsewhere. The raw archive has them. */
const labelMember = (member: LabelMember, ignoredColumns: ReadonlyArray<string>) => ({
  /** Without a needed file the release cannot be read. */
  isRequired: member !== "food_attribute",
  neededColumns: listHeaders(member, true),
  /** Read if present. Older layouts lack them. */
  otherColumns: listHeaders(member, false),
  ignoredColumns
})

const dictionary = (
  neededColumns: ReadonlyArray<string>,
  otherColumns: ReadonlyArray<string>,
  ignoredColumns: ReadonlyArray<string>
) => ({ isRequired: false, neededColumns, otherColumns, ignoredColumns })

export const members = {
  food: labelMember("food", ["market_country", "trade_channel", "microbe_data"]),
  branded_food: labelMember("branded_food", []),
  food_nutrient: labelMember(
    "food_nutrient",
    "data_points standard_error min max median loq footnote min_year_acquired name unit_name".split(" ")
  ),
  food_attribute: labelMember("food_attribute", ["seq_num", "food_attribute_type_id"]),
  nutrient: dictionary(["id", "name", "unit_name"], ["nutrient_nbr"], ["rank"]),
  food_nutrient_derivation: dictionary(["id", "code", "description"], [], ["source_id"])
}

export type CsvMember = keyof typeof members
export const csvMembers = Object.keys(members) as ReadonlyArray<CsvMember>
