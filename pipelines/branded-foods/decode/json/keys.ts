/**
 * The keys of a food in the JSON release, how DuckDB reads them (as text, except for the ids of amounts), and the check
 * of a record against them.
 */
import { literal } from "@larder/warehouse"

/**
 * What a key holds: `text` is published as it is (it may be a number, but not an object or list); `value` is validated
 * later; a number; a list; or an object, whose other keys are left out.
 */
export type Shape = "text" | "value" | "number" | readonly [Shape] | { readonly [key: string]: Shape }

const labelKeys = [
  "calories",
  "fat",
  "saturatedFat",
  "transFat",
  "cholesterol",
  "sodium",
  "carbohydrates",
  "fiber",
  "sugars",
  "addedSugar",
  "protein",
  "calcium",
  "iron",
  "potassium",
  "vitaminD"
]

/** The keys of a food that are read. Nested values keep only the parts that are needed. */
export const food = {
  fdcId: "value",
  description: "text",
  shortDescription: "text",
  brandOwner: "text",
  brandName: "text",
  subbrandName: "text",
  brandedFoodCategory: "text",
  gpcClassCode: "value",
  gtinUpc: "text",
  packageWeight: "text",
  servingSize: "value",
  servingSizeUnit: "text",
  householdServingFullText: "text",
  preparationStateCode: "text",
  marketCountry: "text",
  tradeChannels: ["text"],
  ingredients: "text",
  foodNutrients: [
    { id: "number", amount: "value", nutrient: { id: "number" }, foodNutrientDerivation: { code: "value" } }
  ],
  foodAttributes: [{ id: "value", name: "text", value: "text" }],
  foodUpdateLog: [{ fdcId: "value", publicationDate: "value" }],
  labelNutrients: Object.fromEntries(labelKeys.map((key) => [key, { value: "value" }])),
  caffeineStatement: "text",
  footnote: "text",
  materialCode: "text",
  dataSource: "text",
  publicationDate: "value",
  availableDate: "value",
  modifiedDate: "value",
  discontinuedDate: "value"
} as const satisfies Shape

/** Known keys that are not read: they are the same for every branded food, or always empty. */
const leftOut = ["foodClass", "dataType", "microbes"]
export const knownKeys: ReadonlySet<string> = new Set(["line", ...Object.keys(food), ...leftOut])

/** The longest food so far has 60 kB; the cutter rejects foods longer than 16 MB. */
export const maxFoodBytes = 33_554_432

export const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape)

const typeOf = (shape: Shape): string => {
  if (shape === "text" || shape === "value") return "varchar"
  if (shape === "number") return "double"
  if (isList(shape)) return `${typeOf(shape[0])}[]`
  return `struct(${Object.entries(shape)
    .map(([key, inner]) => `"${key}" ${typeOf(inner)}`)
    .join(", ")})`
}

/** The lines of a chunk, as a relation. */
export const relationOf = (path: string) => {
  const columns = Object.entries(food).map(([key, shape]) => `${literal(key)}: ${literal(typeOf(shape))}`)
  return `read_json(${literal(path)}, format = 'newline_delimited', auto_detect = false, hive_partitioning = false,
    maximum_object_size = ${maxFoodBytes}, columns = {'line': 'bigint', ${columns.join(", ")}})`
}

/** Reads a chunk into the temporary table `chunk`. */
export const readChunk = (path: string) => `create or replace temp table chunk as from ${relationOf(path)}`

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isNumber = (value: unknown) =>
  typeof value === "string" ? /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) : typeof value !== "object"

const firstOf = <A>(items: Iterable<A>, problemIn: (item: A) => string | undefined) => {
  for (const item of items) {
    const problem = problemIn(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

const problemAt = (path: string, value: unknown, shape: Shape): string | undefined => {
  if (value === undefined || value === null || shape === "value") return undefined
  if (shape === "text") return typeof value === "object" ? `${path} is not a text` : undefined
  if (shape === "number") return isNumber(value) ? undefined : `${path} is not a number`
  if (isList(shape)) {
    if (!Array.isArray(value)) return `${path} is not a list`
    return firstOf(value.entries(), ([index, item]) => problemAt(`${path}[${index}]`, item, shape[0]))
  }
  if (!isObject(value)) return `${path} is not an object`
  return problemOf(value, shape, `${path}.`)
}

const problemOf = (
  value: Readonly<Record<string, unknown>>,
  shape: { readonly [key: string]: Shape },
  before: string
) => firstOf(Object.entries(shape), ([key, inner]) => problemAt(`${before}${key}`, value[key], inner))

/**
 * The problem with the shape of a food; undefined if there is none. Used for the foods of a chunk that DuckDB refused, or
 * that seems to hold an object where a text should be. A key with another shape than DuckDB is told to expect makes the
 * record invalid. The content of texts and numbers is validated later.
 */
export const shapeProblem = (value: unknown): string | undefined =>
  isObject(value) ? problemOf(value, food, "") : "the record is not an object"
