/**
 * The slow check of a food in a chunk that DuckDB refused, or that seems to hold an object where a text should be. A
 * key with another shape than DuckDB is told to expect makes the record invalid. The content of texts and numbers is
 * validated later.
 */
import { food, isList, type Shape } from "./keys.ts"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isNumber = (value: unknown) =>
  typeof value === "string" ? /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) : typeof value !== "object"

const firstOf = <A>(items: Iterable<A>, look: (item: A) => string | undefined) => {
  for (const item of items) {
    const problem = look(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

const problemAt = (path: string, value: unknown, shape: Shape): string | undefined => {
  if (value === undefined || value === null || shape === "value") return undefined
  if (shape === "text") return typeof value === "object" ? `${path} is no text` : undefined
  if (shape === "number") return isNumber(value) ? undefined : `${path} is no number`
  if (isList(shape)) {
    if (!Array.isArray(value)) return `${path} is no list`
    return firstOf(value.entries(), ([index, item]) => problemAt(`${path}[${index}]`, item, shape[0]))
  }
  if (!isObject(value)) return `${path} is no object`
  return problemOf(value, shape, `${path}.`)
}

const problemOf = (
  value: Readonly<Record<string, unknown>>,
  shape: { readonly [key: string]: Shape },
  before: string
) => firstOf(Object.entries(shape), ([key, inner]) => problemAt(`${before}${key}`, value[key], inner))

/** The problem with the shape of a food; undefined if there is none. */
export const shapeProblem = (value: unknown): string | undefined =>
  isObject(value) ? problemOf(value, food, "") : "the record is no object"
