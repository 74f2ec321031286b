/**
 * What a client may rely on, taken out of an OpenAPI document: operations with scope, price, parameters, and the fields of
 * their answers, each by its path. Texts and examples are no promises.
 */
import type {
  OpenApiDocument,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiResponse,
  SchemaObject
} from "@larder/schemas/openapi/types.ts"

/** What a value may be. Bounds and forms that are absent do not exist. */
export interface Value {
  readonly types: ReadonlyArray<string>
  readonly values?: ReadonlyArray<unknown>
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
}
export interface Field extends Value {
  /** A record may be without it. */
  readonly optional?: true
}
/** By path: `data[].points[].value`. Where an answer has several shapes, `(1)` and `(2)` tell them apart. */
export type Fields = Readonly<Record<string, Field>>

export interface ParameterPromise extends Value {
  readonly required: boolean
  readonly default?: unknown
}
export interface AnswerPromise {
  readonly headers: ReadonlyArray<string>
  /** Of an error: the types that come with this status. */
  readonly errors?: ReadonlyArray<string>
  /** Those of an error are the same everywhere, and not repeated here. */
  readonly fields?: Fields
}
export interface OperationPromise {
  readonly id: string
  readonly scope: string
  readonly credits: number
  /** By place and name: `query limit`. */
  readonly parameters: Readonly<Record<string, ParameterPromise>>
  readonly answers: Readonly<Record<string, AnswerPromise>>
}
export interface Promises {
  /** Version of the API that gave them. */
  readonly version: string
  /** How a call shows its key. */
  readonly keys: ReadonlyArray<string>
  /** What every error has. */
  readonly error: Fields
  readonly operations: Readonly<Record<string, OperationPromise>>
}

const sorted = (texts: Iterable<string>) => [...new Set(texts)].toSorted()

/** The end of a chain of references. */
const resolved = <A extends object>(document: OpenApiDocument, node: A): A => {
  if (!("$ref" in node)) return node
  const names = String(node.$ref).slice("#/".length).split("/")
  const found = names.reduce<unknown>((inside, name) => Object(inside)[name], document)
  return resolved(document, found as A) // what a reference points to has the kind of what it stands for
}

/** `anyOf` laid flat: each alternative without further ones. */
const alternatives = (document: OpenApiDocument, schema: SchemaObject): ReadonlyArray<SchemaObject> => {
  const { anyOf, ...rest } = resolved(document, schema)
  if (!Array.isArray(anyOf)) return [rest]
  return anyOf.flatMap((alternative: SchemaObject) => alternatives(document, alternative))
}

const typesOf = ({ type }: SchemaObject): ReadonlyArray<string> => (Array.isArray(type) ? type : [String(type)])

const limitNames = ["format", "pattern", "minimum", "maximum"] as const
const whatIs = (given: ReadonlyArray<SchemaObject>): Value => {
  const enums = given.flatMap((schema) => (Array.isArray(schema.enum) ? [schema.enum] : []))
  const limits = given.flatMap((schema) => limitNames.flatMap((name) => (name in schema ? [[name, schema[name]]] : [])))
  return {
    types: sorted(given.flatMap(typesOf)),
    ...(enums.length > 0 && { values: enums.flat() }),
    ...Object.fromEntries(limits)
  }
}

/** Every field below a schema, with the path that leads to it. */
const fieldsOf = (
  document: OpenApiDocument,
  schema: SchemaObject,
  path: string,
  optional: boolean
): ReadonlyArray<readonly [string, Field]> => {
  const all = alternatives(document, schema)
  const objects = all.filter((alternative) => typesOf(alternative).includes("object"))
  const inside = all.flatMap((alternative) => {
    const at = objects.length > 1 ? `${path}(${objects.indexOf(alternative) + 1})` : path
    const { additionalProperties, items, properties, required } = alternative
    const needed = new Set(Array.isArray(required) ? required : [])
    const named = Object.entries(isSchema(properties) ? properties : {}).flatMap(([name, field]) =>
      isSchema(field) ? fieldsOf(document, field, at === "" ? name : `${at}.${name}`, !needed.has(name)) : []
    )
    const listed = isSchema(items) ? fieldsOf(document, items, `${at}[]`, false) : []
    const keyed = isSchema(additionalProperties) ? fieldsOf(document, additionalProperties, `${at}.*`, false) : []
    return [...named, ...listed, ...keyed]
  })
  return path === "" ? inside : [[path, { ...whatIs(all), ...(optional && { optional }) }], ...inside]
}
const isSchema = (node: unknown): node is SchemaObject => typeof node === "object" && node !== null

const parameterOf = (document: OpenApiDocument, { required, schema }: OpenApiParameter): ParameterPromise => ({
  required,
  ...whatIs(alternatives(document, schema)),
  ...("default" in schema && { default: schema.default })
})

const answerOf = (
  document: OpenApiDocument,
  status: string,
  given: OpenApiOperation["responses"][string]
): AnswerPromise => {
  const { content, headers } = resolved<object>(document, given) as OpenApiResponse // references lead to responses
  const { examples = {}, schema } = content["application/json"]
  const types = Object.values(examples).map(({ value }) => Object(value).error?.type)
  return {
    headers: sorted(Object.keys(headers)),
    ...(status === "200"
      ? { fields: Object.fromEntries(fieldsOf(document, schema, "", false)) }
      : { errors: sorted(types) })
  }
}

export const promisesOf = (document: OpenApiDocument): Promises => ({
  version: document.info.version,
  keys: Object.values(document.components.securitySchemes).map(({ scheme, type }) => `${type} ${scheme}`),
  error: Object.fromEntries(fieldsOf(document, document.components.schemas.Error ?? {}, "", false)),
  operations: Object.fromEntries(
    Object.entries(document.paths).map(([path, { get }]) => [
      `GET ${path}`,
      {
        id: get.operationId,
        scope: get["x-scope"],
        credits: get["x-credits"],
        parameters: Object.fromEntries(get.parameters.map((p) => [`${p.in} ${p.name}`, parameterOf(document, p)])),
        answers: Object.fromEntries(
          Object.entries(get.responses).map(([status, response]) => [status, answerOf(document, status, response)])
        )
      }
    ])
  )
})
