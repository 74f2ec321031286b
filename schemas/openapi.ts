/**
 * The OpenAPI 3.1 document, derived from the endpoints. Objects stay open in it: a client must not break when a field
 * is added. The 405 and the 404 of an unknown path belong to no operation, so the document's text describes them.
 */
import type { JsonSchema } from "effect"
import { dataSets, endpoints } from "./data-sets.ts"
import { type Endpoint, templateOf } from "./endpoint.ts"
import { ErrorBody } from "./error-types.ts"
import { componentSchemas, jsonSchema } from "./json-schema.ts"
import { buildResponses, buildSharedResponses, headers } from "./openapi/responses.ts"
import { idSources, info, securityScheme } from "./openapi/texts.ts"
import { versions } from "./openapi/versions.ts"
import type { Parameter } from "./parameters.ts"

/** `version` is the version of the program. The API has its own: the newest in `openapi/versions.ts`. */
export const openApi = (version = "1") => {
  const { schemas, components } = spellOutTypes(
    componentSchemas([ErrorBody, ...endpoints.map(({ documented, response }) => documented ?? response)])
  )
  const [error = {}, ...responses] = schemas
  return {
    openapi: "3.1.0",
    info: { ...info, "x-program-version": version },
    servers: [{ url: "/" }], // the host that served the document
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

export type OpenApiDocument = ReturnType<typeof openApi>

/**
 * States what client generators do not assume. In Go, a number without a format has 32 bits (1.4723 becomes
 * 1.4723000526). An object schema without properties becomes a type without fields, which drops all values.
 */
const spellOutTypes = <A>(schemas: A): A =>
  JSON.parse(JSON.stringify(schemas), (_key, value) => {
    const { additionalProperties, properties, type } = Object(value)
    if (type === "number") return { ...value, format: "double" }
    const isUnconstrained = type === "object" && properties === undefined && additionalProperties === undefined
    return isUnconstrained ? { ...value, additionalProperties: true } : value
  })

const describeTerms = ({ scope, credits }: Endpoint) =>
  `Requires the scope \`${scope}\`. Costs ${credits} credits (${(credits / 1000).toFixed(2)} USD).`

const buildParameters = (endpoint: Endpoint) => [
  ...(endpoint.record === undefined ? [] : [buildPathId(endpoint.record, readExampleId(endpoint))]),
  ...Object.entries(endpoint.parameters).map(([name, parameter]) =>
    buildParameter("query", name, parameter, jsonSchema(parameter.schema))
  )
]

const readExampleId = ({ examples, path }: Endpoint): string => {
  const [example] = Object.values(examples)
  return example?.target.split("?")[0]?.split("/")[path.split("/").indexOf(":id")] ?? ""
}

const buildPathId = (record: keyof typeof idSources, example: string) => {
  const description = `Id of a ${record}, ${idSources[record]}, percent-encoded if necessary. An unknown id of any format returns 404. The example is from the bundled samples.`
  return buildParameter("path", "id", { required: true, description, example }, { type: "string", minLength: 1 })
}

const buildParameter = (
  location: "path" | "query",
  name: string,
  { description, example, required }: Pick<Parameter<unknown>, "required" | "description" | "example">,
  schema: JsonSchema.JsonSchema
) => ({ name, in: location, required, description, schema, ...(example !== undefined && { example }) })
