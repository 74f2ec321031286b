/**
 * The files of a CSV release that are read, by base name, and their columns. Releases add, drop and move columns without
 * notice: if the column of a key or a substance is missing, the file is unreadable; an unknown column is recorded and ignored.
 */
import { fieldOfCsv, type LabelField } from "../../label-fields.ts"

/** How a column is read: with a type, or as a string that is checked. The functions return SQL for a field of the file. */
export interface CsvColumn {
  readonly header: string
  readonly type: string
  readonly typed: (raw: string) => string
  readonly checked: (raw: string) => string
  /** The type in the table, if it differs from `type`. */
  readonly stagedType?: string
  /** Whether fields that are not of the type can be found: the column is no string. */
  readonly isChecked?: true
}

const unchanged = (raw: string) => raw
const string = (header: string): CsvColumn => ({ header, type: "varchar", typed: unchanged, checked: unchanged })

/** Doubles are exact for ids. Integers would accept 1.6 as 2. */
const wholeNumber = (header: string, type: string) => ({
  header,
  type: "double",
  typed: (raw: string) => `if(${raw} >= 0 and ${raw} = floor(${raw}), try_cast(${raw} as ${type}), null)`,
  checked: (raw: string) => `whole(${raw}, try_cast(${raw} as ${type}))`,
  isChecked: true as const
})
const fdcId: CsvColumn = wholeNumber("fdc_id", "integer")
const nutrientNumber = wholeNumber("nutrient_id", "integer")
const nutrientId: CsvColumn = {
  ...nutrientNumber,
  typed: (raw) => `nutrient_id_of(${nutrientNumber.typed(raw)})`,
  checked: (raw) => `nutrient_id_of(${nutrientNumber.checked(raw)})`
}

const derivationNumber = wholeNumber("derivation_id", "smallint")
/** If it is stated and not a whole number, typing fails, because only the check counts what optional fields said. */
const derivationId: CsvColumn = {
  ...derivationNumber,
  typed: (raw) =>
    `case when ${raw} is null then null else coalesce(${derivationNumber.typed(raw)}, error('not a whole number')::smallint) end`,
  stagedType: "smallint"
}

/** Distinguishes rows of one food. */
const rowId: CsvColumn = {
  header: "id",
  type: "bigint",
  typed: unchanged,
  checked: (raw) => `try_cast(${raw} as bigint)`,
  isChecked: true
}
const number = (header: string, type: string): CsvColumn => ({
  header,
  type,
  typed: unchanged,
  checked: (raw) => `try_cast(${raw} as ${type})`,
  isChecked: true
})

/** Amounts that are converted to a smaller unit need more decimal places: 0.0000004 g is 0.4 µg. */
export const preciseAmount: CsvColumn = number("amount", "decimal(24, 12)")

/** Numbers of nutrients, such as 208 and 269.3, in place of their ids. `idOf` returns the id of a number, as SQL. */
export const numberOfNutrient = (idOf: (raw: string) => string): CsvColumn => ({
  header: "nutrient_id",
  type: "varchar",
  typed: idOf,
  checked: idOf,
  isChecked: true
})

/** Older layouts do not state channels. In newer ones, an empty field means that there are none. */
const channelsOrEmpty = (raw: string) => `coalesce(${raw}, '')`

/** The columns of `release.<file>`, for the files whose rows form labels. */
export const labelFileColumns = {
  food: {
    fdc_id: fdcId,
    data_type: string("data_type"),
    description: string("description"),
    food_category: string("food_category_id"),
    published_on: string("publication_date")
  },
  branded_food: {
    fdc_id: fdcId,
    brand_owner: string("brand_owner"),
    brand_name: string("brand_name"),
    subbrand_name: string("subbrand_name"),
    gtin_upc: string("gtin_upc"),
    ingredients: string("ingredients"),
    not_a_significant_source_of: string("not_a_significant_source_of"),
    serving_size: string("serving_size"),
    serving_size_unit: string("serving_size_unit"),
    household: string("household_serving_fulltext"),
    category: string("branded_food_category"),
    data_source: string("data_source"),
    package_weight: string("package_weight"),
    modified_on: string("modified_date"),
    available_on: string("available_date"),
    market_country: string("market_country"),
    discontinued_on: string("discontinued_date"),
    preparation_state_code: string("preparation_state_code"),
    trade_channel: { ...string("trade_channel"), typed: channelsOrEmpty, checked: channelsOrEmpty },
    short_description: string("short_description"),
    material_code: string("material_code")
  },
  food_nutrient: {
    fdc_id: fdcId,
    nutrient_id: nutrientId,
    amount: number("amount", "decimal(18, 6)"),
    derivation_id: derivationId,
    percent_daily_value: number("percent_daily_value", "decimal(9, 2)"),
    added: rowId
  },
  food_attribute: { fdc_id: fdcId, name: string("name"), value: string("value"), added: rowId }
} as const satisfies Readonly<Record<string, Readonly<Record<string, CsvColumn>>>>

export type LabelMember = keyof typeof labelFileColumns
export const labelMembers = ["food", "branded_food", "food_nutrient", "food_attribute"] as const

const listHeaders = (member: LabelMember, isWanted: (field: LabelField) => boolean) =>
  Object.values<CsvColumn>(labelFileColumns[member]).flatMap(({ header }) =>
    isWanted(fieldOfCsv(member, header)) ? [header] : []
  )

/** `ignoredColumns` are known but not read: empty in branded foods, or stated elsewhere. The raw archive has them. */
const labelMember = (member: LabelMember, ignoredColumns: ReadonlyArray<string>) => ({
  /** Without a needed file the release cannot be read. */
  isRequired: member !== "food_attribute",
  neededColumns: listHeaders(member, ({ role }) => role !== "optional"),
  /** Read if present. Older layouts lack them. */
  otherColumns: listHeaders(member, ({ role }) => role === "optional"),
  /** Columns of every layout so far. Without one of them, a warning is logged. */
  usualColumns: listHeaders(member, ({ isUsual }) => isUsual === true),
  ignoredColumns
})

const dictionary = (
  neededColumns: ReadonlyArray<string>,
  otherColumns: ReadonlyArray<string>,
  ignoredColumns: ReadonlyArray<string>
) => ({ isRequired: false, neededColumns, otherColumns, usualColumns: [], ignoredColumns })

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
