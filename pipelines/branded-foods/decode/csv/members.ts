/**
 * The files of a CSV release that are read, by base name, and their columns. Releases add, drop and move columns without
 * notice: if a needed column is missing, the file is unreadable; an unknown column is recorded and ignored.
 */

/** How a column is read: with a type, or as a string that is checked. The functions return SQL for a field of the file. */
export interface CsvColumn {
  readonly header: string
  /** Whether a file without the column is unreadable. */
  readonly isRequired: boolean
  readonly type: string
  readonly typed: (raw: string) => string
  readonly checked: (raw: string) => string
  /** The type in the table, if it differs from `type`. */
  readonly stagedType?: string
  /** The type without which the row of the field is unusable. An empty field is accepted unless `isMandatory`. */
  readonly requirement?: { readonly type: string; readonly isMandatory: boolean }
}

const unchanged = (raw: string) => raw
const optionalString = (header: string): CsvColumn => ({
  header,
  isRequired: false,
  type: "varchar",
  typed: unchanged,
  checked: unchanged
})
const string = (header: string): CsvColumn => ({ ...optionalString(header), isRequired: true })

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
  requirement: { type: "whole number", isMandatory: true }
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
  requirement: { type: "number", isMandatory: false }
})

/** Older layouts do not state channels. In newer ones, an empty field means that there are none. */
const channelsOrEmpty = (raw: string) => `coalesce(${raw}, '')`

/** The columns of `release.<file>`, for the files whose rows form labels. */
export const labelFileColumns = {
  food: {
    fdc_id: fdcId,
    data_type: optionalString("data_type"),
    description: string("description"),
    food_category: optionalString("food_category_id"),
    published_on: string("publication_date")
  },
  branded_food: {
    fdc_id: fdcId,
    brand_owner: string("brand_owner"),
    brand_name: optionalString("brand_name"),
    subbrand_name: optionalString("subbrand_name"),
    gtin_upc: string("gtin_upc"),
    ingredients: string("ingredients"),
    not_a_significant_source_of: optionalString("not_a_significant_source_of"),
    serving_size: string("serving_size"),
    serving_size_unit: string("serving_size_unit"),
    household: string("household_serving_fulltext"),
    category: string("branded_food_category"),
    data_source: string("data_source"),
    package_weight: optionalString("package_weight"),
    modified_on: string("modified_date"),
    available_on: string("available_date"),
    market_country: optionalString("market_country"),
    discontinued_on: optionalString("discontinued_date"),
    preparation_state_code: optionalString("preparation_state_code"),
    trade_channel: { ...optionalString("trade_channel"), typed: channelsOrEmpty, checked: channelsOrEmpty },
    short_description: optionalString("short_description"),
    material_code: optionalString("material_code")
  },
  food_nutrient: {
    fdc_id: fdcId,
    nutrient_id: nutrientId,
    amount: number("amount", "decimal(18, 6)", true),
    derivation_id: derivationId,
    percent_daily_value: number("percent_daily_value", "decimal(9, 2)", false),
    added: rowId
  },
  food_attribute: { fdc_id: fdcId, name: string("name"), value: string("value"), added: rowId }
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
