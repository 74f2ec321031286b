/**
 * The values that a JSON schema allows, flattened: types, values and bounds, however the schema is composed. A keyword
 * that is not compared is an error, so that no promise is missed.
 */
import type { OpenApiDocument } from "@larder/schemas/openapi.ts"
import type { JsonSchema } from "effect"

export type SchemaObject = JsonSchema.JsonSchema

/** The allowed values. An absent bound, format or pattern means that there is none. */
export interface Value {
  readonly types: ReadonlyArray<string>
  readonly values?: ReadonlyArray<unknown>
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

export const sortUnique = (texts: Iterable<string>) => [...new Set(texts)].toSorted()

/** Members that promise nothing. The default of a parameter is a promise, and is read separately. */
const ignoredMembers = ["$comment", "default", "deprecated", "description", "example", "examples", "title"]

/** Throws if a part of the document has a member that is not compared: a change of it would not be noticed. */
export const rejectOtherMembers = (members: ReadonlyArray<string>, node: object, where: string): void => {
  const others = Object.keys(node).filter((name) => ![...members, ...ignoredMembers].includes(name))
  if (others.length === 0) return
  throw new Error(`${where} has ${others.join(", ")}, which test/openapi does not compare: add it there.`)
}

const findReferenced = (document: OpenApiDocument, reference: unknown): unknown =>
  String(reference)
    .slice("#/".length)
    .split("/")
    .reduce<unknown>((node, name) => Object(node)[name], document)

/** Follows references to the end. */
export const dereference = <A extends object>(document: OpenApiDocument, node: A): A =>
  "$ref" in node ? dereference(document, findReferenced(document, node.$ref) as A) : node // of the same kind

const findHighest = (bounds: ReadonlyArray<unknown>) => Math.max(...bounds.map(Number))
const findLowest = (bounds: ReadonlyArray<unknown>) => Math.min(...bounds.map(Number))
const joinTexts = (texts: ReadonlyArray<unknown>) => sortUnique(texts.map(String)).join("|")

/** Each limit with the types that it restricts, and how the limits of several alternatives are combined. */
const limits = [
  ["format", ["string", "number"], joinTexts],
  ["pattern", ["string"], joinTexts],
  ["minimum", ["integer", "number"], findLowest],
  ["maximum", ["integer", "number"], findHighest],
  ["minLength", ["string"], findLowest],
  ["maxLength", ["string"], findHighest],
  ["minItems", ["array"], findLowest],
  ["maxItems", ["array"], findHighest]
] as const

const valueKeywords = ["type", "enum", ...limits.map(([name]) => name)]
const structureKeywords = ["additionalProperties", "items", "properties", "required"]

/** All alternatives of a schema; nested `anyOf` and references are resolved. */
export const listAlternatives = (
  document: OpenApiDocument,
  schema: SchemaObject,
  where: string
): ReadonlyArray<SchemaObject> => {
  const { $ref, anyOf } = schema
  if ($ref !== undefined || Array.isArray(anyOf)) {
    rejectOtherMembers([$ref === undefined ? "anyOf" : "$ref"], schema, where)
    const alternatives = $ref === undefined && Array.isArray(anyOf) ? anyOf : [findReferenced(document, $ref)]
    return alternatives.flatMap((alternative: SchemaObject) => listAlternatives(document, alternative, where))
  }
  rejectOtherMembers([...valueKeywords, ...structureKeywords], schema, where)
  if (schema.type === undefined) throw new Error(`${where} has no type, so it promises nothing.`)
  return [schema]
}

export const listTypes = ({ type }: SchemaObject): ReadonlyArray<string> =>
  Array.isArray(type) ? type : [String(type)]

/** A limit applies if every alternative that it could restrict has it. Null has no limits. */
export const combineAlternatives = (alternatives: ReadonlyArray<SchemaObject>): Value => {
  const notNull = alternatives.filter((schema) => String(listTypes(schema)) !== "null")
  const enums = notNull.flatMap((schema) => (Array.isArray(schema.enum) ? [schema.enum] : []))
  const isClosed = notNull.length > 0 && enums.length === notNull.length
  const common = limits.flatMap(([name, types, combine]) => {
    const limited = notNull.filter((schema) => types.some((type) => listTypes(schema).includes(type)))
    if (limited.length === 0 || limited.some((schema) => schema[name] === undefined)) return []
    return [[name, combine(limited.map((schema) => schema[name]))]]
  })
  return {
    types: sortUnique(alternatives.flatMap(listTypes)),
    ...(isClosed && { values: [...new Set(enums.flat())] }),
    ...Object.fromEntries(common)
  }
}

/** The value of a parameter or header, which has no parts. */
export const readScalar = (document: OpenApiDocument, schema: SchemaObject, where: string): Value => {
  const alternatives = listAlternatives(document, schema, where)
  for (const alternative of alternatives) rejectOtherMembers(valueKeywords, alternative, where)
  return combineAlternatives(alternatives)
}
