/**
 * What a client may rely on, extracted from an OpenAPI document: operations with keys, scope, price and parameters, and
 * the headers and fields of their responses, each by its path. Texts and examples promise nothing; any other member
 * that is not compared is an error.
 */
import type { OpenApiDocument } from "@larder/schemas/openapi.ts"
import {
  combineAlternatives,
  dereference,
  listAlternatives,
  listTypes,
  readScalar,
  rejectOtherMembers,
  type SchemaObject,
  sortUnique,
  type Value
} from "./values.ts"

type Operation = OpenApiDocument["paths"][string]["get"]
type Response = OpenApiDocument["components"]["responses"][string]

export interface Field extends Value {
  /** The field may be absent from its record or response. */
  readonly optional?: true
}
/** By path: `data[].points[].value`. `(1)` and `(2)` distinguish the shapes of a response that has several. */
export type Fields = Readonly<Record<string, Field>>

export interface ParameterPromise extends Value {
  readonly required: boolean
  readonly default?: unknown
}
export interface ResponsePromise {
  readonly headers: ReadonlyArray<string>
  /** Media types. */
  readonly content: ReadonlyArray<string>
  /** Error types that this status can have; absent for a success. */
  readonly errors?: ReadonlyArray<string>
  /** Absent for errors, which all have the same fields. */
  readonly fields?: Fields
}
export interface OperationPromise {
  readonly id: string
  readonly scope: string
  readonly credits: number
  /** The ways in which a call can send its key. */
  readonly keys: ReadonlyArray<string>
  /** By location and name: `query limit`. */
  readonly parameters: Readonly<Record<string, ParameterPromise>>
  readonly responses: Readonly<Record<string, ResponsePromise>>
}
export interface Promises {
  /** Version of the API that made them. */
  readonly version: string
  readonly servers: ReadonlyArray<string>
  /** The fields of every error. */
  readonly error: Fields
  /** The values of each header, on every response. */
  readonly headers: Fields
  readonly operations: Readonly<Record<string, OperationPromise>>
}

const isSchema = (node: unknown): node is SchemaObject => typeof node === "object" && node !== null

/** Every field below a schema, with its path. */
const listFields = (
  document: OpenApiDocument,
  schema: SchemaObject,
  path: string,
  optional: boolean
): ReadonlyArray<readonly [string, Field]> => {
  const alternatives = listAlternatives(document, schema, path === "" ? "a response" : path)
  const objects = alternatives.filter((alternative) => listTypes(alternative).includes("object"))
  const nested = alternatives.flatMap((alternative) => {
    const at = objects.length > 1 ? `${path}(${objects.indexOf(alternative) + 1})` : path
    const { additionalProperties, items, properties, required } = alternative
    const requiredNames = new Set(Array.isArray(required) ? required : [])
    const named = Object.entries(isSchema(properties) ? properties : {}).flatMap(([name, field]) =>
      isSchema(field) ? listFields(document, field, at === "" ? name : `${at}.${name}`, !requiredNames.has(name)) : []
    )
    const listed = isSchema(items) ? listFields(document, items, `${at}[]`, false) : []
    const keyed = isSchema(additionalProperties) ? listFields(document, additionalProperties, `${at}.*`, false) : []
    return [...named, ...listed, ...keyed]
  })
  return path === ""
    ? nested
    : [[path, { ...combineAlternatives(alternatives), ...(optional && { optional }) }], ...nested]
}

const readParameter = (document: OpenApiDocument, parameter: Operation["parameters"][number]): ParameterPromise => {
  const { name, required, schema } = parameter
  rejectOtherMembers(["name", "in", "required", "schema"], parameter, `the parameter ${name}`)
  return {
    required,
    ...readScalar(document, schema, `the parameter ${name}`),
    ...("default" in schema && { default: schema.default })
  }
}

const readHeader = (
  document: OpenApiDocument,
  name: string,
  header: { readonly required: boolean; readonly schema: SchemaObject }
): Field => {
  rejectOtherMembers(["required", "schema"], header, `the header ${name}`)
  const value = readScalar(document, header.schema, `the header ${name}`)
  return { ...value, ...(!header.required && { optional: true }) }
}

/** A header has the same values on all responses, so they are promised once. */
const listHeaders = (headers: Response["headers"]): ReadonlyArray<string> =>
  Object.entries(headers).map(([name, { $ref }]) => {
    if ($ref === `#/components/headers/${name}`) return name
    throw new Error(`The header ${name} of a response refers to ${$ref}, not to the component with its name.`)
  })

const readResponse = (
  document: OpenApiDocument,
  status: string,
  stated: Operation["responses"][string]
): ResponsePromise => {
  const response = dereference<object>(document, stated) as Response // references lead to responses
  rejectOtherMembers(["headers", "content"], response, `the response ${status}`)
  const json = response.content["application/json"]
  rejectOtherMembers(["schema"], json, `the response ${status}`)
  const common = {
    headers: sortUnique(listHeaders(response.headers)),
    content: sortUnique(Object.keys(response.content))
  }
  if (status.startsWith("2")) {
    return { ...common, fields: Object.fromEntries(listFields(document, json.schema, "", false)) }
  }
  if (json.schema.$ref !== "#/components/schemas/Error") throw new Error(`The response ${status} is not an Error.`)
  return { ...common, errors: sortUnique(Object.values(json.examples).map(({ value }) => Object(value).error?.type)) }
}

/** Each way to send a key, such as `http bearer`. The format of a key is not promised. */
const listKeySchemes = ({ components, security }: OpenApiDocument): ReadonlyArray<string> =>
  security.map((combined) =>
    Object.keys(combined)
      .map((name) => {
        const { bearerFormat: _, description: __, ...scheme } = Object(components.securitySchemes)[name] ?? {}
        return Object.values(scheme).join(" ")
      })
      .join(" and ")
  )

const operationMembers = ["operationId", "tags", "summary", "parameters", "responses", "x-scope", "x-credits"]

const readOperation = (document: OpenApiDocument, path: string, get: Operation): OperationPromise => {
  rejectOtherMembers(operationMembers, get, `GET ${path}`)
  return {
    id: get.operationId,
    scope: get["x-scope"],
    credits: get["x-credits"],
    keys: listKeySchemes(document),
    parameters: Object.fromEntries(get.parameters.map((p) => [`${p.in} ${p.name}`, readParameter(document, p)])),
    responses: Object.fromEntries(
      Object.entries(get.responses).map(([status, response]) => [status, readResponse(document, status, response)])
    )
  }
}

export const readPromises = (document: OpenApiDocument): Promises => ({
  version: document.info.version,
  servers: document.servers.map(({ url }) => url),
  error: Object.fromEntries(listFields(document, document.components.schemas.Error ?? {}, "", false)),
  headers: Object.fromEntries(
    Object.entries(document.components.headers).map(([name, header]) => [name, readHeader(document, name, header)])
  ),
  operations: Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => {
      rejectOtherMembers(["get"], item, path)
      return [`GET ${path}`, readOperation(document, path, item.get)]
    })
  )
})
