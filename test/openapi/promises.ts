/**
 * What a client may rely on, taken out of an OpenAPI document: operations with keys, scope, price, parameters, and the
 * headers and fields of their answers, each by its path. Texts and examples are no promises; of everything else, what is
 * not compared is an error.
 */
import type {
  OpenApiDocument,
  OpenApiHeader,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiResponse,
  SchemaObject
} from "@larder/schemas"
import { alternatives, hasNothingBut, plainValue, resolved, sorted, typesOf, type Value, whatIs } from "./values.ts"

export interface Field extends Value {
  /** A record or an answer may be without it. */
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
  /** Media types. */
  readonly content: ReadonlyArray<string>
  /** Of an error: the types that come with this status. */
  readonly errors?: ReadonlyArray<string>
  /** Those of an error are the same everywhere, and not repeated here. */
  readonly fields?: Fields
}
export interface OperationPromise {
  readonly id: string
  readonly scope: string
  readonly credits: number
  /** The ways in which a call may show its key. */
  readonly keys: ReadonlyArray<string>
  /** By place and name: `query limit`. */
  readonly parameters: Readonly<Record<string, ParameterPromise>>
  readonly answers: Readonly<Record<string, AnswerPromise>>
}
export interface Promises {
  /** Version of the API that gave them. */
  readonly version: string
  readonly servers: ReadonlyArray<string>
  /** What every error has. */
  readonly error: Fields
  /** What a header is like, on whatever answer. */
  readonly headers: Fields
  readonly operations: Readonly<Record<string, OperationPromise>>
}

/** Every field below a schema, with the path that leads to it. */
const fieldsOf = (
  document: OpenApiDocument,
  schema: SchemaObject,
  path: string,
  optional: boolean
): ReadonlyArray<readonly [string, Field]> => {
  const all = alternatives(document, schema, path === "" ? "an answer" : path)
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

const parameterOf = (document: OpenApiDocument, parameter: OpenApiParameter): ParameterPromise => {
  const { name, required, schema } = parameter
  hasNothingBut(["name", "in", "required", "schema"], parameter, `the parameter ${name}`)
  return {
    required,
    ...plainValue(document, schema, `the parameter ${name}`),
    ...("default" in schema && { default: schema.default })
  }
}

const headerOf = (document: OpenApiDocument, name: string, header: OpenApiHeader): Field => {
  hasNothingBut(["required", "schema"], header, `the header ${name}`)
  const value = plainValue(document, header.schema, `the header ${name}`)
  return { ...value, ...(!header.required && { optional: true }) }
}

/** A name stands for one header everywhere, so what it is like is promised once. */
const headerNames = (headers: OpenApiResponse["headers"]): ReadonlyArray<string> =>
  Object.entries(headers).map(([name, { $ref }]) => {
    if ($ref === `#/components/headers/${name}`) return name
    throw new Error(`The header ${name} of an answer refers to ${$ref}, not to the component of its name.`)
  })

const answerOf = (
  document: OpenApiDocument,
  status: string,
  given: OpenApiOperation["responses"][string]
): AnswerPromise => {
  const response = resolved<object>(document, given) as OpenApiResponse // references lead to responses
  hasNothingBut(["headers", "content"], response, `the answer ${status}`)
  const json = response.content["application/json"]
  hasNothingBut(["schema"], json, `the answer ${status}`)
  const told = { headers: sorted(headerNames(response.headers)), content: sorted(Object.keys(response.content)) }
  if (status.startsWith("2")) {
    return { ...told, fields: Object.fromEntries(fieldsOf(document, json.schema, "", false)) }
  }
  if (json.schema.$ref !== "#/components/schemas/Error") throw new Error(`The answer ${status} is no Error.`)
  return { ...told, errors: sorted(Object.values(json.examples ?? {}).map(({ value }) => Object(value).error?.type)) }
}

/** Each way to show keys, as `http bearer`. What a key looks like is for people. */
const keysOf = ({ components }: OpenApiDocument, security: OpenApiDocument["security"]): ReadonlyArray<string> =>
  security.map((together) =>
    Object.keys(together)
      .map((name) => {
        const { bearerFormat: _, description: __, ...scheme } = components.securitySchemes[name] ?? {}
        return Object.values(scheme).join(" ")
      })
      .join(" and ")
  )

const operationMembers = ["operationId", "tags", "summary", "parameters", "responses", "security"]

const operationOf = (document: OpenApiDocument, path: string, get: OpenApiOperation): OperationPromise => {
  hasNothingBut([...operationMembers, "x-scope", "x-credits"], get, `GET ${path}`)
  return {
    id: get.operationId,
    scope: get["x-scope"],
    credits: get["x-credits"],
    keys: keysOf(document, get.security ?? document.security),
    parameters: Object.fromEntries(get.parameters.map((p) => [`${p.in} ${p.name}`, parameterOf(document, p)])),
    answers: Object.fromEntries(
      Object.entries(get.responses).map(([status, response]) => [status, answerOf(document, status, response)])
    )
  }
}

export const promisesOf = (document: OpenApiDocument): Promises => ({
  version: document.info.version,
  servers: document.servers.map(({ url }) => url),
  error: Object.fromEntries(fieldsOf(document, document.components.schemas.Error ?? {}, "", false)),
  headers: Object.fromEntries(
    Object.entries(document.components.headers).map(([name, header]) => [name, headerOf(document, name, header)])
  ),
  operations: Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => {
      hasNothingBut(["get"], item, path)
      return [`GET ${path}`, operationOf(document, path, item.get)]
    })
  )
})
