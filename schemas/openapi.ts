/**
 * The OpenAPI 3.1 document, derived from the endpoints. Objects stay open in it: a client must not break when a field
 * is added. The 405 and the 404 of an unknown path belong to no operation, so the document's text describes them.
 */
import { ErrorBody } from "./api-errors.ts"
import { dataSets } from "./data-sets.ts"
import { type Endpoint, templateOf } from "./endpoint.ts"
import { endpoints } from "./endpoints.ts"
import { componentSchemas, jsonSchema } from "./json-schema.ts"
import { buildResponses, buildSharedResponses, headers } from "./openapi/responses.ts"
import { idSources, info, securityScheme } from "./openapi/texts.ts"
import type { OpenApiDocument, OpenApiParameter, OpenApiServer } from "./openapi/types.ts"
import { versions } from "./openapi/versions.ts"
import type { Parameter } from "./parameters.ts"

interface OpenApiOptions {
  /** Version of the program that serves the document. The version of the API is the newest in `openapi/versions.ts`. */
  readonly version: string
  /** Address of the API; by default, the host that served the document. */
  readonly servers?: ReadonlyArray<OpenApiServer>
}

export const openApi = (options: OpenApiOptions = { version: "1" }): OpenApiDocument => {
  const { schemas, components } = spellOutTypes(
    componentSchemas([ErrorBody, ...endpoints.map(({ documented, response }) => documented ?? response)])
  )
  const [error = {}, ...responses] = schemas
  return {
    openapi: "3.1.0",
    info: { ...info, "x-program-version": options.version },
    servers: options.servers ?? [{ url: "/" }],
    tags: dataSets.map(({ about, tag }) => ({ name: tag, description: about })),
    security: [{ key: [] }],
    paths: Object.fromEntries(
      endpoints.map((endpoint, i) => [
        templateOf(endpoint.path),
        {
          get: {
            operationId: endpoint.id,
            tags: [endpoint.tag],
            summary: endpoint.summary,
            description: `${endpoint.description}\n\n${describeTerms(endpoint)}`,
            parameters: buildParameters(endpoint),
            responses: buildResponses(endpoint, responses[i] ?? {}, error),
            "x-scope": endpoint.scope,
            "x-credits": endpoint.credits
          }
        }
      ])
    ),
    components: {
      schemas: components,
      responses: buildSharedResponses(error),
      headers: structuredClone(headers),
      securitySchemes: { key: { ...securityScheme } }
    },
    "x-changes": structuredClone(versions)
  }
}

/**
 * States what client generators do not assume. In Go, a number without a format has 32 bits (1.4723 becomes
 * 1.4723000526). An object schema without properties becomes a type without fields, which drops all values.
 */
const spellOutTypes = <A>(schemas: A): A =>
  JSON.parse(JSON.stringify(schemas), (_key, value) => {
    const { additionalProperties, properties, type } = Object(value)
    if (type === "number") return { ...value, format: "double" }
    const isAnything = type === "object" && properties === undefined && additionalProperties === undefined
    return isAnything ? { ...value, additionalProperties: true } : value
  })

const describeTerms = ({ scope, credits }: Endpoint) =>
  `Requires the scope \`${scope}\`. Costs ${credits} credits (${(credits / 1000).toFixed(2)} USD).`

const buildParameters = (endpoint: Endpoint): ReadonlyArray<OpenApiParameter> => [
  ...(endpoint.record === undefined ? [] : [buildPathId(endpoint.record, readExampleId(endpoint))]),
  ...Object.entries(endpoint.parameters).map(([name, parameter]) => buildQueryParameter(name, parameter))
]

const readExampleId = ({ examples, path }: Endpoint): string => {
  const [example] = Object.values(examples)
  return example?.target.split("?")[0]?.split("/")[path.split("/").indexOf(":id")] ?? ""
}

const buildPathId = (record: keyof typeof idSources, example: string): OpenApiParameter => ({
  name: "id",
  in: "path",
  required: true,
  description: `Id of a ${record}, ${idSources[record]}, percent-encoded if necessary. An unknown id is answered with 404, whatever its form. The example is from the bundled samples.`,
  schema: { type: "string", minLength: 1 },
  example
})

const buildQueryParameter = (name: string, parameter: Parameter<unknown>): OpenApiParameter => ({
  name,
  in: "query",
  required: parameter.required,
  description: parameter.description,
  schema: jsonSchema(parameter.schema),
  ...(parameter.example !== undefined && { example: parameter.example })
})
