/**
 * What a JSON schema lets a value be, laid flat: types, values and bounds, whatever the schema is put together from. A
 * keyword that nobody compares is an error, so that no promise gets lost unseen.
 */
import type { OpenApiDocument, SchemaObject } from "@larder/schemas"

/** What a value may be. Bounds and forms that are absent do not exist. */
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

export const sorted = (texts: Iterable<string>) => [...new Set(texts)].toSorted()

/** Members that promise nothing. The default of a parameter is a promise, and is kept apart. */
const texts = ["$comment", "default", "deprecated", "description", "example", "examples", "title"]

/** Throws where a part of the document has a member whose change nobody would see. */
export const hasNothingBut = (members: ReadonlyArray<string>, node: object, where: string): void => {
  const others = Object.keys(node).filter((name) => ![...members, ...texts].includes(name))
  if (others.length === 0) return
  throw new Error(`${where} has ${others.join(", ")}, which test/openapi compares nowhere: a change would go unseen.`)
}

/** What a reference points to. */
const referred = (document: OpenApiDocument, reference: unknown): unknown =>
  String(reference)
    .slice("#/".length)
    .split("/")
    .reduce<unknown>((inside, name) => Object(inside)[name], document)

/** The end of a chain of references. */
export const resolved = <A extends object>(document: OpenApiDocument, node: A): A =>
  "$ref" in node ? resolved(document, referred(document, node.$ref) as A) : node // it has the kind of what it stands for

const highest = (bounds: ReadonlyArray<unknown>) => Math.max(...bounds.map(Number))
const lowest = (bounds: ReadonlyArray<unknown>) => Math.min(...bounds.map(Number))
const oneOf = (forms: ReadonlyArray<unknown>) => sorted(forms.map(String)).join("|")

/** Limits, the types that they are about, and what holds for all where several alternatives have them. */
const limits = [
  ["format", ["string", "number"], oneOf],
  ["pattern", ["string"], oneOf],
  ["minimum", ["integer", "number"], lowest],
  ["maximum", ["integer", "number"], highest],
  ["minLength", ["string"], lowest],
  ["maxLength", ["string"], highest],
  ["minItems", ["array"], lowest],
  ["maxItems", ["array"], highest]
] as const

const ofValues = ["type", "enum", ...limits.map(([name]) => name)]
const ofStructure = ["additionalProperties", "items", "properties", "required"]

/** `anyOf` laid flat: each alternative without further ones. */
export const alternatives = (
  document: OpenApiDocument,
  schema: SchemaObject,
  where: string
): ReadonlyArray<SchemaObject> => {
  const { $ref, anyOf } = schema
  if ($ref !== undefined || Array.isArray(anyOf)) {
    hasNothingBut([$ref === undefined ? "anyOf" : "$ref"], schema, where)
    const given = $ref === undefined && Array.isArray(anyOf) ? anyOf : [referred(document, $ref)]
    return given.flatMap((alternative: SchemaObject) => alternatives(document, alternative, where))
  }
  hasNothingBut([...ofValues, ...ofStructure], schema, where)
  if (schema.type === undefined) throw new Error(`${where} has no type: it promises nothing.`)
  return [schema]
}

export const typesOf = ({ type }: SchemaObject): ReadonlyArray<string> => (Array.isArray(type) ? type : [String(type)])

/** A limit holds where every alternative that it could be about has it. Null has no limits. */
export const whatIs = (given: ReadonlyArray<SchemaObject>): Value => {
  const solid = given.filter((schema) => String(typesOf(schema)) !== "null")
  const enums = solid.flatMap((schema) => (Array.isArray(schema.enum) ? [schema.enum] : []))
  const isClosed = solid.length > 0 && enums.length === solid.length
  const held = limits.flatMap(([name, types, ofAll]) => {
    const limited = solid.filter((schema) => types.some((type) => typesOf(schema).includes(type)))
    if (limited.length === 0 || limited.some((schema) => schema[name] === undefined)) return []
    return [[name, ofAll(limited.map((schema) => schema[name]))]]
  })
  return {
    types: sorted(given.flatMap(typesOf)),
    ...(isClosed && { values: [...new Set(enums.flat())] }),
    ...Object.fromEntries(held)
  }
}

/** A value that has no parts: of a parameter or a header. */
export const plainValue = (document: OpenApiDocument, schema: SchemaObject, where: string): Value => {
  const all = alternatives(document, schema, where)
  for (const alternative of all) hasNothingBut(ofValues, alternative, where)
  return whatIs(all)
}
