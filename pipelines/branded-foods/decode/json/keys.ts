/** The keys of a food in the JSON release, how DuckDB reads them, and the check of a record against them. */
import { parseJsonKeepingNumbers } from "@larder/schemas"
import { labelColumns, literal } from "@larder/warehouse"
import { isInWords, type LabelField, labelFields, optionalJsonPaths, textColumn } from "../../label-fields.ts"

/** `text` is published unchanged, and may be a number; `value` is validated later; other keys of an object are ignored. */
export type JsonShape = "text" | "value" | "number" | readonly [JsonShape] | { readonly [key: string]: JsonShape }

/** The keys of a label's own amounts, in the order of `labelColumns`: `addedSugar` for `label_added_sugar`. */
export const labelKeys = labelColumns.map((column) =>
  column.slice("label_".length).replace(/_./g, (letter) => letter.slice(1).toUpperCase())
)

const listKeys = (isWanted: (field: LabelField) => boolean): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries<LabelField>(labelFields).flatMap(([column, field]) =>
      field.json !== undefined && isWanted(field) ? [[field.json, textColumn(column)]] : []
    )
  )
export const textKeys = listKeys(isInWords)
const valueKeys = listKeys((field) => !isInWords(field) && field.json !== "fdcId")
/** Keys that each become one column. */
export const keyColumns: Readonly<Record<string, string>> = { ...textKeys, ...valueKeys }

const withShape = (keys: object, shape: "text" | "value") =>
  Object.fromEntries(Object.keys(keys).map((key) => [key, shape]))

export const foodShape: { readonly [key: string]: JsonShape } = {
  fdcId: "value",
  ...withShape(textKeys, "text"),
  ...withShape(valueKeys, "value"),
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
  typeof value === "string" ? /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) : typeof value === "number"

const describeMismatch = (value: unknown, shape: JsonShape): string | undefined => {
  if (value === undefined || value === null || shape === "value") return undefined
  if (shape === "text") return typeof value === "string" || typeof value === "number" ? undefined : "is not a string"
  if (shape === "number") return canBeNumber(value) ? undefined : "is not a number"
  if (isList(shape)) return Array.isArray(value) ? undefined : "is not a list"
  return isObject(value) ? undefined : "is not an object"
}

/** A part of a record that has another shape than expected, or is a placeholder for it. The record is used without it. */
export interface OddPart {
  /** Its path without positions in lists. */
  readonly field: string
  readonly path: ReadonlyArray<string | number>
  readonly value: unknown
}

interface Findings {
  /** Of a key or of the substance, or of the whole record. */
  readonly problem?: string
  readonly odd: ReadonlyArray<OddPart>
}

const nothingFound: Findings = { odd: [] }

const merge = (findings: ReadonlyArray<Findings>): Findings => {
  const problem = findings.find((found) => found.problem !== undefined)?.problem
  return { ...(problem !== undefined && { problem }), odd: findings.flatMap(({ odd }) => odd) }
}

const formatPath = (path: ReadonlyArray<string | number>) =>
  path.map((step, index) => (typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${step}`)).join("")

const compare = (value: unknown, shape: JsonShape, path: OddPart["path"], isInOptional: boolean): Findings => {
  const field = path.filter((step) => typeof step === "string").join(".")
  const isOptional = isInOptional || optionalJsonPaths.has(field)
  const mismatch = describeMismatch(value, shape)
  if (mismatch !== undefined) {
    return isOptional ? { odd: [{ field, path, value }] } : { problem: `${formatPath(path)} ${mismatch}`, odd: [] }
  }
  if (Array.isArray(value) && isList(shape)) {
    return merge(value.map((item, index) => compare(item, shape[0], [...path, index], isOptional)))
  }
  if (!isObject(value) || typeof shape === "string" || isList(shape)) return nothingFound
  return merge(Object.entries(shape).map(([key, inner]) => compare(value[key], inner, [...path, key], isOptional)))
}

/** Compares a food with the expected shape. A `value` is validated later. */
export const compareWithShape = (food: unknown): Findings =>
  isObject(food) ? compare(food, foodShape, [], false) : { problem: "the record is not an object", odd: [] }

const removeAt = (container: unknown, [step, ...rest]: OddPart["path"]): void => {
  if (Array.isArray(container) && typeof step === "number") {
    if (rest.length === 0) container.splice(step, 1)
    else removeAt(container[step], rest)
  } else if (isObject(container) && typeof step === "string") {
    if (rest.length === 0) Reflect.deleteProperty(container, step)
    else removeAt(container[step], rest)
  }
}

/** The record without these parts, and with every number as it was printed. */
export const removeParts = (text: string, parts: ReadonlyArray<OddPart>): string => {
  const food = parseJsonKeepingNumbers(text)
  for (const { path } of parts.toReversed()) removeAt(food, path) // from the end, so that positions in lists stay valid
  return JSON.stringify(food)
}
