/** The keys of a food in the JSON release, how DuckDB reads them, and the check of a record against them. */
import { labelColumns, literal } from "@larder/warehouse"

/** `text` is published unchanged, and may be a number; `value` is validated later; other keys of an object are ignored. */
export type JsonShape = "text" | "value" | "number" | readonly [JsonShape] | { readonly [key: string]: JsonShape }

/** The keys of a label's own amounts, in the order of `labelColumns`: `addedSugar` for `label_added_sugar`. */
export const labelKeys = labelColumns.map((column) =>
  column.slice("label_".length).replace(/_./g, (letter) => letter.slice(1).toUpperCase())
)

export const textKeys = {
  description: "description",
  shortDescription: "short_description",
  brandOwner: "brand_owner",
  brandName: "brand_name",
  subbrandName: "subbrand_name",
  brandedFoodCategory: "category",
  gtinUpc: "upc",
  packageWeight: "package_weight",
  servingSizeUnit: "serving_size_unit",
  householdServingFullText: "household_serving_text",
  preparationStateCode: "preparation_state_code",
  marketCountry: "market_country",
  ingredients: "ingredients",
  caffeineStatement: "caffeine_statement",
  footnote: "footnote",
  materialCode: "material_code",
  dataSource: "data_source"
}
const valueKeys = {
  gpcClassCode: "gpc_class_code",
  servingSize: "serving_size",
  publicationDate: "published_on",
  availableDate: "available_on",
  modifiedDate: "modified_on",
  discontinuedDate: "discontinued_on"
}
/** Keys that each become one column. */
export const keyColumns: Readonly<Record<string, string>> = { ...textKeys, ...valueKeys }

const withShape = (keys: object, shape: "text" | "value") =>
  Object.fromEntries(Object.keys(keys).map((key) => [key, shape]))

export const foodShape: { readonly [key: string]: JsonShape } = {
  fdcId: "value",
  ...withShape(textKeys, "text"),
  ...withShape(valueKeys, "value"),
  tradeChannels: ["text"],
  foodNutrients: [
    { id: "number", amount: "value", nutrient: { id: "number" }, foodNutrientDerivation: { code: "value" } }
  ],
  foodAttributes: [{ id: "value", name: "text", value: "text" }],
  foodUpdateLog: [{ fdcId: "value", publicationDate: "value" }],
  labelNutrients: Object.fromEntries(labelKeys.map((key) => [key, { value: "value" }]))
}

/** Known keys that are not read: they are the same for every branded food, or always empty. */
const ignoredKeys = ["foodClass", "dataType", "microbes"]
export const knownKeys: ReadonlySet<string> = new Set(["line", ...Object.keys(foodShape), ...ignoredKeys])

/** DuckDB's limit for a line: twice the splitter's limit for a food. The longest food so far has 60 kB. */
export const maxJsonObjectBytes = 33_554_432

export const isList = (shape: JsonShape): shape is readonly [JsonShape] => Array.isArray(shape)

const duckDbType = (shape: JsonShape): string => {
  if (shape === "text" || shape === "value") return "varchar"
  if (shape === "number") return "double"
  if (isList(shape)) return `${duckDbType(shape[0])}[]`
  return `struct(${Object.entries(shape)
    .map(([key, inner]) => `"${key}" ${duckDbType(inner)}`)
    .join(", ")})`
}

export const jsonRelation = (path: string) => {
  const columns = Object.entries(foodShape).map(([key, shape]) => `${literal(key)}: ${literal(duckDbType(shape))}`)
  return `read_json(${literal(path)}, format = 'newline_delimited', auto_detect = false, hive_partitioning = false,
    maximum_object_size = ${maxJsonObjectBytes}, columns = {'line': 'bigint', ${columns.join(", ")}})`
}

export const readChunkSql = (path: string) => `create or replace temp table chunk as from ${jsonRelation(path)}`

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const canBeNumber = (value: unknown) =>
  typeof value === "string" ? /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) : typeof value !== "object"

const findFirst = <A>(items: Iterable<A>, check: (item: A) => string | undefined) => {
  for (const item of items) {
    const problem = check(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

const findProblem = (path: string, value: unknown, shape: JsonShape): string | undefined => {
  if (value === undefined || value === null || shape === "value") return undefined
  if (shape === "text") return typeof value === "object" ? `${path} is not a string` : undefined
  if (shape === "number") return canBeNumber(value) ? undefined : `${path} is not a number`
  if (isList(shape)) {
    if (!Array.isArray(value)) return `${path} is not a list`
    return findFirst(value.entries(), ([index, item]) => findProblem(`${path}[${index}]`, item, shape[0]))
  }
  if (!isObject(value)) return `${path} is not an object`
  return findObjectProblem(value, shape, `${path}.`)
}

const findObjectProblem = (
  value: Readonly<Record<string, unknown>>,
  shape: { readonly [key: string]: JsonShape },
  prefix: string
) => findFirst(Object.entries(shape), ([key, inner]) => findProblem(`${prefix}${key}`, value[key], inner))

/** The problem with the shape of a food; undefined if there is none. A `value` is validated later. */
export const findShapeProblem = (value: unknown): string | undefined =>
  isObject(value) ? findObjectProblem(value, foodShape, "") : "the record is not an object"
