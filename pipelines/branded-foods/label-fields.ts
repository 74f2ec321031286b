/**
 * The fields of a label and of its parts: what each is worth, its type, and its names in both forms of a release. A key,
 * and the substance, which is what people eat and how much of it, must be read correctly: a label without its
 * ingredients or its amounts would look harmless. Everything else is optional and never costs a label.
 */

/**
 * `key`: identifies or orders labels. A stated `key` or `substance` that cannot be read rejects its row, and a form
 * without the column cannot be trusted. An `optional` field that cannot be read is null.
 */
type FieldRole = "key" | "substance" | "optional"

/** A `code`, `unit`, `vocabulary` or `quantity` is a text, too, but a placeholder in it means nothing. */
export type FieldType =
  | "text"
  | "code"
  | "unit"
  | "vocabulary"
  | "quantity"
  | "channels"
  | "whole number"
  | "number"
  | "size"
  | "day"
  | "list"

export interface LabelField {
  readonly role: FieldRole
  readonly type: FieldType
  /** `<file>.<column>` of the CSV form. */
  readonly csv?: string
  /** Key of the JSON form; of a part, the path to it. */
  readonly json?: string
  /** An optional field that most labels state in every release: a form in which no label states it causes a warning. */
  readonly isUsual?: true
}

const key = (type: FieldType, names: Pick<LabelField, "csv" | "json">) => ({ role: "key" as const, type, ...names })
const substance = (type: FieldType, names: Pick<LabelField, "csv" | "json">) => ({
  role: "substance" as const,
  type,
  ...names
})
const optional = (type: FieldType, names: Pick<LabelField, "csv" | "json" | "isUsual">) => ({
  role: "optional" as const,
  type,
  ...names
})

/** By the columns of `branded_food.food`, or of the query that makes its rows. */
export const labelFields = {
  fdc_id: key("whole number", { csv: "food.fdc_id", json: "fdcId" }),
  /** Without it, or with an unknown one, the newest version of a product is not known. */
  published_on: key("day", { csv: "food.publication_date", json: "publicationDate" }),
  upc: key("code", { csv: "branded_food.gtin_upc", json: "gtinUpc" }),
  data_source: key("code", { csv: "branded_food.data_source", json: "dataSource" }),

  description: substance("text", { csv: "food.description", json: "description" }),
  ingredients: substance("text", { csv: "branded_food.ingredients", json: "ingredients" }),
  /** Nutrition per serving is calculated from it. */
  serving_size: substance("size", { csv: "branded_food.serving_size", json: "servingSize" }),
  serving_size_unit: substance("unit", { csv: "branded_food.serving_size_unit", json: "servingSizeUnit" }),

  /** Only distinguishes foods of other kinds that are not in branded_food.csv, in releases that have them. */
  data_type: optional("vocabulary", { csv: "food.data_type" }),
  food_category: optional("vocabulary", { csv: "food.food_category_id" }),
  brand_owner: optional("text", { csv: "branded_food.brand_owner", json: "brandOwner", isUsual: true }),
  brand_name: optional("text", { csv: "branded_food.brand_name", json: "brandName" }),
  subbrand_name: optional("text", { csv: "branded_food.subbrand_name", json: "subbrandName" }),
  short_description: optional("text", { csv: "branded_food.short_description", json: "shortDescription" }),
  not_a_significant_source_of: optional("text", { csv: "branded_food.not_a_significant_source_of" }),
  household_serving_text: optional("text", {
    csv: "branded_food.household_serving_fulltext",
    json: "householdServingFullText",
    isUsual: true
  }),
  category: optional("vocabulary", {
    csv: "branded_food.branded_food_category",
    json: "brandedFoodCategory",
    isUsual: true
  }),
  gpc_class_code: optional("whole number", { json: "gpcClassCode" }),
  package_weight: optional("quantity", { csv: "branded_food.package_weight", json: "packageWeight" }),
  /** These days only decide between versions that were published on the same day. */
  modified_on: optional("day", { csv: "branded_food.modified_date", json: "modifiedDate", isUsual: true }),
  available_on: optional("day", { csv: "branded_food.available_date", json: "availableDate", isUsual: true }),
  discontinued_on: optional("day", { csv: "branded_food.discontinued_date", json: "discontinuedDate" }),
  market_country: optional("text", { csv: "branded_food.market_country", json: "marketCountry" }),
  preparation_state_code: optional("code", {
    csv: "branded_food.preparation_state_code",
    json: "preparationStateCode"
  }),
  trade_channels: optional("channels", { csv: "branded_food.trade_channel", json: "tradeChannels" }),
  material_code: optional("code", { csv: "branded_food.material_code", json: "materialCode" }),
  caffeine_statement: optional("text", { json: "caffeineStatement" }),
  footnote: optional("text", { json: "footnote" })
} satisfies Readonly<Record<string, LabelField>>

/** Of the parts: amounts, the label's own amounts, attributes, and earlier versions. */
const partFields = {
  label_of_data: key("whole number", { csv: "branded_food.fdc_id" }),
  label_of_amount: key("whole number", { csv: "food_nutrient.fdc_id" }),
  label_of_attribute: key("whole number", { csv: "food_attribute.fdc_id" }),
  amounts: substance("list", { json: "foodNutrients" }),
  nutrient_id: key("whole number", { csv: "food_nutrient.nutrient_id", json: "foodNutrients.nutrient.id" }),
  amount: substance("number", { csv: "food_nutrient.amount", json: "foodNutrients.amount" }),
  /** An amount in a unit that cannot be converted is null. The CSV form states units in nutrient.csv. */
  nutrient_unit: optional("unit", { json: "foodNutrients.nutrient.unitName" }),
  own_amounts: substance("number", { json: "labelNutrients" }),
  /** Ids of rows only decide between two rows of one nutrient. */
  amount_row: optional("whole number", { csv: "food_nutrient.id", json: "foodNutrients.id" }),
  derivation: optional("whole number", {
    csv: "food_nutrient.derivation_id",
    json: "foodNutrients.foodNutrientDerivation"
  }),
  percent_daily_value: optional("number", { csv: "food_nutrient.percent_daily_value" }),
  /** Remarks on what an update changed. */
  attributes: optional("list", { json: "foodAttributes" }),
  attribute_row: optional("whole number", { csv: "food_attribute.id", json: "foodAttributes.id" }),
  attribute_name: optional("text", { csv: "food_attribute.name" }),
  attribute_value: optional("text", { csv: "food_attribute.value" }),
  earlier_versions: optional("list", { json: "foodUpdateLog" })
} satisfies Readonly<Record<string, LabelField>>

/** The column of a staged label that has the field as a text: channels become a list later. */
export const textColumn = (column: string): string => (column === "trade_channels" ? "trade_channel" : column)

const typesInWords: ReadonlyArray<FieldType> = ["text", "code", "unit", "vocabulary", "quantity"]
const keepsPlaceholders = ({ type }: LabelField) => type === "text"

/** All fields, with the columns that they become; parts by their names here. */
export const fields: ReadonlyArray<readonly [column: string, field: LabelField]> = [
  ...Object.entries<LabelField>(labelFields),
  ...Object.entries<LabelField>(partFields)
]

/** Fields of a label that are texts of any kind. */
export const isInWords = ({ type }: LabelField): boolean => typesInWords.includes(type)

/** Columns in which a placeholder means nothing although they are texts. */
export const codedColumns: ReadonlyArray<string> = Object.entries<LabelField>(labelFields).flatMap(([column, field]) =>
  isInWords(field) && !keepsPlaceholders(field) ? [column] : []
)

const byCsvName = new Map(fields.flatMap(([, field]) => (field.csv === undefined ? [] : [[field.csv, field] as const])))

/** A field by its file and column in the CSV form. Every column that is read has one. */
export const fieldOfCsv = (file: string, column: string): LabelField => {
  const field = byCsvName.get(`${file}.${column}`)
  if (field === undefined) throw new Error(`${file}.${column} has no role`)
  return field
}

export const optionalJsonPaths: ReadonlySet<string> = new Set(
  fields.flatMap(([, { json, role }]) => (role === "optional" && json !== undefined ? [json] : []))
)
