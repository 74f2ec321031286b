/**
 * The OpenAPI 3.1 document, derived from the endpoints. Objects are left open in it: a client must not break when a field
 * is added. 405 is not in it, since it answers methods that no operation has; neither is the 404 of an unknown path.
 */
import { ErrorBody } from "./api-errors.ts"
import { type Endpoint, templateOf } from "./endpoint.ts"
import { endpoints } from "./endpoints.ts"
import { componentSchemas, jsonSchema } from "./json-schema.ts"
import { headers, responsesOf, sharedResponses } from "./openapi/responses.ts"
import { idSources, info, key, tags } from "./openapi/texts.ts"
import type { OpenApiDocument, OpenApiParameter, OpenApiServer } from "./openapi/types.ts"
import type { Parameter } from "./parameters.ts"

interface OpenApiOptions {
  /** Version of the program that serves the document. */
  readonly version: string
  /** Where the API is reached; by default, where the document came from. */
  readonly servers?: ReadonlyArray<OpenApiServer>
}

/** The document as plain JSON, a new copy each time. */
export const openApi = (options: OpenApiOptions = { version: "1" }): OpenApiDocument => {
  const { schemas, components } = componentSchemas([ErrorBody, ...endpoints.map((endpoint) => endpoint.response)])
  const [error = {}, ...responses] = schemas
  return {
    openapi: "3.1.0",
    info: { ...info, version: options.version },
    servers: options.servers ?? [{ url: "/" }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    security: [{ key: [] }],
    paths: Object.fromEntries(
      endpoints.map((endpoint, i) => [
        templateOf(endpoint.path),
        {
          get: {
            operationId: endpoint.id,
            tags: [endpoint.tag],
            summary: endpoint.summary,
            description: `${endpoint.description}\n\n${terms(endpoint)}`,
            parameters: parametersOf(endpoint),
            responses: responsesOf(endpoint, responses[i] ?? {}, error),
            "x-scope": endpoint.scope,
            "x-credits": endpoint.credits
          }
        }
      ])
    ),
    components: {
      schemas: components,
      responses: sharedResponses(error),
      headers: structuredClone(headers),
      securitySchemes: { key: { ...key } }
    }
  }
}

const terms = ({ scope, credits }: Endpoint) =>
  `Needs the scope \`${scope}\`. Costs ${credits} credits (${(credits / 1000).toFixed(2)} USD).`

const parametersOf = ({ record, parameters }: Endpoint): ReadonlyArray<OpenApiParameter> => [
  ...(record === undefined ? [] : [pathId(record)]),
  ...Object.entries(parameters).map(([name, parameter]) => queryParameter(name, parameter))
]

const pathId = (record: keyof typeof idSources): OpenApiParameter => ({
  name: "id",
  in: "path",
  required: true,
  description: `Id of a ${record}, ${idSources[record]}.`,
  schema: { type: "string" }
})

const queryParameter = (name: string, parameter: Parameter<unknown>): OpenApiParameter => ({
  name,
  in: "query",
  required: parameter.required,
  description: parameter.description,
  schema: jsonSchema(parameter.schema),
  ...(parameter.example !== undefined && { example: parameter.example })
})
